"""Layers with pooled weights, expanded in plain C a few filters at a time."""
