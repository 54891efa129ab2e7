"""Parametric rectifier whose slopes are codes, in plain C."""
