"""Mean or sum over axes of a transformer's tensors in plain C."""
