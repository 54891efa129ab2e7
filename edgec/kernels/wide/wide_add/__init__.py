"""Sum or difference of two 16-bit tensors in plain C."""
