"""Operators on single elements, and those that turn reals into codes and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

from edgec.base import portable_functions as exact
from edgec.base.dtypes import Array
from edgec.floatrun.operands import Rule, aligned
from edgec.ir import ops
from edgec.ir.operator import OperatorTable
from edgec.ir.ops import UnaryKind

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
        UnaryKind.LOG: exact.log,
        UnaryKind.RSQRT: lambda x: 1.0 / np.sqrt(x),
        UnaryKind.SIN: exact.sin,
        UnaryKind.COS: exact.cos,
        UnaryKind.TAN: exact.tan,
        UnaryKind.SINH: exact.sinh,
        UnaryKind.COSH: exact.cosh,
        UnaryKind.ASIN: exact.asin,
        UnaryKind.ACOS: exact.acos,
        UnaryKind.ATAN: exact.atan,
        UnaryKind.ASINH: exact.asinh,
        UnaryKind.ACOSH: exact.acosh,
        UnaryKind.ATANH: exact.atanh,
        UnaryKind.SIGN: np.sign,
        UnaryKind.BINARIZE: lambda x: np.where(x >= 0, 1.0, -1.0),
        UnaryKind.FLOOR: np.floor,
        UnaryKind.CEIL: np.ceil,
        UnaryKind.ROUND: np.rint,
        UnaryKind.MISH: lambda x: x * exact.tanh(exact.softplus(x)),
        UnaryKind.SOFTSIGN: lambda x: x / (1.0 + np.abs(x)),
        UnaryKind.GELU: _gelu,
        UnaryKind.GELU_TANH: _gelu_tanh,
        UnaryKind.IDENTITY: lambda x: x,
    }
)


_WITH_NUMBERS: Mapping[UnaryKind, Callable[[Array, float, float], Array]] = MappingProxyType(
    {
        UnaryKind.LEAKY_RELU: lambda x, a, _: np.where(x >= 0, x, a * x),
        UnaryKind.ELU: lambda x, a, _: np.where(x >= 0, x, a * exact.expm1(np.minimum(x, 0.0))),
        UnaryKind.HARD_SIGMOID: lambda x, a, b: np.clip(a * x + b, 0.0, 1.0),
        UnaryKind.POW: lambda x, a, _: exact.power(x, a),
        UnaryKind.SWISH: lambda x, a, _: x * exact.sigmoid(a * x),
        UnaryKind.SELU: lambda x, a, b: b * np.where(x > 0, x, a * exact.expm1(np.minimum(x, 0))),
        UnaryKind.CELU: lambda x, a, _: np.where(x > 0, x, a * exact.expm1(np.minimum(x, 0) / a)),
        UnaryKind.THRESHOLDED_RELU: lambda x, a, _: np.where(x > a, x, 0.0),
        UnaryKind.SHRINK: lambda x, a, b: np.where(np.abs(x) > a, x - np.copysign(b, x), 0.0),
        UnaryKind.MOD: lambda x, a, _: np.fmod(x, a),
        UnaryKind.NOT: lambda x, a, _: (x == a).astype(np.int32),
    }
)
"""Functions of an element that have numbers of their own, `alpha` and `beta`."""


def element_function(attrs: ops.Unary | ops.Clip) -> Function:
    """The function of an operator on float64 arrays.  Source: ONNX operator specification."""
    if isinstance(attrs, ops.Clip):
        low, high = attrs.low, attrs.high
        return partial(clipped, low=low, high=high)
    if attrs.kind is UnaryKind.COMPOSED:
        return composed(attrs, element_function)
    function = _WITH_NUMBERS.get(attrs.kind)
    if function is None:
        return _PLAIN[attrs.kind]
    return lambda x: function(x, attrs.alpha, attrs.beta)


def composed(attrs: ops.Unary, of: Callable[[ops.Unary | ops.Clip], Function]) -> Function:
    """The function that the steps of a composition make.

    Where it has no value, as 0 / 0 has none, it is 0: a table has an entry for each code.

    Args:
        attrs: a COMPOSED function.
        of: gives the functions of its steps.
    """

    def result(x: Array) -> Array:
        known = [x]
        with np.errstate(all="ignore"):
            for step in attrs.steps:
                number = np.asarray(step.number)
                operands = [number if at is None else known[at] for at in step.operands]
                if isinstance(step.attrs, ops.Arithmetic):
                    known.append(step.attrs.evaluate(step.attrs.Inputs.of(operands)))
                else:
                    known.append(of(step.attrs)(operands[0]))
        return np.where(np.isnan(known[-1]), 0.0, known[-1])

    return result


_FEW = 1 << 12
"""Elements for which two plain functions take less time than the call of `np.clip`."""


def clipped(x: Array, low: float, high: float, out: Array | None = None) -> Array:
    """Float64 numbers within two bounds; NaN stays.

    Args:
        x: any shape.
        low: the least.
        high: the greatest.
        out: takes in the result, it may be `x`; None: a new array does.
    """
    if x.size > _FEW:
        return np.asarray(np.clip(x, low, high, out=out))
    y = np.asarray(np.maximum(x, low, out=out))
    return np.asarray(np.minimum(y, high, out=y))


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


@RULES.entry(ops.Div, ops.Maximum, ops.Minimum, ops.SquaredDifference, ops.Compare)
def _pairs(attrs: ops.Arithmetic, inputs: ops.Arithmetic.Inputs[Array]) -> Array:
    return attrs.evaluate(ops.Arithmetic.Inputs(*aligned(inputs.a, inputs.b)))


@RULES.entry(ops.PRelu)
def _prelu(_attrs: ops.PRelu, inputs: ops.PRelu.Inputs[Array]) -> Array:
    a, slope = aligned(inputs.x, inputs.slope)
    return np.where(a >= 0, a, slope * a)


@RULES.entry(ops.Where)
def _where(_attrs: ops.Where, inputs: ops.Where.Inputs[Array]) -> Array:
    condition, a, b = aligned(inputs.condition, inputs.a, inputs.b)
    y = np.where(condition != 0, a, b)
    # Constants beside integers are floats.
    return y.astype(np.int32) if "i" in (a.dtype.kind, b.dtype.kind) else y


@RULES.entry(ops.Cast)
def _cast(_attrs: ops.Cast, inputs: ops.OneInput.Inputs[Array]) -> Array:
    return inputs.x.astype(np.float64)
