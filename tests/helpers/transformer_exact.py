"""Integer operators of transformers beside float64: the ideal result, and the one of the oracle."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import qops
from edgec.ir.qops.operands import Operand
from edgec.quant.common.numbers import (
    RealNorm,
    attention_bits,
    head_numbers,
    norm_numbers,
)


def norm_error(real: RealNorm, x: Array) -> Array:
    """Distance of `QNorm` from the ideal output in steps; x int16 [R, C], result [R, C]."""
    found = norm_numbers(real, "norm")
    operands = [Operand(array) for array in (x, found.gamma, found.beta)]
    y = qops.computed(found.attrs, operands)
    rows = x.astype(np.float64) * real.x_scale
    centred = rows - rows.mean(axis=-1, keepdims=True) if real.centred else rows
    variance = (centred**2).mean(axis=-1, keepdims=True)
    ideal = centred / np.sqrt(variance + real.epsilon) * real.gamma + real.beta
    codes = ideal / real.y_scale + real.y_zero
    return np.asarray(np.abs(np.clip(codes, found.attrs.low, found.attrs.high) - y))


def attention_error(q: Array, k: Array, v: Array, kappa: float, ratio: float) -> Array:
    """Distance of one head of `QAttention` from the softmax of the same logits, in steps.

    Args:
        q: int8 [N, D].
        k: int8 [M, D].
        v: int8 [M, E].
        kappa: octaves between neighbouring logits; rounded to what the operator can say.
        ratio: scale of v over scale of the output.
    """
    bits, trimmed = attention_bits(len(k), "head")
    numbers = head_numbers(kappa, ratio, q.shape[1], bits, "head")
    attrs = qops.QAttention(1, q.shape[1], v.shape[1], 0, 0, 0, bits, trimmed=trimmed)
    operands = [Operand(array[None]) for array in (q, k, v)]
    y = qops.computed(attrs, [*operands, Operand(np.array([numbers], np.int32))])[0]
    logits = q.astype(np.float64) @ k.T.astype(np.float64) * (numbers[0] / 2.0**26) * math.log(2)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    ideal = weights / weights.sum(axis=-1, keepdims=True) @ v.astype(np.float64) * ratio
    return np.asarray(np.abs(np.clip(ideal, -127, 127) - y))
