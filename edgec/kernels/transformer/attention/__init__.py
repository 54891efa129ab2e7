"""Softmax attention in plain C, row by row of a head."""
