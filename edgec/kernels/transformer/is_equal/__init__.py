"""Comparison of integers with a number, in plain C."""
