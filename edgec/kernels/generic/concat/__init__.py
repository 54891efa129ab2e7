"""Concatenation of tensors in plain C."""
