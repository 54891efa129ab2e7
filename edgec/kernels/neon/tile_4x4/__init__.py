"""Convolutions and matrix products on cores with NEON: four pixels by four filters."""
