"""Affine quantization parameters of a tensor."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError

FEATURE_STEP = 2.0**-7
"""Scale of a graph's input whose features had a scale each: its codes lie in [-1, 1)."""
_BLOCK = 1 << 14
"""Elements that are worked on at a time, as many as fit the processor's cache."""


@dataclass(frozen=True, slots=True)
class QuantParams:
    """``real = scale * (q - zero_point)``.

    Attributes:
        scale: one value per tensor (length 1) or per channel along `axis` (length C); positive.
        zero_point: same length as `scale`; of a tensor, a number of `dtype` (channels may have
            zero points beyond it: their codes need not hold 0).
        dtype: element type of q.
        axis: channel axis of a per-channel tensor; None when per tensor.
        in_float32: `quantize` divides in float32 and rounds halves away from zero, as TensorFlow
            Lite does; codes mean the same.
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    dtype: DType = DType.INT8
    axis: int | None = None
    in_float32: bool = field(default=False, compare=False, metadata=LATER)

    def __post_init__(self) -> None:
        if len(self.scale) != len(self.zero_point) or not self.scale:
            raise QuantizationError("scale and zero_point must have the same, non-zero length")
        if any(not math.isfinite(s) or s <= 0.0 for s in self.scale):
            raise QuantizationError("a scale must be a positive, finite number")
        info = np.iinfo(self.dtype.numpy)
        if self.axis is None and not info.min <= self.zero_point[0] <= info.max:
            raise QuantizationError(f"a zero_point lies outside {self.dtype.value}")
        if self.axis is None and len(self.scale) != 1:
            raise QuantizationError("per-channel quantization needs an axis")

    @classmethod
    def per_tensor(cls, scale: float, zero_point: int, dtype: DType = DType.INT8) -> QuantParams:
        """Parameters shared by the whole tensor."""
        return cls((float(scale),), (int(zero_point),), dtype)

    @classmethod
    def per_output(cls, scale: Array) -> QuantParams:
        """Symmetric int8 parameters of weights whose axis 0 has the scales given."""
        scales = tuple(float(s) for s in scale)
        return cls(scales, (0,) * len(scales), DType.INT8, axis=0)

    @property
    def tensor_scale(self) -> float:
        """The scale of a per-tensor quantization."""
        self._require_per_tensor()
        return self.scale[0]

    @property
    def tensor_zero_point(self) -> int:
        """The zero point of a per-tensor quantization."""
        self._require_per_tensor()
        return self.zero_point[0]

    @classmethod
    def per_feature(cls, scale: Array, zero_point: Array, axis: int) -> QuantParams:
        """Int8 parameters of an input whose features, along `axis`, have a scale each."""
        scales = tuple(float(s) for s in scale)
        return cls(scales, tuple(int(z) for z in zero_point), DType.INT8, axis)

    def quantize(self, real: Array) -> Array:
        """Nearest codes of float values, saturated; array of `dtype`, same shape.

        NaN has the code of zero, as in generated C (`edgec/codes.h`).

        Source: with `in_float32` TensorFlow Lite, kernels/internal/reference/quantize.h
        (AffineQuantize).
        """
        codes = np.empty(real.shape, self.dtype.numpy)
        if self.axis is not None or real.size <= _BLOCK or not real.flags.c_contiguous:
            codes[...] = self._nearest(real)
            return codes
        flat, of = codes.reshape(-1), real.reshape(-1)
        for start in range(0, real.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            flat[part] = self._nearest(of[part])
        return codes

    def round_in_place(self, real: Array) -> None:
        """Replace float64 values by what their nearest codes stand for; one scale for all."""
        self._require_per_tensor()
        flat = real.reshape(-1)
        if not np.shares_memory(flat, real):
            real[...] = self.dequantize64(self.quantize(real))
            return
        for start in range(0, flat.size, _BLOCK):
            part = flat[start : start + _BLOCK]
            np.multiply(self._steps(part), self.tensor_scale, out=part)

    def _nearest(self, real: Array) -> Array:
        """Codes as float64, whose whole numbers are exact."""
        steps = self._steps(real)
        steps += self._broadcast(real.ndim)[1]
        return steps

    def _steps(self, real: Array) -> Array:
        """Codes less the zero point, as float64."""
        scale, zero_point = self._broadcast(real.ndim)
        info = np.iinfo(self.dtype.numpy)
        if self.in_float32:
            with np.errstate(over="ignore"):
                quotients = np.asarray(real, np.float32) / np.asarray(scale, np.float32)
            steps = np.asarray(quotients.astype(np.float64))
        else:
            steps = np.asarray(np.asarray(real, np.float64) / scale)
        # The limits are whole numbers: what is cut off here would be cut off after rounding.
        _cut_off(steps, info.min - zero_point, info.max - zero_point)
        if np.isnan(steps.sum()):
            steps[np.isnan(steps)] = 0.0
            _cut_off(steps, info.min - zero_point, info.max - zero_point)
        if self.in_float32:
            steps = np.asarray(np.copysign(np.floor(np.abs(steps) + 0.5), steps))
            steps += 0.0  # no zero with a sign
        else:  # halves up, as `fixedpoint.round_half_up`
            steps += 0.5
            np.floor(steps, out=steps)
        return steps

    def in_steps(self, real: Array) -> Array:
        """Real numbers of features as the input of a graph has them; float32, same shape.

        Quantized with the scale `FEATURE_STEP` and zero point 0 they have the codes of `quantize`.
        What lies beyond the codes is alike.
        """
        scale, zero_point = self._broadcast(real.ndim)
        info = np.iinfo(self.dtype.numpy)
        steps = np.asarray(real, np.float64) / scale + zero_point
        steps = np.clip(steps, info.min - 1, info.max + 1)
        return np.asarray(steps * FEATURE_STEP, np.float32)

    def from_steps(self, steps: Array) -> Array:
        """The inverse of `in_steps`: float32, same shape."""
        scale, zero_point = self._broadcast(steps.ndim)
        codes = np.asarray(steps, np.float64) / FEATURE_STEP
        return np.asarray((codes - zero_point) * scale, np.float32)

    def dequantize(self, codes: Array) -> Array:
        """Real values of codes; float32, same shape."""
        return np.asarray(self.dequantize64(codes), np.float32)

    def after_axes(self, axes: int) -> QuantParams:
        """Parameters for arrays with more axes, of samples or turns, before those of the tensor."""
        return self if self.axis is None else replace(self, axis=self.axis + axes)

    def dequantize64(self, codes: Array) -> Array:
        """Real values of codes; float64, which holds int32 codes exactly; same shape."""
        scale, zero_point = self._broadcast(codes.ndim)
        real = codes.astype(np.float64)
        real -= zero_point
        real *= scale
        return np.asarray(real)

    def _broadcast(self, rank: int) -> tuple[Array, Array]:
        scale = np.asarray(self.scale, np.float64)
        zero_point = np.asarray(self.zero_point, np.int64)
        if self.axis is None:
            return scale[0], zero_point[0]
        shape = [1] * rank
        shape[self.axis] = len(self.scale)
        return scale.reshape(shape), zero_point.reshape(shape)

    def _require_per_tensor(self) -> None:
        if self.axis is not None:
            raise QuantizationError("per-tensor quantization expected, found per-channel")


def _cut_off(steps: Array, low: Array, high: Array) -> None:
    """Clip in place; NaN stays."""
    np.maximum(steps, low, out=steps)
    np.minimum(steps, high, out=steps)
