"""Parametric rectifier in plain C."""
