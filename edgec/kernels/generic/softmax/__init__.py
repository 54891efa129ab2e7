"""Softmax of int8 in plain C."""
