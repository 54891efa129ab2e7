"""The sections of `--help`, in the order in which they are shown."""

from __future__ import annotations

INPUT = "Input"
QUANTIZATION = "Quantization"
TRANSFORMERS = "Transformers"
POOLS = "Weight pools"
OUTPUT = "Output"
PANELS = (INPUT, QUANTIZATION, TRANSFORMERS, POOLS, OUTPUT)
