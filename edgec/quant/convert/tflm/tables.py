"""Functions of one int8 tensor as tables of 256 codes, by the rules of TensorFlow Lite's kernels.

TensorFlow Lite Micro computes each element with fixed-point numbers, or looks it up in a table that
it fills with float32 arithmetic; either way the 256 codes that come out are known beforehand.

Source: TensorFlow Lite Micro, micro/kernels (logistic, tanh, hard_swish, leaky_relu, elu,
activations, elementwise, quantize) and the reference kernels that these call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from edgec.base import tflite_arithmetic as fixed_functions
from edgec.base.dtypes import Array
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT8_MIN,
    INT16_MAX,
    INT16_MIN,
    INT32_MAX,
    rshr,
    saturate,
)
from edgec.base.tflite_arithmetic import (
    quantized_factor,
    reduced_factor,
    round_half_away,
    rshr_away,
    scaled_twice,
)
from edgec.floatrun.codes import unary_function
from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.tflm.act_codes import act_codes

Table = Callable[[ops.Unary, QuantParams, QuantParams], Array | None]
"""The codes before they are saturated, int64 [256]; None where the kernels refuse the scales."""

_INTEGER_BITS = 4
"""Logistic and tanh read numbers in Q4.27."""
_HIRES_BITS = 7
_ROOT_BITS = 20
"""Fraction bits of one over a root."""


def table(attrs: ops.Unary | ops.Clip, x: QuantParams, y: QuantParams) -> Array | None:
    """The codes of f by a rule of TensorFlow Lite, for each code of x; int8 [256].

    None: neither TensorFlow Lite Micro nor TensorFlow Lite's reference has a rule for it.
    """
    if isinstance(attrs, ops.Clip):
        return _clipped(attrs, x, y)
    rule = _RULES.get(attrs.kind)
    codes = None if rule is None else rule(attrs, x, y)
    return None if codes is None else saturate(codes).astype(np.int8)


def _steps(x: QuantParams) -> Array:
    """``q - zero_point`` of all codes; int64 [256]."""
    return np.arange(INT8_MIN, INT8_MAX + 1, dtype=np.int64) - x.tensor_zero_point


def _rescaled(_attrs: ops.Unary, x: QuantParams, y: QuantParams) -> Array:
    factor = quantized_factor(x.tensor_scale / y.tensor_scale)
    return scaled_twice(_steps(x), *factor) + y.tensor_zero_point


_IDENTITY = ops.Unary(UnaryKind.IDENTITY)


def _clipped(attrs: ops.Clip, x: QuantParams, y: QuantParams) -> Array:
    return saturate(_rescaled(_IDENTITY, x, y), *act_codes(attrs, y)).astype(np.int8)


def _in_fixed_point(function: Callable[[Array, int], Array], bits: int) -> Table:
    """The table of a function whose output has the scale 2^-bits and the least code for -1 or 0."""
    zero_point = 0 if bits == 7 else INT8_MIN

    def rule(_attrs: ops.Unary, x: QuantParams, y: QuantParams) -> Array | None:
        if (y.tensor_scale, y.tensor_zero_point) != (2.0**-bits, zero_point):
            return None
        fraction, shift = math.frexp(x.tensor_scale * 2.0 ** (31 - _INTEGER_BITS))
        radius = math.floor((2**_INTEGER_BITS - 1) * 2.0 ** (31 - _INTEGER_BITS - shift))
        steps = _steps(x)
        near = np.abs(steps) < radius
        factor = round_half_away(fraction * 2.0**31)
        inner = scaled_twice(np.where(near, steps, 0), factor, shift)
        codes = rshr_away(function(inner, _INTEGER_BITS), 31 - bits) + zero_point
        return np.where(near, codes, np.where(steps < 0, INT8_MIN, INT8_MAX))

    return rule


def _hard_swish(_attrs: ops.Unary, x: QuantParams, y: QuantParams) -> Array | None:
    hires = np.float32(1.0 / 128.0) * np.float32(x.tensor_scale)
    out_factor, out_shift = _factor16(hires / np.float32(y.tensor_scale))
    relu_factor, relu_shift = _factor16(hires / np.float32(3.0 / 32768.0))
    if out_shift > 0:
        return None
    value = _steps(x) << _HIRES_BITS
    relu = _shifted16(value, relu_shift - 1) if relu_shift > 0 else value
    relu = _high16(relu, relu_factor)
    relu = _shifted16(relu, 1) if relu_shift > 0 else rshr_away(relu, -relu_shift)
    share = (relu + (1 << 15)) >> 1
    product = share * _high16(value, out_factor)
    scaled = np.sign(product) * (np.abs(product) >> 15)
    return rshr_away(scaled, -out_shift) + y.tensor_zero_point


def _factor16(real: np.float32) -> tuple[int, int]:
    """`quantized_factor` with a multiplier of 16 bits."""
    multiplier, shift = quantized_factor(float(real))
    return reduced_factor(multiplier, shift)[0], shift


def _high16(a: Array, b: int) -> Array:
    return saturate(rshr(a * b, 15), INT16_MIN, INT16_MAX)


def _shifted16(a: Array, bits: int) -> Array:
    return saturate(a << min(bits, 40), INT16_MIN, INT16_MAX)


def _leaky_relu(attrs: ops.Unary, x: QuantParams, y: QuantParams) -> Array:
    steps, alpha = _steps(x), float(np.float32(attrs.alpha))
    positive = scaled_twice(steps, *quantized_factor(x.tensor_scale / y.tensor_scale))
    factor = quantized_factor(x.tensor_scale * alpha / y.tensor_scale)
    negative = scaled_twice(steps, *factor)
    return np.where(steps >= 0, positive, negative) + y.tensor_zero_point


def _abs(_attrs: ops.Unary, x: QuantParams, y: QuantParams) -> Array:
    factor = quantized_factor(x.tensor_scale / y.tensor_scale)
    return scaled_twice(np.abs(_steps(x)), *factor) + y.tensor_zero_point


def _rsqrt(_attrs: ops.Unary, x: QuantParams, y: QuantParams) -> Array:
    """One over the root; 0, and what is below and has no root, gives the largest code."""
    factor, shift = quantized_factor(1.0 / (math.sqrt(x.tensor_scale) * y.tensor_scale))
    steps = _steps(x)
    positive = steps > 0
    inverse, places = fixed_functions.inverse_root(np.where(positive, steps, 1))
    fine = scaled_twice(1, inverse, _ROOT_BITS - places)
    codes = scaled_twice(fine, factor, shift - _ROOT_BITS) + y.tensor_zero_point
    return np.where(positive, codes, INT8_MAX)


def _in_float(attrs: ops.Unary, x: QuantParams, y: QuantParams) -> Array:
    """Each number is rounded to float32; the function itself is exact before that."""
    real = np.float32(x.tensor_scale) * _steps(x).astype(np.float32)
    with np.errstate(over="ignore"):
        result = unary_function(attrs)(real.astype(np.float64)).astype(np.float32)
        steps = (result * (np.float32(1) / np.float32(y.tensor_scale))).astype(np.float64)
    rounded = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
    return np.asarray(np.clip(rounded, -INT32_MAX, INT32_MAX), np.int64) + y.tensor_zero_point


_RULES: Mapping[UnaryKind, Table] = MappingProxyType(
    {
        UnaryKind.IDENTITY: _rescaled,
        UnaryKind.SIGMOID: _in_fixed_point(fixed_functions.logistic, 8),
        UnaryKind.TANH: _in_fixed_point(fixed_functions.tanh, 7),
        UnaryKind.HARD_SWISH: _hard_swish,
        UnaryKind.LEAKY_RELU: _leaky_relu,
        UnaryKind.ABS: _abs,
        UnaryKind.RSQRT: _rsqrt,
        UnaryKind.ELU: _in_float,
        UnaryKind.EXP: _in_float,
        UnaryKind.GELU: _in_float,
        UnaryKind.GELU_TANH: _in_float,
    }
)
