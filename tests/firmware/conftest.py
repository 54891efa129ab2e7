"""Fixtures of the tests of firmware."""

from shared_quantization import shared_networks

__all__ = ["shared_networks"]
