"""Look-up tables: functions of one variable over the 256 codes of an int8 tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, round_half_up, saturate
from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams

_Function = Callable[[Array], Array]

SOFTMAX_BITS = 23
"""Most fraction bits of a softmax table entry: a float32's worth."""
SOFTMAX_SUM_BITS = 30
"""The sum of a row's entries stays at or below 2^30."""

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(x, -700.0, 700.0))))


def _softplus(x: Array) -> Array:
    return np.asarray(np.logaddexp(0.0, x))


def _gelu_tanh(x: Array) -> Array:
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)
    return np.asarray(0.5 * x * (1.0 + np.tanh(inner)))


def _reciprocal(x: Array) -> Array:
    with np.errstate(divide="ignore"):  # the table saturates
        return np.asarray(1.0 / x)


def _power(x: Array, exponent: float) -> Array:
    # As for the square root: roots of negative numbers have no value.
    base = x if exponent.is_integer() else np.maximum(x, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.power(base, exponent))


_PLAIN: Mapping[UnaryKind, _Function] = MappingProxyType(
    {
        UnaryKind.SIGMOID: _sigmoid,
        UnaryKind.TANH: np.tanh,
        UnaryKind.HARD_SWISH: lambda x: x * np.clip(x / 6.0 + 0.5, 0.0, 1.0),
        UnaryKind.SOFTPLUS: _softplus,
        UnaryKind.EXP: lambda x: np.exp(np.minimum(x, 700.0)),
        UnaryKind.ABS: np.abs,
        UnaryKind.NEG: np.negative,
        # The root of a negative number has no value; codes just below zero are rounding noise.
        UnaryKind.SQRT: lambda x: np.sqrt(np.maximum(x, 0.0)),
        UnaryKind.RECIPROCAL: _reciprocal,
        UnaryKind.ERF: _erf,
        UnaryKind.GELU: lambda x: 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0))),
        UnaryKind.GELU_TANH: _gelu_tanh,
        UnaryKind.IDENTITY: lambda x: x,
    }
)


def unary_function(attrs: ops.Unary | ops.Clip) -> _Function:
    """The function of an operator on float64 arrays.  Source: ONNX operator specification."""
    if isinstance(attrs, ops.Clip):
        low, high = attrs.low, attrs.high
        return lambda x: np.clip(x, low, high)
    alpha, beta = attrs.alpha, attrs.beta
    match attrs.kind:
        case UnaryKind.LEAKY_RELU:
            return lambda x: np.where(x >= 0, x, alpha * x)
        case UnaryKind.ELU:
            return lambda x: np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0.0)))
        case UnaryKind.HARD_SIGMOID:
            return lambda x: np.clip(alpha * x + beta, 0.0, 1.0)
        case UnaryKind.POW:
            return lambda x: _power(x, alpha)
        case UnaryKind.SWISH:
            return lambda x: x * _sigmoid(alpha * x)
        case kind:
            return _PLAIN[kind]


def codes_real(quant: QuantParams) -> Array:
    """Real values of the codes -128..127; float64 [256]."""
    codes = np.arange(INT8_MIN, INT8_MAX + 1, dtype=np.float64)
    return np.asarray((codes - quant.tensor_zero_point) * quant.tensor_scale)


def lut(attrs: ops.Unary | ops.Clip, x: QuantParams, y: QuantParams) -> Array:
    """Table of `QLut`: ``table[q + 128]`` is the code of f(real value of q); int8 [256]."""
    with np.errstate(over="ignore"):  # saturates below
        steps = unary_function(attrs)(codes_real(x)) / y.tensor_scale
    codes = round_half_up(np.clip(steps, -(2.0**31), 2.0**31)) + y.tensor_zero_point
    return saturate(codes).astype(np.int8)


def softmax_bits(row: int) -> int:
    """Fraction bits k of a softmax table for rows of `row` elements: row * 2^k <= 2^30."""
    return min(SOFTMAX_BITS, SOFTMAX_SUM_BITS - math.ceil(math.log2(row)))


def softmax_table(scale: float, row: int) -> Array:
    """``table[d] = round(2**k * exp(-scale * d))``; int32 [256]."""
    distance = np.arange(256, dtype=np.float64)
    entries: Array = round_half_up(2.0 ** softmax_bits(row) * np.exp(-scale * distance))
    return entries.astype(np.int32)
