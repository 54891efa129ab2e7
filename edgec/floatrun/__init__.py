"""Float execution: of a user's model, and of graphs on calibration data.

Imports `base`, `ir` and `exporters`.
"""
