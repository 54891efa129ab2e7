"""Converters of sums and products of activations: Add, Sub, Mul, MatMul."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT32_MAX, round_half_up
from edgec.base.twice import quantized_factor
from edgec.ir import ops, qops
from edgec.ir.operator_table import OperatorTable
from edgec.quant.convert.context import SPAN, Coded, Conversion, Converter

F = TypeVar("F", bound=qops.FineNumbers)

_MAX_ADD_SHIFT = 30

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.Add, ops.Sub)
def add(c: Conversion) -> None:
    """Add and Sub to QAdd; in a stream, whose tensors have one scale, Add to QStreamAdd."""
    real = ops.Arithmetic.Inputs.of(c.node.inputs)
    a, b, y = c.operand(real.a), c.operand(real.b), c.y
    if c.in_stream:
        c.emit(qops.QStreamAdd(y.dtype), qops.QStreamAdd.Inputs(a.name, b.name))
        return
    sign = -1.0 if isinstance(c.node.attrs, ops.Sub) else 1.0
    a_multiplier, b_multiplier, shift = add_multipliers(
        a.scale / y.tensor_scale, sign * b.scale / y.tensor_scale, c.node.name
    )
    low, high = c.act_bounds
    params = qops.AddParams(
        a_zero_point=a.zero_point,
        b_zero_point=b.zero_point,
        a_multiplier=a_multiplier,
        b_multiplier=b_multiplier,
        shift=shift,
        y_zero_point=y.tensor_zero_point,
        act_min=low,
        act_max=high,
    )
    c.emit(qops.QAdd(params), qops.QAdd.Inputs(a.name, b.name))


def add_multipliers(first: float, second: float, where: str) -> tuple[int, int, int]:
    """Multipliers and shift of an integer addition: the largest shift whose sums fit int32.

    Args:
        first: scale of a over scale of y, positive.
        second: scale of b over scale of y, negative for a subtraction.
        where: the node, for the message.

    Raises:
        QuantizationError: none fits, that is the output scale is far too small.
    """
    sign = -1 if second < 0 else 1
    magnitudes = np.abs([first, second])
    for shift in range(_MAX_ADD_SHIFT if magnitudes.max() < INT32_MAX else 0, 0, -1):
        # Magnitudes are rounded, so that x - x is 0 whatever the scale.
        a, b = (int(m) for m in round_half_up(magnitudes * 2.0**shift))
        if SPAN * (a + b) + 2 ** (shift - 1) <= INT32_MAX:
            return a, sign * b, shift
    raise QuantizationError(
        f"rescaling factors {first:.3g} and {second:.3g} are too large for 32-bit integers",
        where=where,
        hint="the output scale is far smaller than the input scales; recalibrate",
    )


@CONVERTERS.entry(ops.SquaredDifference)
def squared_difference(c: Conversion) -> None:
    """SquaredDifference to QSquaredDifference, whatever the rounding.

    Raises:
        QuantizationError: the output scale is far too small.
    """
    real = ops.Arithmetic.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    unit = 2.0 * max(a.scale, b.scale)
    factors = a.scale / unit, b.scale / unit, unit * unit / (2.0**14 * c.y.tensor_scale)
    params = fine_numbers(c, qops.FineNumbers, (a, b), factors)
    if params is None:
        raise QuantizationError(
            f"a rescaling factor of {factors[2]:.3g} is too large for 32-bit integers",
            where=c.node.name,
            hint="the output scale is far smaller than the input scales; recalibrate",
        )
    inputs = qops.QSquaredDifference.Inputs(a.name, b.name)
    c.emit(qops.QSquaredDifference(params), inputs)


def fine_numbers(
    c: Conversion, kind: type[F], operands: tuple[Coded, Coded], factors: Sequence[float]
) -> F | None:
    """The numbers of a function of two tensors in finer steps; None where a factor exceeds 1.

    Args:
        c: the conversion of the function.
        kind: what is made.
        operands: a and b.
        factors: those of a, b and the output.
    """
    (a_multiplier, a_shift), (b_multiplier, b_shift), (y_multiplier, y_shift) = (
        quantized_factor(factor) for factor in factors
    )
    if max(a_shift, b_shift, y_shift) > 0:
        return None
    low, high = c.act_bounds
    a, b = operands
    return kind(
        a_zero_point=a.zero_point,
        b_zero_point=b.zero_point,
        a_multiplier=a_multiplier,
        a_right=-a_shift,
        b_multiplier=b_multiplier,
        b_right=-b_shift,
        y_multiplier=y_multiplier,
        y_right=-y_shift,
        y_zero_point=c.y.tensor_zero_point,
        act_min=low,
        act_max=high,
    )


@CONVERTERS.entry(ops.Mul)
def mul(c: Conversion) -> None:
    """Mul to QMul."""
    real = ops.Mul.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    end = c.single(a.scale * b.scale / c.y.tensor_scale, float(SPAN * SPAN))
    c.emit(qops.QMul(end.form, end.multiplier, end.bias), qops.QMul.Inputs(a.name, b.name))


@CONVERTERS.entry(ops.Div)
def div(c: Conversion) -> None:
    """Div to QDiv."""
    real = ops.Div.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    factor = a.scale / b.scale / c.y.tensor_scale
    shift = min(qops.DIV_BITS, qops.DIV_BITS - math.frexp(factor)[1])
    if shift < 0:
        raise QuantizationError(
            f"a factor of {factor:.3g} between quotients and output steps is too large",
            where=c.node.name,
            hint="the output scale is far smaller than those of the inputs; recalibrate",
        )
    multiplier = max(int(round_half_up(factor * 2.0**shift)), 1)
    attrs = qops.QDiv(multiplier, shift, c.y.tensor_zero_point, *c.act_bounds)
    c.emit(attrs, qops.QDiv.Inputs(a.name, b.name))


@CONVERTERS.entry(ops.MatMul)
def matmul(c: Conversion) -> None:
    """MatMul to QMatMul."""
    attrs = c.node.attrs_as(ops.MatMul)
    real = attrs.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    terms = attrs.terms(attrs.Inputs.of(c.graph.shapes(c.node)))
    factor = a.scale * b.scale / c.y.tensor_scale * attrs.scale
    end = c.single16x15(factor, float(SPAN * SPAN * terms))
    transposes = attrs.transpose_a, attrs.transpose_b
    integer = qops.QMatMul(end.form, end.multiplier, end.bias, *transposes)
    c.emit(integer, qops.QMatMul.Inputs(a.name, b.name))
