"""Attention by integers: exponentials in octaves, one division a row.

Rows of a table, by token ids.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT16_MAX, INT16_MIN, saturate
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import bit_length, half_step, rshr32, within32
from edgec.ir.qops.base import IntegerOperator, need_dtype
from edgec.ir.qops.operands import CODES, Operand, numbers, parameter, table, tensor
from edgec.ir.qops.residual import of_stream
from edgec.ir.qops.softmax_rules import (
    distance_bounds,
    exponent_and_divisor,
    exponentials,
    need_exp_bits,
)
from edgec.ir.shapes import broadcast, need

ATTENTION_SHIFT = 21
"""Right shift of the normalised output of attention."""
ATTENTION_MIN = -127
"""Least code of attention's output: products of codes without -128 are faster on cores with DSP."""
SUM_BITS = 24
"""Bits of a sum of exponentials that a product with int8 leaves within 32."""
SUM_MARGIN = 1 << 16
"""Distance of such a sum from 2^24, for its rounding and that of the division."""
HEAD_COLUMNS = 4
"""Columns of the parameters of attention heads."""
_BYTE, _WORD = 128, 32768
_LEAST_OUTPUT_SHIFT = 4
_TRIMMED_ROOM = 4096
"""Room above a sum of exponentials that have lost n bits: 2^(16 - n) of the margin, less the
rounding of up to 4095 keys, half of one each; n is 3 at most for the largest sums."""


@dataclass(frozen=True, slots=True)
class QAttention(IntegerOperator):
    """Softmax attention, token-major, heads side by side; one query row of a head at a time.

    q int8 [..., N, CQ] (value or constant), k int8 [..., M, CK], v int8 [..., M, CV], heads int32
    const [heads, 4], keys int32 [..., M] (optional), steps int32 const [heads, U] and places int16
    const [P, N, M] (the bias: both or neither), P the product B of the leading axes, or 1; y int8
    [..., N, heads*value_width].  Leading axes of q, k, v are equal.  q, k and v may be columns
    of one tensor: head h reads

        q[i, q_start + h*width + d], k[j, k_start + h*width + d], v[j, v_start + h*value_width + e]

    with d < width, e < value_width.  Raw codes; q and v have zero point 0 there, that of k cancels.
    Columns of heads: (distance_multiplier, distance_limit, numerator, output_shift).  For a row i
    of head h, over the keys j (with keys: only those whose entry is not 0):

        L[j] = sum_d q * k           (with a bias, of row b of B: + steps[h, places[b or 0, i, j]])
        D[j] = min(max_j L[j] - L[j], distance_limit)
        t    = rshr(D[j] * distance_multiplier, 15)          octaves, Q5.11
        i, f = (t & 2047) >> 6, t & 63
        c    = EXP[i] - rshr((EXP[i] - EXP[i + 1]) * f, 6)
        E[j] = rshr(c, (t >> 11) + 15 - exp_bits)            0 <= E < 2^exp_bits + 1
        S    = sum_j E[j]
        A[e] = sum_j E[j] * v                                |A| <= 128 * S

    where, with `trimmed`, a row of many large E first loses bits until A fits:

        n    = max(bitlen(S + 2^16) - 24, 0)                 0 <= n <= 4
        E[j] = rshr(E[j], n)                                 and S is the sum of these

    with ``EXP[i] = round(32767 * 2**(-i/32))``, 33 entries.  Then one division a row:

        x    = bitlen(S) - 1                                 2^x <= S < 2^(x+1)
        B    = S >> (x - 15) if x >= 15 else S << (15 - x)   2^15 <= B < 2^16
        R    = (numerator + B // 2) // B                     2^13 <= R <= 2^15
        a[e] = sat16(rshr(A[e], x - 15 + output_shift))
        y[e] = min(max(rshr(a[e] * R, 21), -127), 127)

    A row without any key gives 0.  Both operands of E * v fit int16 (E <= 32767).

    With kappa = octaves a logit unit, at most 8: distance_multiplier = kappa * 2^26,
    distance_limit the least distance of exp_bits + 1.6 octaves or more, at most 2*128*128*width
    without a bias.
    With c = scale of v over scale of y: 1/8 <= c < 32, output_shift = 8 - floor(log2 c), numerator
    = c * 2^(21 + output_shift), in [2^29, 2^30).

    Bounds: 128*128*width < 2^30; max_j L[j] - L[j] < 2^31 with all L below 2^31 (steps are not
    positive); distance_limit * distance_multiplier + 2^14 < 2^31; exp_bits is 15
    for M <= 511; for M <= 4095 it is 15 with `trimmed`; then |A| + 2^(x-16+output_shift) < 2^31.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        q: T = field(metadata=tensor(DType.INT8))
        k: T = field(metadata=tensor(DType.INT8))
        v: T = field(metadata=tensor(DType.INT8))
        heads: T = field(metadata=parameter(DType.INT32))
        keys: T | None = field(default=None, metadata=tensor(DType.INT32))
        steps: T | None = field(default=None, metadata=table(DType.INT32))
        places: T | None = field(default=None, metadata=table(DType.INT16))

    heads: int
    width: int
    value_width: int
    q_start: int
    k_start: int
    v_start: int
    exp_bits: int
    trimmed: bool = False

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        q, k, v = inputs.q, inputs.k, inputs.v
        need(k[:-1] == v[:-1] and q[:-2] == k[:-2], "q, k and v disagree")
        columns = ((q, self.q_start, self.width), (k, self.k_start, self.width))
        for tensor_shape, start, width in (*columns, (v, self.v_start, self.value_width)):
            need(start >= 0 and width >= 1, "a head has no columns")
            need(start + self.heads * width <= tensor_shape[-1], "columns outside the tensor")
        need(inputs.heads == (self.heads, HEAD_COLUMNS), "four numbers a head are needed")
        if inputs.keys is not None:
            need(broadcast(k[:-1], inputs.keys) == k[:-1], "keys do not fit")
        if inputs.steps is not None and inputs.places is not None:
            steps, places = inputs.steps, inputs.places
            need(len(steps) == 2 and steps[0] == self.heads, "steps are [heads, U]")
            need(places[0] in (1, math.prod(q[:-2])), "places do not fit")
            need(places[1:] == (q[-2], k[-2]), "places do not fit")
        return (*q[:-1], self.heads * self.value_width)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        # Each query meets each key, and each key's weight the value.
        columns = self.heads * (self.width + self.value_width)
        return math.prod(inputs.q[:-1]) * inputs.k[-2] * columns

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return np.concatenate([self._head(inputs, h) for h in range(self.heads)], axis=-1)

    def _head(self, inputs: Inputs[Operand], head: int) -> Array:
        """The columns of the output of one head, int8 [..., N, value_width]."""
        multiplier, limit, numerator, output_shift = (int(n) for n in inputs.heads.array[head])
        q, k = (
            _columns(x, start, self.width, head)
            for x, start in ((inputs.q, self.q_start), (inputs.k, self.k_start))
        )
        logits = within32(q @ k.swapaxes(-1, -2))
        if inputs.steps is not None and inputs.places is not None:
            logits = within32(logits + _bias(inputs.steps, inputs.places, head, logits.shape))
        keys = np.True_ if inputs.keys is None else np.expand_dims(inputs.keys.array != 0, -2)
        valid = np.broadcast_to(keys, logits.shape)
        weights = exponentials(logits, valid, multiplier, limit, self.exp_bits)
        weights = trimmed(weights) if self.trimmed else weights
        v = _columns(inputs.v, self.v_start, self.value_width, head)
        sums = within32(weights.astype(np.float64) @ v)
        return normalised(sums, weights, numerator, output_shift)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        heads = numbers(inputs.heads).astype(np.float64)
        steps = np.zeros(1) if inputs.steps is None else numbers(inputs.steps).astype(np.float64)
        logit = float(_BYTE * _BYTE * self.width)
        multiplier, limit, numerator, output_shift = heads.T
        keys, highest = inputs.k.shape[-2], 2.0 ** (self.exp_bits - 15) * INT16_MAX
        whole = keys * math.ceil(highest)
        total = min(whole, (1 << SUM_BITS) - _TRIMMED_ROOM) if self.trimmed else whole
        rounding = half_step(total.bit_length() - 16 + int(output_shift.max()))
        found = {
            "a logit": 2.0 * logit + float(steps.max() - steps.min()),
            "a logit with its bias": logit + float(np.abs(steps).max()),
            **distance_bounds(float((multiplier * limit).max()), self.exp_bits),
            "the sum of exponentials": float(whole + SUM_MARGIN),
            "the sum of weighted values": _BYTE * float(total) + rounding,
            "the numerator of the division": float(numerator.max()) + 2.0**15,
            "the normalised output": _WORD * (float(numerator.max()) / 2.0**15 + 1)
            + half_step(ATTENTION_SHIFT),
        }
        if output_shift.min() < _LEAST_OUTPUT_SHIFT:
            found["a shift"] = math.inf
        return found

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_exp_bits(self.exp_bits)
        need_dtype(output, DType.INT8)
        whole = (inputs.steps is None) is (inputs.places is None)
        need(whole, "a bias has steps and places")


def trimmed(weights: Array) -> Array:
    """E of a row of `QAttention` after it has lost the bits that its sum has too many."""
    total = within32(weights.sum(axis=-1, keepdims=True))
    excess = bit_length(total + SUM_MARGIN) - SUM_BITS
    return rshr32(weights, np.maximum(excess, 0))


def normalised(sums: Array, weights: Array, numerator: int, output_shift: int) -> Array:
    """The y of `QAttention` from A int64 [..., E] and E int64 [..., M]; int8 [..., E]."""
    total = within32(weights.sum(axis=-1, keepdims=True))
    exponent, divisor = exponent_and_divisor(total)
    reciprocal = np.where(total > 0, (numerator + divisor // 2) // divisor, 0)
    shift = np.where(total > 0, exponent - 15 + output_shift, 0)
    narrow = saturate(rshr32(sums, shift), INT16_MIN, INT16_MAX)
    y = rshr32(within32(narrow * reciprocal), ATTENTION_SHIFT)
    return saturate(y, ATTENTION_MIN, INT8_MAX).astype(np.int8)


def _bias(steps: Operand, places: Operand, head: int, shape: tuple[int, ...]) -> Array:
    """The summand of a head's logits of a shape [..., N, M], int64, broadcasts to it."""
    found = steps.wide[head][places.array]
    return np.asarray(found[0] if len(found) == 1 else found.reshape(shape))


def _columns(x: Operand, start: int, width: int, head: int) -> Array:
    """The columns of a head, float64."""
    first = start + head * width
    return np.asarray(x.array[..., first : first + width].astype(np.float64))


@dataclass(frozen=True, slots=True)
class QEmbedding(IntegerOperator):
    """ids int32 [...], table int8 or int16 const [V, C]; y of the stream [..., C].

    ``y = sat16(table[min(max(id, 0), V-1), c] * multiplier)``, 1 <= multiplier <= 32767; of int8
    the table is int8 and the multiplier 1.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        ids: T = field(metadata=tensor(DType.INT32))
        table: T = field(metadata=table(*CODES))

    multiplier: int = 1
    dtype: DType = DType.INT16

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.table) == 2, "the table must be [V, C]")
        return (*inputs.ids, inputs.table[1])

    def compute(self, inputs: Inputs[Operand]) -> Array:
        ids, rows = inputs.ids.array, inputs.table.wide
        return of_stream(self.dtype, rows[np.clip(ids, 0, len(rows) - 1)] * self.multiplier)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_dtype(output, self.dtype)
        need(1 <= self.multiplier <= INT16_MAX, f"bad multiplier {self.multiplier}")
        if self.dtype is DType.INT8:
            need(self.multiplier == 1, "an int8 stream with a multiplier")
            need(inputs.table.dtype is DType.INT8, "the table is not int8")
