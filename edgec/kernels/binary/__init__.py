"""Layers whose inputs and weights are signs, and how codes become signs."""
