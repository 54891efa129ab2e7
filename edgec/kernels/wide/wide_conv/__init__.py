"""Convolution of 16-bit activations in plain C."""
