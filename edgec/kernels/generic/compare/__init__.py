"""Comparison of two tensors in plain C."""
