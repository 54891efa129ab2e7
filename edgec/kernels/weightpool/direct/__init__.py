"""Layers with pooled weights, looked up bit by bit: the form of Li & Gupta (MLSys 2022)."""
