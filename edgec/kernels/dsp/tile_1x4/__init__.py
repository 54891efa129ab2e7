"""Fully connected layers on cores with DSP: one row by four filters."""
