"""Operators on single elements, and those that turn reals into codes and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from edgec.base import exact_functions as exact
from edgec.base.dtypes import Array
from edgec.floatrun.operands import Rule, aligned
from edgec.ir import ops
from edgec.ir.operator_table import OperatorTable
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams

RULES = OperatorTable[Rule]()

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


@RULES.entry(ops.Unary, ops.Clip)
def _unary(attrs: ops.Unary | ops.Clip, inputs: ops.OneInput.Inputs[Array]) -> Array:
    return element_function(attrs)(inputs.x)


@RULES.entry(ops.Add)
def _add(_attrs: ops.Add, inputs: ops.Add.Inputs[Array]) -> Array:
    a, b = aligned(inputs.a, inputs.b)
    return np.asarray(a + b)


@RULES.entry(ops.Sub)
def _sub(_attrs: ops.Sub, inputs: ops.Sub.Inputs[Array]) -> Array:
    a, b = aligned(inputs.a, inputs.b)
    return np.asarray(a - b)


@RULES.entry(ops.Mul)
def _mul(_attrs: ops.Mul, inputs: ops.Mul.Inputs[Array]) -> Array:
    a, b = aligned(inputs.a, inputs.b)
    return np.asarray(a * b)


@RULES.entry(ops.PRelu)
def _prelu(_attrs: ops.PRelu, inputs: ops.PRelu.Inputs[Array]) -> Array:
    a, slope = aligned(inputs.x, inputs.slope)
    return np.where(a >= 0, a, slope * a)


@RULES.entry(ops.Where)
def _where(_attrs: ops.Where, inputs: ops.Where.Inputs[Array]) -> Array:
    condition, a, b = aligned(inputs.condition, inputs.a, inputs.b)
    return np.where(condition != 0, a, b)


@RULES.entry(ops.Cast)
def _cast(_attrs: ops.Cast, inputs: ops.OneInput.Inputs[Array]) -> Array:
    return inputs.x.astype(np.float64)


def quantized(x: Array, quant: QuantParams) -> Array:
    """The codes of reals, halves rounded to even, as ONNX's QuantizeLinear does."""
    limits = np.iinfo(quant.dtype.numpy)
    codes = np.rint(x / quant.tensor_scale) + quant.tensor_zero_point
    return np.asarray(np.clip(codes, limits.min, limits.max), quant.dtype.numpy)


def dequantized(codes: Array, quant: QuantParams) -> Array:
    """The reals that codes stand for."""
    return np.asarray((codes.astype(np.float64) - quant.tensor_zero_point) * quant.tensor_scale)
