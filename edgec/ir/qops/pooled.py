"""Layers with pooled weights.

Rounded activations of an operator with pooled weights, and their responses to the pool.

The sum over groups of ``r[g, index[g]]`` is a product of the responses, laid out as channels
[g * S + s], with weights that select one of the S responses of each group (or a few, its terms).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import rshr
from edgec.base.limits import MAX_TERMS
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Shape
from edgec.ir.qops.convolution import conv_sums
from edgec.ir.qops.layer_end import finished, need_end
from edgec.ir.qops.operands import Operand
from edgec.ir.qops.products import PooledLayer, QConv, QGemm
from edgec.ir.shapes import need
from edgec.ir.weight_pool import expand, terms_of

_UNSIGNED = 128


@dataclass(frozen=True, slots=True)
class PoolRounding:
    """Rounding of a pooled operator's activations and of its *responses*.

    Attributes:
        activation_bits: b, 1..8: activations are rounded to multiples of 2^(8-b).
        response_shift: k, 0..15: responses are rounded to multiples of 2^k.

    With the code q of an activation, ``u = q + 128`` and ``half = 2**(7-b)`` (0 for b = 8),

        t(q) = (min(u + half, 255) >> (8-b)) << (8-b)

    and the response of pool vector s to group g of an input pixel is

        r[g, s] = rshr(sum_j (t(x[g*G + j]) - t(zx)) * pool[s, j], k)

    Channels beyond the last count as zx, and so does padding: both contribute nothing.  The
    accumulator is ``acc = b[o] + 2**k * sum r[g, index[o, ky, kx, g]]`` over taps and groups, and
    over the terms of a group where it has several indices.
    With b = 8 and k = 0 it is that of the expanded weights, exactly.

    A width chosen at run time replaces b; k stays.  The lowering pass proves for k > 0 that the sum
    of responses fits int16 for any input and any width.
    """

    activation_bits: int = 8
    response_shift: int = 0

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need(1 <= self.activation_bits <= 8, "activation bits are 1 to 8")
        need(0 <= self.response_shift <= 15, "the response shift is 0 to 15")


def rounded_activations(x: Operand, bits: int) -> Array:
    """``t(x) - t(zx)`` of `PoolRounding`; int64, the shape of x."""
    return round_codes(x.array, bits) - round_codes(np.asarray(x.zero_point), bits)


def round_codes(codes: Array, bits: int) -> Array:
    """``t(q)`` of `PoolRounding`: int64 in [0, 255], any shape."""
    unsigned = codes.astype(np.int64) + _UNSIGNED
    if bits == 8:
        return unsigned
    low = 8 - bits
    return np.asarray((np.minimum(unsigned + (1 << (low - 1)), 255) >> low) << low)


def responses_of(rounded: Array, pool: Array, shift: int) -> Array:
    """Responses of every pool vector to every group of channels.

    Args:
        rounded: int64 [..., I], from `rounded_activations`.
        pool: int8 [S, G].
        shift: the response shift.

    Returns:
        int64 [..., ceil(I/G) * S], group-major.
    """
    size, group = pool.shape
    channels = rounded.shape[-1]
    groups = -(-channels // group)
    missing = [(0, 0)] * (rounded.ndim - 1) + [(0, groups * group - channels)]
    cut = np.pad(rounded, missing).reshape(*rounded.shape[:-1], groups, group)
    exact = (cut.astype(np.float64) @ pool.astype(np.float64).T).astype(np.int64)
    return np.asarray(rshr(exact, shift).reshape(*rounded.shape[:-1], groups * size))


def picks(indices: Array, size: int, terms: int) -> Array:
    """Weights that select responses.

    Args:
        indices: [..., groups * terms], the terms of a group side by side.
        size: vectors of the pool, S.
        terms: responses that are added up for a group.

    Returns:
        int64 [..., groups * S]: how often a group takes a response, mostly 0 or 1.
    """
    each = indices.reshape(*indices.shape[:-1], -1, terms, 1).astype(np.int64)
    counts = (each == np.arange(size)).sum(axis=-2)
    return np.asarray(counts.reshape(*indices.shape[:-1], -1))


def expanded_shape(x: Shape, pool: Shape, indices: Shape) -> Shape:
    """Shape of the weights that a pool and indices into it stand for."""
    channels, group = x[-1], pool[1]
    terms = terms_of(indices[-1], channels, group)
    need(1 <= terms <= MAX_TERMS, f"1 to {MAX_TERMS} indices per group of channels are needed")
    return (*indices[:-1], channels)


@dataclass(frozen=True, slots=True)
class QPooledConv(PooledLayer):
    """x [N, H, W, I], pool int8 const [S, G], indices uint16 const [O, KH, KW, ceil(I/G) * terms],
    then b, multiplier, residual and table as `QConv`.

    A `QConv` of group 1 whose accumulator is that of `PoolRounding`.
    """

    conv: QConv
    rounding: PoolRounding

    def infer_shape(self, inputs: PooledLayer.Inputs[Shape]) -> Shape:
        w = expanded_shape(inputs.x, inputs.pool, inputs.indices)
        return self.conv.infer_shape(inputs.plain(w))

    def macs(self, inputs: PooledLayer.Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.indices[1:-1]) * inputs.x[-1]

    def compute(self, inputs: PooledLayer.Inputs[Operand]) -> Array:
        return finished(self.conv, self._sums(inputs), inputs)

    def _sums(self, inputs: PooledLayer.Inputs[Operand]) -> Array:
        x, pool, indices = inputs.x, inputs.pool.array, inputs.indices.array
        shift = self.rounding.response_shift
        rounded = rounded_activations(x, self.rounding.activation_bits)
        if shift == 0:
            weight = expand(pool, indices, x.array.shape[-1]).astype(np.int64)
            return conv_sums(self.conv, rounded, weight)
        responses = responses_of(rounded, pool, shift)
        terms = terms_of(indices.shape[-1], x.array.shape[-1], pool.shape[1])
        return conv_sums(self.conv, responses, picks(indices, len(pool), terms)) * (1 << shift)

    def verify(self, inputs: PooledLayer.Inputs[Tensor], output: Value) -> None:
        self.rounding.verify()
        need(self.conv.group == 1, "a pooled convolution has one group")
        need_end(self.conv, inputs.multiplier, output, inputs.residual, inputs.table)


@dataclass(frozen=True, slots=True)
class QPooledGemm(PooledLayer):
    """x [..., K], pool int8 const [S, G], indices uint16 const [N, ceil(K/G) * terms], then b,
    multiplier, residual and table as `QGemm`; y [..., N].

    A `QGemm` whose accumulator is that of `PoolRounding`.
    """

    gemm: QGemm
    rounding: PoolRounding

    def infer_shape(self, inputs: PooledLayer.Inputs[Shape]) -> Shape:
        w = expanded_shape(inputs.x, inputs.pool, inputs.indices)
        return self.gemm.infer_shape(inputs.plain(w))

    def macs(self, inputs: PooledLayer.Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.indices[1:-1]) * inputs.x[-1]

    def compute(self, inputs: PooledLayer.Inputs[Operand]) -> Array:
        pool, shift = inputs.pool.array, self.rounding.response_shift
        terms = terms_of(inputs.indices.array.shape[-1], inputs.x.array.shape[-1], pool.shape[1])
        rounded = rounded_activations(inputs.x, self.rounding.activation_bits)
        responses = responses_of(rounded, pool, shift).astype(np.float64)
        total = responses @ picks(inputs.indices.array, len(pool), terms).astype(np.float64).T
        return finished(self.gemm, total * (1 << shift), inputs)

    def verify(self, inputs: PooledLayer.Inputs[Tensor], output: Value) -> None:
        self.rounding.verify()
        need(not self.gemm.raw, "pooled weights meet centred activations")
        need_end(self.gemm, inputs.multiplier, output, inputs.residual, inputs.table)
