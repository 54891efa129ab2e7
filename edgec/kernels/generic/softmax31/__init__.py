"""Softmax of int8 by exponentials of 31 bits in plain C."""
