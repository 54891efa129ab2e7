"""Convolutions on cores with DSP: a line of output pixels at a time."""
