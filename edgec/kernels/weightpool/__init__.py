"""Layers whose weights are vectors of a pool: by responses, bit by bit, or expanded."""
