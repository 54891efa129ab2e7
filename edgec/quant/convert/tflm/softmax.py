"""Exponentials of TensorFlow Lite Micro's softmax of int8."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT32_MAX
from edgec.base.tflite_arithmetic import exp_of_negative, high_product, quantized_factor

_EXPONENT_BITS = 5
"""Exponents are in Q5.26."""


def scaled_step(scale: float) -> float:
    """A step of x as an exponent, as far as it can be told from larger ones."""
    return min(scale * 2.0 ** (31 - _EXPONENT_BITS), float(INT32_MAX))


def exponentials31(scale: float) -> Array:
    """``exp(-scale * d)`` in Q0.31 for d = 0..255, 0 where it is far below a step of the output.

    Source: TensorFlow Lite, kernels/internal/quantization_util.cc (PreprocessSoftmaxScaling,
    CalculateInputRadius).
    """
    multiplier, left = quantized_factor(scaled_step(scale))
    farthest = int((2**_EXPONENT_BITS - 1) * 2.0 ** (31 - _EXPONENT_BITS - left))
    distance = np.arange(256, dtype=np.int64)
    near = distance <= farthest
    exponent = high_product(np.where(near, -distance, 0) << left, multiplier)
    found = np.where(near, exp_of_negative(exponent, _EXPONENT_BITS), 0)
    return found.astype(np.int32)
