"""Kinds of notes on what a file says otherwise than TensorFlow Lite Micro takes it."""

ZERO_POINTS = "weights around another code than 0"
"""The note of files whose weights TensorFlow Lite Micro reads in another way."""
NARROW_BIASES = "biases of 32 bits beside 16-bit activations"
"""The note of files whose rounding TensorFlow Lite Micro does not share."""
BIAS_SCALES = "biases of a scale that TensorFlow Lite Micro refuses"
"""The note of int8 files that TensorFlow Lite Micro does not run."""
