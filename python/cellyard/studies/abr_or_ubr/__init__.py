"""TCP over ABR and over UBR: which service for TCP/IP traffic on ATM (Jain, 1996)."""
