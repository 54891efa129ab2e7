"""Converters of functions of one variable, Softmax, pooling, reductions and ArgMax."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT32_MAX, round_half_up
from edgec.base.portable_functions import LOG2_E
from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.quant.common.params import softmax_bits, softmax_table
from edgec.quant.convert.choice import equals_number
from edgec.quant.convert.codes import SPAN
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.Unary, ops.Clip)
def table(c: Conversion) -> None:
    """Unary, and Clip where no operator absorbs it, to QLut; NOT to QIsEqual or QCompare.

    Between tensors one of which is int16, Clip and the identity become QRescale.
    """
    attrs = c.node.attrs_as(ops.Unary, ops.Clip)
    if isinstance(attrs, ops.Unary) and attrs.kind is ops.UnaryKind.NOT:
        x = c.operand(c.node.input)
        if x.quant is not None:
            equals_number(c, x, attrs.alpha)
        else:
            c.emit(qops.QIsEqual(int(attrs.alpha)), qops.QIsEqual.Inputs(x.name))
    elif DType.INT8 is c.y.dtype is c.operand(c.node.input).dtype:
        x = c.operand(c.node.input)
        entries = c.constant("table", c.rules.entries(attrs, x.params, c.y))
        c.emit(qops.QLut(), qops.QLut.Inputs(x.name, entries))
    elif isinstance(attrs, ops.Clip):
        _rescaled(c, c.bounds_of(attrs))
    elif attrs.kind is ops.UnaryKind.IDENTITY:
        _rescaled(c, c.act_bounds)
    else:
        x = c.widened(c.node.input)
        rule, line = c.rules.line(attrs, x, c.end)
        c.emit(qops.QLut(rule), qops.QLut.Inputs(x.name, c.constant("table", line)))


def _rescaled(c: Conversion, bounds: tuple[int, int]) -> None:
    """A change of scale or type to QRescale, within bounds of the output."""
    x = c.operand(c.node.input)
    low, high = bounds
    end = c.rules.rescaled(x, replace(c.end, low=low, high=high))
    c.emit(qops.QRescale(end.form, end.multiplier, end.bias), qops.QRescale.Inputs(x.name))


@CONVERTERS.entry(ops.PRelu)
def prelu(c: Conversion) -> None:
    """PRelu to QPRelu."""
    real = ops.PRelu.Inputs.of(c.node.inputs)
    x, channels = c.operand(real.x), c.graph.shape(real.x)[-1]
    attrs, slopes = c.rules.rectifier(x, c.graph.constants[real.slope], c.end)
    table = c.constant("slope", np.broadcast_to(slopes, (channels,)))
    c.emit(attrs, qops.QPRelu.Inputs(x.name, table))


@CONVERTERS.entry(ops.Softmax)
def softmax(c: Conversion) -> None:
    """Softmax over the last axis to QSoftmax."""
    x, row = c.operand(c.node.input), c.graph.shape(c.node.input)[-1]
    rule = c.rules.softmax
    if DType.INT16 in (x.dtype, c.y.dtype):
        x, rule = c.widened(c.node.input), c.rules.softmax16
    found = rule(x.scale * c.node.attrs_as(ops.Softmax).beta, row, c.end)
    names = ("exponentials", "reciprocals")[: len(found.tables)]
    tables = [c.constant(name, table) for name, table in zip(names, found.tables, strict=True)]
    c.emit(qops.QSoftmax(found.rule), qops.QSoftmax.Inputs(x.name, *tables), found.made)


@CONVERTERS.entry(ops.LogSoftmax)
def log_softmax(c: Conversion) -> None:
    """LogSoftmax over the last axis to QLogSoftmax."""
    x, row = c.operand(c.node.input), c.graph.shape(c.node.input)[-1]
    entries = c.int32("table", softmax_table(x.scale, row))
    factor, unit = x.scale / c.y.tensor_scale, 1.0 / (LOG2_E * c.y.tensor_scale)
    reach = SPAN * factor + row.bit_length() * unit + 1.0
    shift = min(_MOST_LOG_SHIFT, 31 - math.frexp(reach)[1])
    if shift < 1:
        raise QuantizationError(
            f"a step of its output is {reach:.3g} times smaller than its range",
            where=c.node.name,
            hint="the output scale is far too small; recalibrate",
        )
    low, high = c.act_bounds
    attrs = qops.QLogSoftmax(
        multiplier=int(round_half_up(factor * 2.0**shift)),
        log_multiplier=int(round_half_up(unit * 2.0**shift)),
        shift=shift,
        table_bits=softmax_bits(row),
        zero_point=c.y.tensor_zero_point,
        low=low,
        high=high,
    )
    c.emit(attrs, qops.QLogSoftmax.Inputs(x.name, entries))


_MOST_LOG_SHIFT = 24
"""Fraction bits of output steps that are plenty."""


@CONVERTERS.entry(ops.MaxPool)
def max_pool(c: Conversion) -> None:
    """MaxPool to QMaxPool."""
    attrs = c.node.attrs_as(ops.MaxPool)
    integer = qops.QMaxPool(attrs.kernel, attrs.strides, attrs.pads, attrs.dilations)
    c.emit(integer, qops.QMaxPool.Inputs(c.operand(c.node.input).name))


@CONVERTERS.entry(ops.AveragePool)
def average_pool(c: Conversion) -> None:
    """AveragePool to QAveragePool."""
    attrs, x = c.node.attrs_as(ops.AveragePool), c.operand(c.node.input)
    end = c.rules.mean(x, attrs, c.end)
    factors = end.multipliers
    multiplier = None if factors is None else c.constant("multiplier", factors)
    integer = qops.QAveragePool(
        kernel=attrs.kernel,
        strides=attrs.strides,
        pads=attrs.pads,
        dilations=attrs.dilations,
        count_include_pad=attrs.count_include_pad,
        output=end.form,
    )
    c.emit(integer, qops.QAveragePool.Inputs(x.name, multiplier))


@CONVERTERS.entry(ops.Reduce)
def reduce(c: Conversion) -> None:
    """Reduce to QReduce."""
    attrs = c.node.attrs_as(ops.Reduce)
    if attrs.kind.selects:
        largest = qops.QReduce(attrs.kind, attrs.axes, attrs.keepdims)
        c.emit(largest, qops.QReduce.Inputs(c.operand(c.node.input).name))
        return
    if attrs.kind in (ops.ReduceKind.L1, ops.ReduceKind.L2, ops.ReduceKind.SUM_SQUARE):
        _norm_over_axes(c, attrs)
        return
    x, shape = c.summed(c.node.input), c.graph.shape(c.node.input)
    count = math.prod(shape[axis] for axis in attrs.axes)
    end = c.rules.sum_end(x, count, c.end, mean=attrs.kind is ops.ReduceKind.MEAN)
    assert not isinstance(end.form, qops.Once15)
    integer = qops.QReduce(
        kind=attrs.kind,
        axes=attrs.axes,
        keepdims=attrs.keepdims,
        output=end.form,
        multiplier=end.multiplier,
        bias=end.bias,
    )
    c.emit(integer, qops.QReduce.Inputs(x.name))


_DIFFERENCE = 256
"""Bound of |q - zero_point| that the bounds of a reduction count with."""


def _norm_over_axes(c: Conversion, attrs: ops.Reduce) -> None:
    """Sums of magnitudes or squares, and roots of the latter, by 31 bits."""
    x, shape = c.operand(c.node.input), c.graph.shape(c.node.input)
    count = math.prod(shape[axis] for axis in attrs.axes)
    factor, bound, bits = x.scale / c.y.tensor_scale, float(_DIFFERENCE * count), 0
    if attrs.kind is not ops.ReduceKind.L1:
        bound *= _DIFFERENCE
        c.check_bound(bound)
    if attrs.kind is ops.ReduceKind.SUM_SQUARE:
        factor *= x.scale
    if attrs.kind is ops.ReduceKind.L2:
        # As many fraction bits as there is room for below the root.
        bits = ((INT32_MAX // int(bound)).bit_length() - 1) // 2
        factor, bound = factor / 2.0**bits, math.sqrt(bound) * 2.0**bits
    end = c.single31(factor, bound)
    assert not isinstance(end.form, qops.Once15)
    integer = qops.QReduce(
        kind=attrs.kind,
        axes=attrs.axes,
        keepdims=attrs.keepdims,
        output=end.form,
        multiplier=end.multiplier,
        root_bits=bits,
    )
    c.emit(integer, qops.QReduce.Inputs(x.name))


@CONVERTERS.entry(ops.ArgMax)
def argmax(c: Conversion) -> None:
    """ArgMax to QArgMax."""
    attrs = c.node.attrs_as(ops.ArgMax)
    integer = qops.QArgMax(attrs.axis, attrs.keepdims, attrs.select_last_index, attrs.smallest)
    c.emit(integer, qops.QArgMax.Inputs(c.operand(c.node.input).name))
