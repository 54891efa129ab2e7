"""Depthwise convolutions of 3x3 windows on cores with DSP: planes of int16."""
