"""Codes of real numbers and back, and functions looked up in tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.ops_elementwise import Function, composed, element_function
from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams


def nearest_codes(real: Array, quant: QuantParams) -> Array:
    """Nearest codes of real numbers, halves to even, saturated; or as TensorFlow Lite finds them.

    Args:
        real: float64 of any shape.
        quant: one scale for all of them.

    Returns:
        `quant.dtype`, of the shape of `real`.
    """
    if quant.in_float32:
        return quant.quantize(real)
    limits = np.iinfo(quant.dtype.numpy)
    codes = np.rint(real / quant.tensor_scale) + quant.tensor_zero_point
    return np.asarray(np.clip(codes, limits.min, limits.max), quant.dtype.numpy)


def dequantized(codes: Array, quant: QuantParams) -> Array:
    """The real numbers that codes stand for, float64; one scale for all of them."""
    return np.asarray((codes.astype(np.float64) - quant.tensor_zero_point) * quant.tensor_scale)


_LARGEST_EXPONENT = 700.0
"""Largest argument of the exponential function: keeps it finite."""
_POSITIVE = (0.0, math.inf)
_WITHIN_ONE = (-1.0, 1.0)
_DOMAINS: Mapping[UnaryKind, tuple[float, float]] = MappingProxyType(
    {
        UnaryKind.EXP: (-math.inf, _LARGEST_EXPONENT),
        UnaryKind.SINH: (-_LARGEST_EXPONENT, _LARGEST_EXPONENT),
        UnaryKind.COSH: (-_LARGEST_EXPONENT, _LARGEST_EXPONENT),
        UnaryKind.SQRT: _POSITIVE,
        UnaryKind.RSQRT: _POSITIVE,
        UnaryKind.LOG: _POSITIVE,
        UnaryKind.ASIN: _WITHIN_ONE,
        UnaryKind.ACOS: _WITHIN_ONE,
        UnaryKind.ATANH: _WITHIN_ONE,
        UnaryKind.ACOSH: (1.0, math.inf),
    }
)
"""Arguments for which functions have a value; codes just beyond are rounding noise."""


def unary_function(attrs: ops.Unary | ops.Clip) -> Function:
    """The function of an operator on float64 arrays of what codes stand for."""
    if isinstance(attrs, ops.Unary) and attrs.kind is UnaryKind.COMPOSED:
        return composed(attrs, unary_function)
    function = element_function(attrs)
    if isinstance(attrs, ops.Clip):
        return function
    root = attrs.kind is UnaryKind.POW and not attrs.alpha.is_integer()
    domain = _POSITIVE if root else _DOMAINS.get(attrs.kind)
    if domain is None:
        return function
    low, high = domain
    return lambda x: function(np.clip(x, low, high))
