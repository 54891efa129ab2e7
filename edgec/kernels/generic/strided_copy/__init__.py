"""Transposes and slices: copies of runs of bytes, in plain C."""
