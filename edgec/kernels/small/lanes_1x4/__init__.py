"""Fully connected layers on Cortex-M cores without DSP: one row by four filters."""
