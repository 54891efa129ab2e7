"""Convolutions and matrix products on Cortex-M cores without the DSP extension."""
