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
    round_half_up,
)

_SPREAD = 64.0
"""The largest scale of a channel over the least: keeps 9 bits of every multiplier."""
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
    """What a layer's output is rounded to: ``code = real / scale + zero``.

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


def layer_codes(
    weight: Array, bias: Array, target: Target, folded_zero: Array | None, span: int, where: str
) -> LayerCodes:
    """Integer weights, biases and multipliers.

    Args:
        weight: float64 [O, ...], the scale of the input folded in: ``real = sum codes * weight``.
        bias: float64 [O].
        target: quantization of the output.
        folded_zero: zero points of the input's channels [I], to be taken out by the bias, or None.
        span: bound of the magnitude of an input, centred or raw as the operator reads it.
        where: the layer, for messages.

    Raises:
        QuantizationError: the accumulators cannot be kept inside 32 bits.
    """
    rows = weight.reshape(len(weight), -1)
    scale = _natural_scale(rows, bias, target)
    for _ in range(_TRIES):
        codes = _codes(rows, scale)
        rough = bias_codes(bias, codes, scale, target, folded_zero)
        bound = accumulator_bound(codes, rough, span)
        requant, scale = _exact(scale, target, bound, where)
        codes = _codes(rows, scale)
        integer = bias_codes(bias, codes, scale, target, folded_zero)
        bound = accumulator_bound(codes, integer, span)
        if bound.max() + 2.0**PRE_SHIFT_MAX <= INT32_MAX:
            return LayerCodes(
                codes.reshape(weight.shape).astype(np.int8),
                integer.astype(np.int32),
                requant,
                scale,
            )
        scale = np.where(bound + 2.0**PRE_SHIFT_MAX > INT32_MAX, 2 * scale, scale)
    raise QuantizationError(
        "the accumulators of this layer cannot be kept inside 32 bits",
        where=where,
        hint="check the layer's bias and the calibrated range of its input",
    )


def _natural_scale(rows: Array, bias: Array, target: Target) -> Array:
    """Each channel's largest weight at 127, channels without weights as coarse as the others."""
    largest = np.abs(rows).max(axis=1) / INT8_MAX
    factors = largest / target.scale
    if not factors.max() > 0:
        factors = np.full_like(factors, 2.0**-8)
    factors = np.maximum(factors, factors.max() / _SPREAD)
    if target.slack < math.inf:
        # The smallest factor decides about the pre-shift, the largest about its rounding error.
        pre = max(floor_log2(2 * target.slack / float(factors.max())), 0)
        factors = np.maximum(factors, target.reach / (INT16_MAX * 2.0**pre))
    least = (np.abs(bias) + np.abs(target.zero) * target.scale) / 2.0**_BIAS_BITS
    return np.asarray(np.maximum(factors * target.scale, least))


def _exact(scale: Array, target: Target, bound: Array, where: str) -> tuple[Requant16x15, Array]:
    """The requantization, and scales a little larger for which it is exact."""
    try:
        found = Requant16x15.from_real(scale / target.scale, bound, target.reach)
    except QuantizationError as error:
        raise QuantizationError(error.what, where=where, hint=error.hint) from error
    shift = found.shift
    steps = np.ceil(scale / target.scale * 2.0 ** (found.pre_shift + shift) - 2.0**-20)
    if steps.max() > INT16_MAX:
        shift -= 1
        steps = np.ceil(scale / target.scale * 2.0 ** (found.pre_shift + shift) - 2.0**-20)
    requant = Requant16x15(steps.astype(np.int16), found.pre_shift, shift)
    return requant, requant.factors * target.scale


def _codes(rows: Array, scale: Array) -> Array:
    return np.asarray(np.clip(round_half_up(rows / scale[:, None]), -INT8_MAX, INT8_MAX))


def bias_codes(
    bias: Array, codes: Array, scale: Array, target: Target, folded_zero: Array | None
) -> Array:
    """Whole numbers float64 [O]: the bias in steps of `scale`, with the zero points taken in."""
    real = (bias + target.zero * target.scale) / scale
    integer = round_half_up(np.clip(real, -(2.0**40), 2.0**40))
    return (
        integer if folded_zero is None else np.asarray(integer - (codes * folded_zero).sum(axis=1))
    )


def accumulator_bound(codes: Array, bias: Array, span: int) -> Array:
    """Bound of |accumulator|, whatever the order of summation."""
    total = np.abs(codes).sum(axis=1).astype(np.float64) * span
    return np.asarray(total + np.abs(bias))
