"""Scales that lose least: a search over clipping, measured on rows of the float network.

The error that counts is that of what reads the codes: for the input of a matrix product its output,
for everything else the tensor itself.  Source of the idea: Yuan et al., "PTQ4ViT", ECCV 2022
(scales chosen by the error of the layer's output).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, round_half_up
from edgec.base.portable_algebra import quick_product
from edgec.base.portable_functions import power
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import ANY_SCALE, LEAST_SHARE, Range, Scales, activation_params

LEAST_CODE = -INT8_MAX
"""Least code that operators compute: products without -128 are faster on cores with DSP."""
CLIPS = (1.0, 0.97, 0.94, 0.9, 0.85, 0.8)
"""Shares of the range that are tried."""
UNCLIPPED = (1.0,)
"""The whole range alone."""
EXPONENTS = (0.0, 0.25, 0.5, 0.625, 0.75, 1.0)
"""Exponents by which scales of channels follow the differences between channels.

Measured here: 0.5 to 0.75 loses least in the mean.  1 is that of RepQ-ViT (Li et al., ICCV 2023).
"""
ONE_SCALE = (0.0,)
"""Exponents that give all channels the same scale."""
_ROWS = 1024
_TINY = 1e-290
"""In the place of a largest weight of 0, far below all others."""


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """Codes of rows, with their dequantized values."""

    codes: Array
    scale: Array
    zero_point: Array

    @property
    def real(self) -> Array:
        """float64 [R, C]."""
        return np.asarray((self.codes - self.zero_point) * self.scale)


def coded(rows: Array, scale: Array, zero_point: Array) -> Codes:
    """Nearest codes of rows float [R, C] for scales and zero points [C] (or [1])."""
    codes = round_half_up(rows / scale) + zero_point
    return Codes(np.clip(codes, LEAST_CODE, INT8_MAX), scale, zero_point)


def tensor_params(
    values: Range,
    rows: Array,
    weights: Sequence[Array] = (),
    *,
    symmetric: bool = False,
    least: int = LEAST_CODE,
    scales: Scales = ANY_SCALE,
) -> QuantParams:
    """Parameters of a tensor.

    Args:
        values: its range.
        rows: float32 [R, C] of it.
        weights: float64 [N, C] of each matrix product that reads it; none: its own error counts.
        symmetric: the zero point must be 0.
        least: code of the lowest value, unless symmetric.
        scales: what the scale may be.
    """
    rows = rows[:_ROWS].astype(np.float64)
    readers = np.concatenate(weights) if weights else None
    # The squared error of all outputs is e W^T W e^T.
    moments = None if readers is None else quick_product(readers.T, readers)

    def error(params: QuantParams) -> float:
        scale, zero = np.array(params.scale), np.array(params.zero_point)
        lost = coded(rows, scale, zero).real - rows
        passed_on = lost if moments is None else quick_product(lost, moments)
        return float((lost * passed_on).sum())

    return min((_clipped(values, clip, symmetric, least, scales) for clip in CLIPS), key=error)


def _clipped(
    values: Range, clip: float, symmetric: bool, least: int, scales: Scales
) -> QuantParams:
    if symmetric:
        scale = max(values.magnitude * clip / INT8_MAX, scales.least)
        return QuantParams.per_tensor(scale if values.magnitude > 0 else scales.empty, 0)
    part = Range(values.low * clip, values.high * clip)
    return activation_params(part, least, scales)


def symmetric_scale(rows: Array, magnitude: float) -> float:
    """The scale with zero point 0 that loses least of rows whose largest magnitude is given."""
    found = tensor_params(Range(-magnitude, magnitude), rows, symmetric=True)
    return found.tensor_scale


def channel_params(
    low: Array,
    high: Array,
    rows: Array,
    weights: Sequence[Array],
    exponents: Sequence[float] = EXPONENTS,
    clips: Sequence[float] = CLIPS,
    allowed: Scales = ANY_SCALE,
) -> QuantParams:
    """Parameters per channel of a tensor that only matrix products read.

    Each channel has its own zero point; its scale is ``(m_c / mean m)**exponent`` times a common
    one, m_c being half the channel's range.

    Args:
        low, high: extremes of each channel, float64 [C].
        rows: float32 [R, C].
        weights: float64 [N, C] of each product.
        exponents: that are tried; 0 alone gives all channels one scale.
        clips: shares of the range that are tried.
        allowed: what a scale may be.
    """
    rows = rows[:_ROWS].astype(np.float64)
    wanted = [quick_product(rows, w.T) for w in weights]
    middle, half = (low + high) / 2, (high - low) / 2
    half = np.maximum(half, max(float(half.max()) * LEAST_SHARE, allowed.least) * INT8_MAX)

    def scales(exponent: float, clip: float) -> tuple[Array, Array]:
        factors = power(half / half.mean(), exponent)
        scale = factors * float((half / factors).max()) * clip / INT8_MAX
        return scale, round_half_up(-middle / scale)

    def error(exponent: float, clip: float) -> float:
        scale, zero = scales(exponent, clip)
        found = coded(rows, scale, zero).real
        lost = 0.0
        for w, y in zip(weights, wanted, strict=True):
            rounded = rounded_rows(w * scale, scale)
            lost += float(((quick_product(found, rounded.T) - y) ** 2).sum())
        return lost

    exponent = min(exponents, key=lambda e: error(e, 1.0))
    clip = min(clips, key=lambda c: error(exponent, c))
    scale, zero = scales(exponent, clip)
    axis_free = tuple(float(s) for s in scale), tuple(int(z) for z in zero)
    return QuantParams(*axis_free, DType.INT8, axis=0)


def rounded_rows(scaled: Array, scale: Array) -> Array:
    """Weights [N, C] after the int8 rounding of ``scaled = weights * scale``, row by row."""
    step = np.maximum(np.abs(scaled).max(axis=1, keepdims=True), _TINY) / INT8_MAX
    return np.asarray(round_half_up(scaled / step) * step / scale)
