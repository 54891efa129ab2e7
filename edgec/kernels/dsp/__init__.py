"""Kernels for cores with the DSP extension."""
