"""Padding of leading axes in plain C."""
