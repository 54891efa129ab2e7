"""Softmax in a transformer's arithmetic in plain C."""
