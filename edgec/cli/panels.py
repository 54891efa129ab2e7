"""The sections of `--help`, in the order in which they are shown."""

from __future__ import annotations

INPUT = "Input"
QUANTIZATION = "Quantization"
TRAINING = "Training"
TRANSFORMERS = "Transformers"
POOLS = "Weight pools"
OUTPUT = "Output"
PANELS = (INPUT, QUANTIZATION, TRAINING, TRANSFORMERS, POOLS, OUTPUT)
