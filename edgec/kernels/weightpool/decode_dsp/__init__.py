"""Layers with pooled weights on cores with the DSP extension, expanded a few filters at a time."""
