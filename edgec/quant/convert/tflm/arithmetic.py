"""Converters of sums and products of two tensors, by the rules of TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.twice import quantized_factor
from edgec.ir import ops, qops
from edgec.ir.operator_table import OperatorTable
from edgec.quant.convert import arithmetic
from edgec.quant.convert.context import SPAN, Coded, Conversion, Converter
from edgec.quant.convert.tflm.single import single_twice

CONVERTERS = OperatorTable[Converter]()
_FINE = float(1 << 20)


@CONVERTERS.entry(ops.Add, ops.Sub)
def add(c: Conversion) -> None:
    """Add and Sub to QAdd in fine steps; edgec's own where TensorFlow Lite refuses the scales."""
    real = ops.Arithmetic.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    subtracts = isinstance(c.node.attrs, ops.Sub)
    factors = _factors(a, b, c.y.tensor_scale, np.float32 if subtracts else np.float64)
    params = arithmetic.fine_numbers(c, qops.Add20, (a, b), factors)
    if params is None:
        arithmetic.add(c)
        return
    params = replace(params, subtracts=subtracts)
    c.emit(qops.QAdd(params), qops.QAdd.Inputs(a.name, b.name))


@CONVERTERS.entry(ops.Mul)
def mul(c: Conversion) -> None:
    """Mul to QMul that rounds twice."""
    real = ops.Mul.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    numbers = quantized_factor(a.scale * b.scale / c.y.tensor_scale)
    end = single_twice(c, *numbers, float(SPAN * SPAN))
    if end is None:
        arithmetic.mul(c)
        return
    c.emit(qops.QMul(end, numbers[0]), qops.QMul.Inputs(a.name, b.name))


@CONVERTERS.entry(ops.MatMul)
def matmul(c: Conversion) -> None:
    """MatMul to QMatMul that rounds twice; the scales of the operands meet in float32."""
    attrs = c.node.attrs_as(ops.MatMul)
    real = attrs.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    product = float(np.float32(a.scale) * np.float32(b.scale))
    numbers = quantized_factor(product / c.y.tensor_scale)
    terms = attrs.terms(attrs.Inputs.of(c.graph.shapes(c.node)))
    end = single_twice(c, *numbers, float(SPAN * SPAN * terms))
    if end is None or attrs.scale != 1.0:
        arithmetic.matmul(c)
        return
    transposes = attrs.transpose_a, attrs.transpose_b
    c.emit(qops.QMatMul(end, numbers[0], 0, *transposes), qops.QMatMul.Inputs(a.name, b.name))


def _factors(
    a: Coded, b: Coded, y_scale: float, kind: type[np.float32] | type[np.float64]
) -> list[float]:
    """What the operands and the sum are multiplied with: a sum is computed in float64.

    Source: TensorFlow Lite Micro, micro/kernels/add_common.cc and sub_common.cc.
    """
    scales = [kind(scale) for scale in (a.scale, b.scale, y_scale)]
    unit = kind(2) * max(scales[:2])
    return [
        float(scales[0] / unit),
        float(scales[1] / unit),
        float(unit / (kind(_FINE) * scales[2])),
    ]
