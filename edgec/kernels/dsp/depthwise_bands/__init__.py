"""Depthwise convolutions of 3x3 windows over images of many columns on cores with DSP."""
