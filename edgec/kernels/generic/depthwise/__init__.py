"""Depthwise convolution in plain C."""
