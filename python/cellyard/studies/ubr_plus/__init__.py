"""TCP over UBR+: intelligent drop policies (Goyal, Jain, Kalyanaraman, Fahmy, Kim, 1996)."""
