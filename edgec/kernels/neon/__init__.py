"""Kernels for cores with NEON."""
