"""Sum of two tensors of a transformer's stream in plain C."""
