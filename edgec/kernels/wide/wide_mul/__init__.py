"""Product of two 16-bit tensors in plain C."""
