"""Converters of sums and products of activations: Add, Sub, Mul, MatMul."""

from __future__ import annotations

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.quant.convert.codes import SPAN
from edgec.quant.convert.context import Conversion, Converter
from edgec.quant.convert.rules import fine_numbers, quotient_numbers

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.Add, ops.Sub)
def add(c: Conversion) -> None:
    """Add and Sub to QAdd."""
    real = ops.Arithmetic.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    form = c.rules.sum(a, b, c.end, subtracts=isinstance(c.node.attrs, ops.Sub))
    c.emit(qops.QAdd(form), qops.QAdd.Inputs(a.name, b.name))


@CONVERTERS.entry(ops.SquaredDifference)
def squared_difference(c: Conversion) -> None:
    """SquaredDifference to QSquaredDifference, whatever the rounding.

    Raises:
        QuantizationError: the output scale is far too small.
    """
    real = ops.Arithmetic.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    bits = _SQUARE_BITS if max(a.span, b.span) <= SPAN else 0
    unit = 2.0 * max(a.scale, b.scale)
    factors = a.scale / unit, b.scale / unit, unit * unit / (4.0**bits * c.y.tensor_scale)
    numbers = fine_numbers(a, b, c.end, factors)
    if numbers is None:
        raise QuantizationError(
            f"a rescaling factor of {factors[2]:.3g} is too large for 32-bit integers",
            where=c.node.name,
            hint="the output scale is far smaller than the input scales; recalibrate",
        )
    params = qops.TfliteSumNumbers(*numbers, *c.act_bounds, bits, c.y.dtype)
    inputs = qops.QSquaredDifference.Inputs(a.name, b.name)
    c.emit(qops.QSquaredDifference(params), inputs)


_SQUARE_BITS = 7
"""Fraction bits of int8 operands: the square of their difference then fits int32."""


@CONVERTERS.entry(ops.Mul)
def mul(c: Conversion) -> None:
    """Mul to QMul."""
    real = ops.Mul.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    end = c.rules.product(a, b, c.end)
    c.emit(qops.QMul(end.form, end.multiplier, end.bias), qops.QMul.Inputs(a.name, b.name))


@CONVERTERS.entry(ops.Div)
def div(c: Conversion) -> None:
    """Div to QDiv.

    Raises:
        QuantizationError: the output scale is far too small.
    """
    real = ops.Div.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    numbers = quotient_numbers(a, b, c.end)
    if numbers is None:
        factor = a.scale / b.scale / c.y.tensor_scale
        raise QuantizationError(
            f"a factor of {factor:.3g} between quotients and output steps is too large",
            where=c.node.name,
            hint="the output scale is far smaller than those of the inputs; recalibrate",
        )
    attrs = qops.QDiv(*numbers, c.y.tensor_zero_point, *c.act_bounds, c.y.dtype)
    c.emit(attrs, qops.QDiv.Inputs(a.name, b.name))


@CONVERTERS.entry(ops.MatMul)
def matmul(c: Conversion) -> None:
    """MatMul to QMatMul."""
    attrs = c.node.attrs_as(ops.MatMul)
    real = attrs.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    terms = attrs.terms(attrs.Inputs.of(c.graph.shapes(c.node)))
    reaches = c.reach_of(real.a), c.reach_of(real.b)
    narrow = DType.INT8 is a.dtype is b.dtype is c.y.dtype
    bound = float((SPAN * SPAN if narrow else reaches[0] * reaches[1]) * terms)
    end = c.rules.product_end(a, b, c.end, bound, attrs.scale)
    integer = qops.QMatMul(
        output=end.form,
        multiplier=end.multiplier,
        bias=end.bias,
        transpose_a=attrs.transpose_a,
        transpose_b=attrs.transpose_b,
        a_reach=reaches[0],
        b_reach=reaches[1],
    )
    c.emit(integer, qops.QMatMul.Inputs(a.name, b.name))
