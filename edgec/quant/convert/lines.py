"""Functions of int16 codes: tables with straight lines between their entries."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN, round_half_up, saturate
from edgec.floatrun.codes import unary_function
from edgec.ir import ops, qops
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.codes import Coded, Output

_FINE_INT8 = 7
"""More bits of the entries of a table for int8: |q - zero point| <= 255 is below 2^15 with them."""


_MOST_NEAR = 8
"""Most `qops.Line.near`: from there on codes are further apart than entries."""


def line(attrs: ops.Unary, x: Coded, y: Output) -> tuple[qops.Line, Array]:
    """A function of an int16 tensor, and its table; int16 [513]."""
    fine = 0 if y.dtype is DType.INT16 else _FINE_INT8
    near = _near(attrs, x.scale, y.scale * 2.0**-fine)
    rule = qops.Line(fine, y.zero_point, y.low, y.high, y.dtype, near)
    return rule, line_entries(attrs, math.ldexp(x.scale, -near), y.quant, fine)


def _near(attrs: ops.Unary, scale: float, step: float) -> int:
    """Bits by which entries are nearer to each other around 0.

    Args:
        attrs: the function.
        scale: of its int16 input.
        step: what an entry is rounded to; beyond the entries the function changes by half at most.
    """
    codes = np.arange(qops.Line.COUNT // 2 + 1) * 2.0**qops.Line.STEP_BITS
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ends = [unary_function(attrs)(sign * codes * scale) for sign in (-1.0, 1.0)]
        for near in range(_MOST_NEAR, 0, -1):
            edge = len(codes) - 1 >> near
            if all(np.abs(end[edge:] - end[edge]).max() <= step / 2.0 for end in ends):
                return near
    return 0


def line_entries(attrs: ops.Unary, scale: float, y: QuantParams, fine: int) -> Array:
    """Table of `qops.Line`: the function at every 128th code; int16 [513].

    The last entry is that of the code 32768, which only the line to it needs.
    """
    codes = np.arange(qops.Line.COUNT, dtype=np.float64) * 2.0**qops.Line.STEP_BITS
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        real = unary_function(attrs)((codes - 2.0**15) * scale)
        steps = np.nan_to_num(real, nan=0.0) * (2.0**fine / y.tensor_scale)
    whole = round_half_up(np.clip(steps, -(2.0**31), 2.0**31))
    return saturate(whole, INT16_MIN, INT16_MAX).astype(np.int16)
