"""Kernels of operators between int8 and int16 tensors."""
