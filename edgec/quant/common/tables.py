"""Look-up tables: functions of one variable over the 256 codes of an int8 tensor."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.exact_functions import exp
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, ceil_log2, round_half_up, saturate
from edgec.floatrun.tabled import unary_function
from edgec.ir import ops
from edgec.ir.qparams import QuantParams

SOFTMAX_BITS = 23
"""Most fraction bits of a softmax table entry: a float32's worth."""
SOFTMAX_SUM_BITS = 30
"""The sum of a row's entries stays at or below 2^30."""


def codes_real(quant: QuantParams) -> Array:
    """Real values of the codes -128..127; float64 [256]."""
    codes = np.arange(INT8_MIN, INT8_MAX + 1, dtype=np.float64)
    return np.asarray((codes - quant.tensor_zero_point) * quant.tensor_scale)


def lut(attrs: ops.Unary | ops.Clip, x: QuantParams, y: QuantParams) -> Array:
    """Table of `QLut`: ``table[q + 128]`` is the code of f(real value of q); int8 [256]."""
    with np.errstate(over="ignore", divide="ignore"):  # saturates below
        steps = unary_function(attrs)(codes_real(x)) / y.tensor_scale
    codes = round_half_up(np.clip(steps, -(2.0**31), 2.0**31)) + y.tensor_zero_point
    return saturate(codes).astype(np.int8)


def softmax_bits(row: int) -> int:
    """Fraction bits k of a softmax table for rows of `row` elements: row * 2^k <= 2^30."""
    return min(SOFTMAX_BITS, SOFTMAX_SUM_BITS - ceil_log2(row))


def softmax_table(scale: float, row: int) -> Array:
    """``table[d] = round(2**k * exp(-scale * d))``; int32 [256]."""
    distance = np.arange(256, dtype=np.float64)
    entries: Array = round_half_up(2.0 ** softmax_bits(row) * exp(-scale * distance))
    return entries.astype(np.int32)
