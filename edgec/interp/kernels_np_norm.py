"""Oracle kernel of `qops_transformer.QNorm`, row by row in vectors; every step as it is defined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import saturate
from edgec.interp.operands import Operand, rshr32, within32
from edgec.ir import qops_transformer as qt

_VALUE_BITS = 15
_LONGEST_SHIFT = 30


@dataclass(frozen=True, slots=True, eq=False)
class RowNumbers:
    """What a row is divided by, in the names of `qt.QNorm`; each int64 [..., 1].

    Attributes:
        q: shift that makes v of w.
        reciprocal: R.
        s: shift that makes u of v * R.
        half: the addend before that shift.
    """

    q: Array
    reciprocal: Array
    s: Array
    half: Array


def norm(attrs: qt.QNorm, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qt.QNorm`: x int16 [..., C], or int8 with shifts; int8 or int16, same shape."""
    x = inputs[0].array.astype(np.int64)
    w = centred(attrs, x << inputs[3].array.astype(np.int64) if attrs.shifted else x)
    row = row_numbers(attrs, w)
    product = within32(within32((w >> row.q) * row.reciprocal) + row.half)
    u = product >> row.s
    gamma, beta = (operand.array.astype(np.int64) for operand in inputs[1:3])
    y = within32(within32(u * gamma) + beta) >> attrs.shift
    return saturate(y, attrs.low, attrs.high).astype(attrs.dtype.numpy)


def centred(attrs: qt.QNorm, x: Array) -> Array:
    """The w of `qt.QNorm`: int64, the shape of x."""
    if not attrs.centred:
        return x
    total = within32(x.sum(axis=-1, keepdims=True))
    return within32(within32(x.shape[-1] * x) - total)


def row_numbers(attrs: qt.QNorm, w: Array) -> RowNumbers:
    """The numbers of each row of w int64 [..., C]."""
    magnitude = (w ^ (w >> 63)).max(axis=-1, keepdims=True)
    excess = bit_length(magnitude) - _VALUE_BITS
    q = np.maximum(excess, 0)
    p = np.maximum(excess + attrs.square_shift, attrs.least_shift)
    squares = rshr32(w, p) ** 2
    total = within32(within32(squares).sum(axis=-1, keepdims=True))
    away = 2 * (p - attrs.least_shift)
    epsilon = rshr32(np.full_like(p, attrs.epsilon), np.minimum(away, _LONGEST_SHIFT))
    total = np.maximum(within32(total + np.where(away > _LONGEST_SHIFT, 0, epsilon)), 1)
    j = (31 - bit_length(total)) // 2
    root = nearest_root(within32(total << (2 * j)))
    reciprocal = (2**30 + root // 2) // root
    s = _VALUE_BITS - j + p - q
    half = np.where(s > 0, np.int64(1) << np.maximum(s - 1, 0), 0)
    return RowNumbers(q, reciprocal, s, half + np.where(q > 0, reciprocal >> 1, 0))


def bit_length(values: Array) -> Array:
    """Number of bits of int64 values in [0, 2^53); 0 for 0."""
    return np.asarray(np.frexp(values.astype(np.float64))[1].astype(np.int64))


def nearest_root(values: Array) -> Array:
    """The integer nearest to the square root of int64 values in [0, 2^31)."""
    # float64 is exact enough: (n + 1/2)^2 is never a whole number.
    return np.asarray(np.floor(np.sqrt(values.astype(np.float64)) + 0.5).astype(np.int64))
