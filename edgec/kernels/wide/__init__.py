"""Kernels of networks with 16-bit activations, in plain C."""
