"""Integer weights of a layer with 16x15 requantization.

The scale of each output channel is chosen so that its multiplier is exact: ``scale_w =
multiplier * 2**-(pre_shift + shift) * scale_y``.  What remains of the requantization error is the
rounding of the pre-shift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT16_MAX,
    INT32_MAX,
    PRE_SHIFT_MAX,
    Requant16x15,
    floor_log2,
)
from edgec.quant.common.weights import accumulator_bound, nearest_codes, whole_steps

_SPREAD = 64.0
"""The largest scale of a channel over the least: keeps 9 bits of every multiplier."""
_LEAST_FACTOR = 2.0**-29
"""Least scale of a channel beside its output's: finer sums are no part of a step together."""
_BIAS_BITS = 29
_TRIES = 8


@dataclass(frozen=True, slots=True, eq=False)
class LayerCodes:
    """Integer form of a layer's weights.

    Attributes:
        weight: int8, the shape of the real weights.
        bias: int32 [O].
        requant: multipliers and shifts.
        scale: what one unit of the accumulator stands for; float64 [O].
    """

    weight: Array
    bias: Array
    requant: Requant16x15
    scale: Array


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Target of a layer's output quantization: ``code = real / scale + zero``.

    Attributes:
        scale: positive, float64 [1] or [O].
        zero: code of 0, not necessarily whole; float64 [1] or [O].
        reach: largest code magnitude that must come through the 16 bits.
        slack: error of the pre-shift's rounding that is allowed, in codes; 0.01 keeps the whole
            requantization within 0.51 of a step.
    """

    scale: Array
    zero: Array
    reach: float
    slack: float = math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """The bias and the end of a layer: what its sums of products hold, and become.

    Attributes:
        bias: float64 [O].
        target: quantization of the output.
        folded_zero: zero points of the input's channels [I], to be taken out by the bias, or None.
        span: bound of the magnitude of an input, centred or raw as the operator reads it.
        where: the layer, for messages.
    """

    bias: Array
    target: Target
    folded_zero: Array | None
    span: int
    where: str

    def bias_codes(self, codes: Array, scale: Array) -> Array:
        """Whole numbers [O]: the bias in steps of `scale`, with the zero points taken in."""
        target = self.target
        whole = whole_steps((self.bias + target.zero * target.scale) / scale)
        zero = self.folded_zero
        return whole if zero is None else np.asarray(whole - (codes * zero).sum(axis=1))

    def requant(self, factors: Array, codes: Array, bias: Array) -> Requant16x15:
        """The requantization by factors [O] of sums of these codes [O, K] and biases.

        Raises:
            QuantizationError: the factors do not fit 16 by 15 bits.
        """
        bound = accumulator_bound(codes, bias, self.span)
        try:
            return Requant16x15.from_real(factors, bound, self.target.reach)
        except QuantizationError as error:
            raise QuantizationError(error.what, where=self.where, hint=error.hint) from error

    def overflows(self, codes: Array, bias: Array) -> Array:
        """Whether an accumulator, and the rounding of its shift, could exceed 32 bits; bool [O]."""
        bound = accumulator_bound(codes, bias, self.span)
        return np.asarray(bound + 2.0**PRE_SHIFT_MAX > INT32_MAX)

    def overflow(self, hint: str) -> QuantizationError:
        """The error of a layer whose accumulators overflow."""
        what = "the accumulators of this layer cannot be kept inside 32 bits"
        return QuantizationError(what, where=self.where, hint=hint)


def layer_codes(weight: Array, sums: Sums) -> LayerCodes:
    """Integer weights, biases and multipliers.

    Args:
        weight: float64 [O, ...], the scale of the input folded in: ``real = sum codes * weight``.
        sums: the rest of the layer.

    Raises:
        QuantizationError: the accumulators cannot be kept inside 32 bits.
    """
    rows = weight.reshape(len(weight), -1)
    scale = _natural_scale(rows, sums.bias, sums.target)
    for _ in range(_TRIES):
        codes = nearest_codes(rows, scale)
        requant, scale = _exact(scale, sums, codes)
        codes = nearest_codes(rows, scale)
        integer = sums.bias_codes(codes, scale)
        beyond = sums.overflows(codes, integer)
        if not beyond.any():
            return LayerCodes(codes.reshape(weight.shape), integer.astype(np.int32), requant, scale)
        scale = np.where(beyond, 2 * scale, scale)
    raise sums.overflow("check the layer's bias and the calibrated range of its input")


def _natural_scale(rows: Array, bias: Array, target: Target) -> Array:
    """Each channel's largest weight at 127, channels without weights as coarse as the others."""
    largest = np.abs(rows).max(axis=1) / INT8_MAX
    factors = largest / target.scale
    if not factors.max() > 0:
        factors = np.full_like(factors, 2.0**-8)
    factors = np.maximum(factors, max(factors.max() / _SPREAD, _LEAST_FACTOR))
    if target.slack < math.inf:
        # The smallest factor decides about the pre-shift, the largest about its rounding error.
        pre = max(floor_log2(2 * target.slack / float(factors.max())), 0)
        factors = np.maximum(factors, target.reach / (INT16_MAX * 2.0**pre))
    least = (np.abs(bias) + np.abs(target.zero) * target.scale) / 2.0**_BIAS_BITS
    return np.asarray(np.maximum(factors * target.scale, least))


def _exact(scale: Array, sums: Sums, codes: Array) -> tuple[Requant16x15, Array]:
    """The requantization, and scales a little larger for which it is exact."""
    factors = scale / sums.target.scale
    found = sums.requant(factors, codes, sums.bias_codes(codes, scale))
    shift = found.shift
    steps = np.ceil(factors * 2.0 ** (found.pre_shift + shift) - 2.0**-20)
    if steps.max() > INT16_MAX:
        shift -= 1
        steps = np.ceil(factors * 2.0 ** (found.pre_shift + shift) - 2.0**-20)
    requant = Requant16x15(steps.astype(np.int16), found.pre_shift, shift)
    return requant, requant.factors * sums.target.scale
