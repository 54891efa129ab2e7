"""Converters of functions of one variable, by the rules of TensorFlow Lite Micro."""

from __future__ import annotations

import numpy as np

from edgec.base.twice import quantized_factor
from edgec.ir import ops, qops
from edgec.ir.operator_table import OperatorTable
from edgec.quant.convert import elementwise
from edgec.quant.convert.context import SPAN, Conversion, Converter
from edgec.quant.convert.tflm import tables
from edgec.quant.convert.tflm.single import single_twice

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.Unary, ops.Clip)
def table(c: Conversion) -> None:
    """Unary and Clip to QLut; where TensorFlow Lite has no rule, the table is edgec's own."""
    attrs, x = c.node.attrs_as(ops.Unary, ops.Clip), c.operand(c.node.input)
    integers = x.quant is None or attrs.gives_integers
    codes = None if integers or x.quant is None else tables.table(attrs, x.quant, c.y)
    if codes is None:
        elementwise.table(c)
    else:
        c.emit(qops.QLut(), qops.QLut.Inputs(x.name, c.constant("table", codes)))


@CONVERTERS.entry(ops.PRelu)
def prelu(c: Conversion) -> None:
    """PRelu to QPReluCodes; edgec's own where the slopes are no codes of one scale."""
    real = ops.PRelu.Inputs.of(c.node.inputs)
    x, slope, channels = c.operand(real.x), c.graph.constants[real.slope], c.graph.shape(real.x)[-1]
    quant = slope.quant
    if quant is None or quant.axis is not None:
        elementwise.prelu(c)
        return
    factors = x.scale / c.y.tensor_scale, x.scale * quant.tensor_scale / c.y.tensor_scale
    above, below = (quantized_factor(factor) for factor in factors)
    ends = single_twice(c, *above, float(SPAN)), single_twice(c, *below, float(SPAN * SPAN))
    if ends[0] is None or ends[1] is None:
        elementwise.prelu(c)
        return
    steps = slope.array.reshape(-1).astype(np.int16) - np.int16(quant.tensor_zero_point)
    attrs = qops.QPReluCodes(ends[0], ends[1], above[0], below[0])
    slopes = c.constant("slope", np.broadcast_to(steps, (channels,)))
    c.emit(attrs, qops.QPReluCodes.Inputs(x.name, slopes))
