"""Converters of functions of one variable, Softmax, pooling, reductions and ArgMax."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.errors import QuantizationError
from edgec.base.exact_functions import LOG2_E
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX, round_half_up
from edgec.ir import ops, qops
from edgec.ir.operator_table import OperatorTable
from edgec.quant.common.numbers import distance_numbers, exponential_bits
from edgec.quant.common.tables import lut, softmax_bits, softmax_table
from edgec.quant.convert.choice import equals_number
from edgec.quant.convert.context import SPAN, Conversion, Converter

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.Unary, ops.Clip)
def table(c: Conversion) -> None:
    """Unary, and Clip where no operator absorbs it, to QLut; NOT to QIsEqual or QCompare."""
    attrs, x = c.node.attrs_as(ops.Unary, ops.Clip), c.operand(c.node.input)
    if isinstance(attrs, ops.Unary) and attrs.kind is ops.UnaryKind.NOT:
        if x.quant is not None:
            equals_number(c, x, attrs.alpha)
        else:
            c.emit(qops.QIsEqual(int(attrs.alpha)), qops.QIsEqual.Inputs(x.name))
        return
    entries = c.constant("table", lut(attrs, x.params, c.y))
    c.emit(qops.QLut(), qops.QLut.Inputs(x.name, entries))


@CONVERTERS.entry(ops.PRelu)
def prelu(c: Conversion) -> None:
    """PRelu to QPRelu."""
    real = ops.PRelu.Inputs.of(c.node.inputs)
    x, channels = c.operand(real.x), c.graph.shape(real.x)[-1]
    slope = np.asarray(c.graph.constants[real.slope].real(), np.float64).reshape(-1)
    factor = x.scale / c.y.tensor_scale
    factors = np.concatenate([[1.0], np.broadcast_to(slope, (channels,))]) * factor
    requant = c.requant31(factors, SPAN)
    slopes = c.constant("slope_multiplier", requant.multiplier[1:])
    attrs = qops.QPRelu(c.form31(requant.shift), int(requant.multiplier[0]))
    c.emit(attrs, qops.QPRelu.Inputs(x.name, slopes))


@CONVERTERS.entry(ops.Softmax)
def softmax(c: Conversion) -> None:
    """Softmax over the last axis to QSoftmaxOctaves or, by 31 bits, QSoftmax."""
    x, row = c.operand(c.node.input), c.graph.shape(c.node.input)[-1]
    scale = x.scale * c.node.attrs_as(ops.Softmax).beta
    if c.FORM is qops.Rescale16x15:
        bits = exponential_bits(row, c.node.name)
        multiplier, limit = distance_numbers(scale * LOG2_E, bits, INT8_MAX - INT8_MIN)
        octaves = qops.QSoftmaxOctaves(multiplier, limit, bits)
        c.emit(octaves, qops.QSoftmaxOctaves.Inputs(x.name))
        return
    entries = c.int32("table", softmax_table(scale, row))
    requant = c.requant31(c.y.tensor_scale, float(row) * 2.0 ** softmax_bits(row))
    multiplier = int(requant.multiplier[0])
    attrs = qops.QSoftmax(multiplier, requant.shift, c.y.tensor_zero_point, *c.act_bounds)
    c.emit(attrs, qops.QSoftmax.Inputs(x.name, entries))


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
    taps = math.prod(attrs.kernel)
    counts = np.arange(1, taps + 1)
    factor = x.scale / c.y.tensor_scale
    requant = c.requant31(np.concatenate([[0.0], factor / counts]), SPAN * taps)
    multiplier = c.constant("multiplier", requant.multiplier)
    integer = qops.QAveragePool(
        kernel=attrs.kernel,
        strides=attrs.strides,
        pads=attrs.pads,
        dilations=attrs.dilations,
        count_include_pad=attrs.count_include_pad,
        output=c.form31(requant.shift),
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
    factor = x.scale / c.y.tensor_scale
    if attrs.kind is ops.ReduceKind.MEAN:
        factor /= count
    end = c.single(factor, float(x.span * count))
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
