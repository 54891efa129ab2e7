"""Convolutions and matrix products on cores with DSP: four rows by two filters."""
