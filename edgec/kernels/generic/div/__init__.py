"""Quotient of two int8 tensors in plain C."""
