"""Logistic function and tanh of 16-bit elements in plain C."""
