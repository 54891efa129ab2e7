"""Scales by observers: every tensor is int8 with one scale, from its range alone.

Owns: observers and ranges (`observers`, `calibrate`, `ranges`), scales of channels (`balance`),
bias correction (`bias_correct`), and the whole of it (`annotation`).  Convolutional networks are
quantized in this way, and whatever a model pins to codes of its own.
"""
