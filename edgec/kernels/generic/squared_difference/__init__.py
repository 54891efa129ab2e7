"""Squares of the differences of two int8 tensors in plain C."""
