"""Product of two int8 tensors of a transformer in plain C."""
