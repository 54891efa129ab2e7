"""Requantization of the elements of a stream on cores with NEON."""
