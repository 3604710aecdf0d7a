"""Cell discard strategies under TCP over UBR, on a LAN and on an asymmetric access network (Rosolen, Bonaventure, Leduc, 1998)."""
