"""Softmax attention on cores with NEON, four queries at a time."""
