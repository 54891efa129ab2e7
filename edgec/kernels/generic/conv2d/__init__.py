"""Convolution in plain C, for every core and every shape."""
