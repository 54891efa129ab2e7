"""The codes of the bounds of an activation function, as TensorFlow Lite computes them.

Source: TensorFlow Lite, kernels/kernel_util.cc (CalculateActivationRangeQuantized).
"""

from __future__ import annotations

import math

import numpy as np

from edgec.base.tflite_arithmetic import round_half_away
from edgec.ir import ops
from edgec.ir.qparams import QuantParams


def act_codes(clip: ops.Clip, y: QuantParams) -> tuple[int, int]:
    """Least and largest code of an output that is clipped.

    Args:
        clip: real bounds, infinite where there is none.
        y: quantization of the output, one scale for all of it, int8 or int16.
    """
    return act_code(clip.low, y), act_code(clip.high, y)


def act_code(real: float, y: QuantParams) -> int:
    """The nearest code of a bound, halves away from zero, saturated; float32 arithmetic."""
    limits = np.iinfo(y.dtype.numpy)
    if math.isinf(real):
        return int(limits.max if real > 0 else limits.min)
    steps = round_half_away(float(np.float32(real) / np.float32(y.tensor_scale)))
    return int(np.clip(y.tensor_zero_point + steps, limits.min, limits.max))
