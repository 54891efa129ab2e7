"""Converters of sums and products of activations: Add, Sub, Mul, MatMul."""

from __future__ import annotations

import numpy as np

from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT32_MAX, round_half_up
from edgec.ir import ops, qops
from edgec.ir.operator_table import OperatorTable
from edgec.quant.convert.context import SPAN, Conversion, Converter

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


@CONVERTERS.entry(ops.Mul)
def mul(c: Conversion) -> None:
    """Mul to QMul."""
    real = ops.Mul.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    end = c.single(a.scale * b.scale / c.y.tensor_scale, float(SPAN * SPAN))
    c.emit(qops.QMul(end.form, end.multiplier, end.bias), qops.QMul.Inputs(a.name, b.name))


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
