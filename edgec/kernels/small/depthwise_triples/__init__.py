"""Depthwise convolutions on Cortex-M cores without DSP: three rows in two words."""
