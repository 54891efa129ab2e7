"""Convolution of int8 or int16 activations in plain C."""
