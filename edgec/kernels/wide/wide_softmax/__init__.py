"""Softmax of 16-bit rows in plain C."""
