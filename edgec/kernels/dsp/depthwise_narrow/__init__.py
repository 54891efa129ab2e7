"""Depthwise convolutions of 3x3 windows over images of few columns on cores with DSP."""
