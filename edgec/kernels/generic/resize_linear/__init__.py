"""Resizing by linear interpolation in plain C."""
