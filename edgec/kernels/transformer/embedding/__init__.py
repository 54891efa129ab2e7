"""Rows of a table by index, in plain C."""
