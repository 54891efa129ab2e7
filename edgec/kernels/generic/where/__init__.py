"""Choice between two tensors in plain C."""
