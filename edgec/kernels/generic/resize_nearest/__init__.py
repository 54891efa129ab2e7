"""Resizing by nearest pixel in plain C."""
