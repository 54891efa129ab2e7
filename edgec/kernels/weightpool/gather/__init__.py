"""Layers with pooled weights by responses."""
