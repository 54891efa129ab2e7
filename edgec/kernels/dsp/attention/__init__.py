"""Softmax attention on cores with the DSP extension, four queries at a time."""
