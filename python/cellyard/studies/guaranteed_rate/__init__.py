"""TCP over UBR+ with VBR background and a guaranteed rate (Goyal, Jain, Kalyanaraman, Fahmy and others, 1997)."""
