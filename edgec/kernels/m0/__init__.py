"""Kernels for cores without the DSP extension: a multiplication takes several products at once."""
