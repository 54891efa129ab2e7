"""Cycles, bytes and noise of all choices of a network on a board, and what builds teach of them."""
