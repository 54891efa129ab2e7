"""Transposed convolution in plain C."""
