"""Convolutions and matrix products on cores with NEON: four rows by four filters."""
