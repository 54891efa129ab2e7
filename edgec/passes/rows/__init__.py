"""Chains of layers in turns: when each layer fires, and the graph that memory and kernels see."""
