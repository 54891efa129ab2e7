"""Convolutions and matrix products on cores with the DSP extension."""
