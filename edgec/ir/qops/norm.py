"""Normalization over the last axis."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import saturate
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import bit_length, half_step, rshr32, within32
from edgec.ir.qops.base import LIMITS, IntegerOperator, need_clamp, need_dtype, need_shift
from edgec.ir.qops.forms import LONGEST_SHIFT
from edgec.ir.qops.operands import CODES, Operand, largest_code, numbers, parameter, table, tensor
from edgec.ir.qops.residual import largest_shift, need_shifts
from edgec.ir.shapes import need, norm_shape

UNIT_BOUND = 33280
"""Bound of |u| of `QNorm`."""
_LARGEST_RECIPROCAL = 46342
_VALUE_BITS = 15


@dataclass(frozen=True, slots=True, eq=False)
class RowNumbers:
    """Divisor of a row as reciprocal and shifts, in the names of `QNorm`; each int64 [..., 1].

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


@dataclass(frozen=True, slots=True)
class QNorm(IntegerOperator):
    """LayerNormalization (`centred`) or RMSNormalization over the last axis.

    x int16 [..., C], zero point 0; gamma int16 const [C], beta int32 const [C]; y int8 or int16
    [..., C].  2 <= C <= 32767.  Or x is int8 of the stream and k int8 const [C] a fourth
    input: ``x[c] << k[c]`` stands for x[c] below.  A row of x at a time:

        total = sum_c x[c]
        w[c]  = C * x[c] - total                        (RMS: w[c] = x[c])
        m     = bitlen(max_c (w[c] ^ (w[c] >> 31)))     so that -2^m <= w[c] < 2^m
        q     = max(m - 15, 0)
        p     = max(m - 15 + square_shift, least_shift)
        S     = sum_c rshr(w[c], p)**2                  <= 2^30
        e     = rshr(epsilon, 2 * (p - least_shift))    (0 where that shift is above 30)
        T     = max(S + e, 1)                           < 2^31
        j     = the greatest j >= 0 with T * 4**j < 2^31
        r     = the integer nearest to sqrt(T * 4**j)   23170 <= r <= 46341
        R     = (2^30 + r // 2) // r                    23170 <= R <= 46342
        s     = 15 - j + p - q                          0 <= s <= 30
        half  = (2**(s-1) if s > 0 else 0) + (R >> 1 if q > 0 else 0)
        v[c]  = w[c] >> q                               -32768 <= v <= 32767
        u[c]  = (v[c] * R + half) >> s                  |u| <= 33280: u / 2^15 = w / sqrt(sum w**2)
        y[c]  = min(max((u[c] * gamma[c] + beta[c]) >> shift, low), high)

    ``square_shift = ceil(log2(C) / 2)``.  sqrt(C) is in gamma; beta holds the zero point and the
    half of its rounding.  ``C * x - total`` is the exact centred value times C, whatever C.  (v is
    a floor; the R >> 1 puts it back to the middle.)

    Bounds: |w| <= 65535 * C; |v * R| + half < 2^31; |u * gamma| + |beta| < 2^31.

    It ends in a form of its own, no `Requantization`: there is no accumulator that grows with the
    input, since u is at most 1.02 in 2^-15 whatever the row is.  Its product with 15 bits of gamma
    is exact in 32 bits, so 31 bits of gamma would only lengthen the product; u itself has no more.

    Attributes:
        centred: subtract the mean.
        epsilon: the epsilon of the variance in units of S at p = least_shift; 0..2^29.
        least_shift: 0..15.
        square_shift: see above.
        shift: 1..30.
        low, high: bounds of y, within `dtype`.
        dtype: INT8 or INT16.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*CODES))
        gamma: T = field(metadata=parameter(DType.INT16))
        beta: T = field(metadata=parameter(DType.INT32))
        k: T | None = field(default=None, metadata=table(DType.INT8))

    centred: bool
    epsilon: int
    least_shift: int
    square_shift: int
    shift: int
    low: int
    high: int
    dtype: DType = DType.INT8

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.k in (None, inputs.x[-1:]), "a shift a channel is needed")
        return norm_shape(inputs.x, inputs.gamma, inputs.beta)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide
        w = self.centred_rows(x if inputs.k is None else x << inputs.k.wide)
        row = self.row_numbers(w)
        product = within32(within32((w >> row.q) * row.reciprocal) + row.half)
        u = product >> row.s
        y = within32(within32(u * inputs.gamma.wide) + inputs.beta.wide) >> self.shift
        return saturate(y, self.low, self.high).astype(self.dtype.numpy)

    def centred_rows(self, x: Array) -> Array:
        """w: int64, the shape of x int64 [..., C]."""
        if not self.centred:
            return x
        total = within32(x.sum(axis=-1, keepdims=True))
        return within32(within32(x.shape[-1] * x) - total)

    def row_numbers(self, w: Array) -> RowNumbers:
        """The numbers of each row of w int64 [..., C]."""
        magnitude = (w ^ (w >> 63)).max(axis=-1, keepdims=True)
        excess = bit_length(magnitude) - _VALUE_BITS
        q = np.maximum(excess, 0)
        p = np.maximum(excess + self.square_shift, self.least_shift)
        squares = rshr32(w, p) ** 2
        total = within32(within32(squares).sum(axis=-1, keepdims=True))
        away = 2 * (p - self.least_shift)
        epsilon = rshr32(np.full_like(p, self.epsilon), np.minimum(away, LONGEST_SHIFT))
        total = np.maximum(within32(total + np.where(away > LONGEST_SHIFT, 0, epsilon)), 1)
        j = (31 - bit_length(total)) // 2
        root = nearest_root(within32(total << (2 * j)))
        reciprocal = (2**30 + root // 2) // root
        s = _VALUE_BITS - j + p - q
        half = np.where(s > 0, np.int64(1) << np.maximum(s - 1, 0), 0)
        return RowNumbers(q, reciprocal, s, half + np.where(q > 0, reciprocal >> 1, 0))

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        channels = inputs.x.shape[-1]
        x = largest_code(inputs.x.dtype) << (0 if inputs.k is None else largest_shift(inputs.k))
        w = (2.0 * x - 1) * channels if self.centred else float(x)
        excess = int(w).bit_length() - _VALUE_BITS
        most = max(excess + self.square_shift, self.least_shift)
        squares = channels * 2.0 ** (30 - 2 * self.square_shift)
        shift = _VALUE_BITS + max(self.square_shift, self.least_shift)
        gamma, beta = (np.abs(numbers(c)) for c in (inputs.gamma, inputs.beta))
        return {
            "the centred value": w + half_step(most),
            "the sum of squares": squares + self.epsilon,
            "the normalised value": 2.0**15 * _LARGEST_RECIPROCAL
            + half_step(shift)
            + _LARGEST_RECIPROCAL // 2,
            "the output": float((UNIT_BOUND * gamma + beta).max()),
        }

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.low, self.high, *LIMITS[self.dtype])
        need_shift(self.shift, 1, LONGEST_SHIFT)
        need_shift(self.least_shift, 0, 15)
        need(0 <= self.epsilon <= 2**29, f"bad epsilon {self.epsilon}")
        need_shifts(inputs.k, inputs.x.dtype is DType.INT8)
        need_dtype(output, self.dtype)


def nearest_root(values: Array) -> Array:
    """The integer nearest to the square root of int64 values in [0, 2^31)."""
    # float64 is exact enough: (n + 1/2)^2 is never a whole number.
    return np.asarray(np.floor(np.sqrt(values.astype(np.float64)) + 0.5).astype(np.int64))
