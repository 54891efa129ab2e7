"""Operators on single elements, and those that turn reals into codes and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from edgec.base import exact_functions as exact
from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.floatrun.operands import Operands, Rules
from edgec.ir import ops
from edgec.ir.ops import UnaryKind

Function = Callable[[Array], Array]


def _gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * (1.0 + exact.erf(x / math.sqrt(2.0))))


def _gelu_tanh(x: Array) -> Array:
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)
    return np.asarray(0.5 * x * (1.0 + exact.tanh(inner)))


_PLAIN: Mapping[UnaryKind, Function] = MappingProxyType(
    {
        UnaryKind.SIGMOID: exact.sigmoid,
        UnaryKind.TANH: exact.tanh,
        UnaryKind.HARD_SWISH: lambda x: x * np.clip(x / 6.0 + 0.5, 0.0, 1.0),
        UnaryKind.SOFTPLUS: exact.softplus,
        UnaryKind.EXP: exact.exp,
        UnaryKind.ABS: np.abs,
        UnaryKind.NEG: np.negative,
        UnaryKind.SQRT: np.sqrt,
        UnaryKind.RECIPROCAL: lambda x: 1.0 / x,
        UnaryKind.ERF: exact.erf,
        UnaryKind.GELU: _gelu,
        UnaryKind.GELU_TANH: _gelu_tanh,
        UnaryKind.IDENTITY: lambda x: x,
    }
)


def element_function(attrs: ops.Unary | ops.Clip) -> Function:
    """The function of an operator on float64 arrays.  Source: ONNX operator specification."""
    if isinstance(attrs, ops.Clip):
        low, high = attrs.low, attrs.high
        return lambda x: np.minimum(np.maximum(x, low), high)
    alpha, beta = attrs.alpha, attrs.beta
    match attrs.kind:
        case UnaryKind.LEAKY_RELU:
            return lambda x: np.where(x >= 0, x, alpha * x)
        case UnaryKind.ELU:
            return lambda x: np.where(x >= 0, x, alpha * exact.expm1(np.minimum(x, 0.0)))
        case UnaryKind.HARD_SIGMOID:
            return lambda x: np.clip(alpha * x + beta, 0.0, 1.0)
        case UnaryKind.POW:
            return lambda x: exact.power(x, alpha)
        case UnaryKind.SWISH:
            return lambda x: x * exact.sigmoid(alpha * x)
        case UnaryKind.NOT:
            return lambda x: (x == alpha).astype(np.int32)
        case kind:
            return _PLAIN[kind]


def _unary(attrs: ops.Unary | ops.Clip, x: Operands) -> Array:
    return element_function(attrs)(x[0])


def _add(attrs: ops.Add, x: Operands) -> Array:
    a, b = x.aligned()
    return np.asarray(a + b)


def _sub(attrs: ops.Sub, x: Operands) -> Array:
    a, b = x.aligned()
    return np.asarray(a - b)


def _mul(attrs: ops.Mul, x: Operands) -> Array:
    a, b = x.aligned()
    return np.asarray(a * b)


def _prelu(attrs: ops.PRelu, x: Operands) -> Array:
    a, slope = x.aligned()
    return np.where(a >= 0, a, slope * a)


def _where(attrs: ops.Where, x: Operands) -> Array:
    condition, a, b = x.aligned()
    return np.where(condition != 0, a, b)


def _quantize(attrs: ops.QuantizeLinear, x: Operands) -> Array:
    """Halves to even, as ONNX rounds."""
    quant = x.output_quant
    if quant is None:
        raise InternalError("QuantizeLinear without parameters")
    limits = np.iinfo(quant.dtype.numpy)
    codes = np.rint(x[0] / quant.tensor_scale) + quant.tensor_zero_point
    return np.asarray(np.clip(codes, limits.min, limits.max), quant.dtype.numpy)


def _dequantize(attrs: ops.DequantizeLinear, x: Operands) -> Array:
    quant = x.quants[0]
    if quant is None:
        raise InternalError("DequantizeLinear without parameters")
    return np.asarray((x[0].astype(np.float64) - quant.tensor_zero_point) * quant.tensor_scale)


RULES: Rules = MappingProxyType(
    {
        ops.Unary: _unary,
        ops.Clip: _unary,
        ops.Add: _add,
        ops.Sub: _sub,
        ops.Mul: _mul,
        ops.PRelu: _prelu,
        ops.Where: _where,
        ops.Cast: lambda attrs, x: x[0].astype(np.float64),
        ops.QuantizeLinear: _quantize,
        ops.DequantizeLinear: _dequantize,
    }
)
