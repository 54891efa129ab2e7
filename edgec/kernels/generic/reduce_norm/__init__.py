"""Sums of magnitudes or squares over axes, and roots of the latter, in plain C."""
