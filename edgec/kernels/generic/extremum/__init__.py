"""The larger or the smaller of two int8 tensors in plain C."""
