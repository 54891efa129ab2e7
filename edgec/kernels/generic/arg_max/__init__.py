"""Index of the maximum along an axis in plain C."""
