"""Layers whose weights take fewer than eight bits in flash."""
