"""Converters of functions of one variable, Softmax, pooling, reductions and ArgMax."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from edgec.ir import ops, qops
from edgec.ir.operator import Operator
from edgec.quant.common.tables import lut, softmax_bits, softmax_table
from edgec.quant.convert.context import SPAN, Conversion, Converter


def table(c: Conversion) -> None:
    """Unary, and Clip where no operator absorbs it, to QLut."""
    entries = c.constant("table", lut(c.node.attrs_as(ops.Unary, ops.Clip), c.x, c.y))
    c.emit(qops.QLut(), (c.node.first, entries))


def prelu(c: Conversion) -> None:
    """PRelu to QPRelu."""
    channels = c.x_shape[-1]
    slope = np.asarray(
        c.graph.constants[ops.PRelu.Inputs.of(c.node.inputs).slope].real(), np.float64
    ).reshape(-1)
    factor = c.x.tensor_scale / c.y.tensor_scale
    factors = np.concatenate([[1.0], np.broadcast_to(slope, (channels,))]) * factor
    requant = c.requant(factors, SPAN)
    slopes = c.constant("slope_multiplier", requant.multiplier[1:])
    attrs = qops.QPRelu(c.form(requant.shift), int(requant.multiplier[0]))
    c.emit(attrs, (c.node.first, slopes))


def softmax(c: Conversion) -> None:
    """Softmax to QSoftmax."""
    row = c.x_shape[-1]
    entries = c.int32("table", softmax_table(c.x.tensor_scale, row))
    requant = c.requant(c.y.tensor_scale, float(row) * 2.0 ** softmax_bits(row))
    multiplier = int(requant.multiplier[0])
    attrs = qops.QSoftmax(multiplier, requant.shift, c.y.tensor_zero_point, *c.act_bounds)
    c.emit(attrs, (c.node.first, entries))


def max_pool(c: Conversion) -> None:
    """MaxPool to QMaxPool."""
    attrs = c.node.attrs_as(ops.MaxPool)
    integer = qops.QMaxPool(attrs.kernel, attrs.strides, attrs.pads, attrs.dilations)
    c.emit(integer, c.node.inputs)


def average_pool(c: Conversion) -> None:
    """AveragePool to QAveragePool."""
    attrs = c.node.attrs_as(ops.AveragePool)
    taps = math.prod(attrs.kernel)
    factor = c.x.tensor_scale / c.y.tensor_scale
    counts = np.arange(1, taps + 1)
    requant = c.requant(np.concatenate([[0.0], factor / counts]), SPAN * taps)
    multiplier = c.constant("multiplier", requant.multiplier)
    integer = qops.QAveragePool(
        kernel=attrs.kernel,
        strides=attrs.strides,
        pads=attrs.pads,
        dilations=attrs.dilations,
        count_include_pad=attrs.count_include_pad,
        output=c.form(requant.shift),
    )
    c.emit(integer, (c.node.first, multiplier))


def reduce(c: Conversion) -> None:
    """Reduce to QReduce."""
    attrs = c.node.attrs_as(ops.Reduce)
    if attrs.kind is ops.ReduceKind.MAX:
        c.emit(qops.QReduce(attrs.kind, attrs.axes, attrs.keepdims), c.node.inputs)
        return
    count = math.prod(c.x_shape[axis] for axis in attrs.axes)
    factor = c.x.tensor_scale / c.y.tensor_scale
    if attrs.kind is ops.ReduceKind.MEAN:
        factor /= count
    requant = c.requant(factor, SPAN * count)
    integer = qops.QReduce(
        kind=attrs.kind,
        axes=attrs.axes,
        keepdims=attrs.keepdims,
        output=c.form(requant.shift),
        multiplier=int(requant.multiplier[0]),
    )
    c.emit(integer, c.node.inputs)


def argmax(c: Conversion) -> None:
    """ArgMax to QArgMax."""
    attrs = c.node.attrs_as(ops.ArgMax)
    integer = qops.QArgMax(attrs.axis, attrs.keepdims, attrs.select_last_index)
    c.emit(integer, c.node.inputs)


CONVERTERS: Mapping[type[Operator], Converter] = MappingProxyType(
    {
        ops.Clip: table,
        ops.Unary: table,
        ops.PRelu: prelu,
        ops.Softmax: softmax,
        ops.MaxPool: max_pool,
        ops.AveragePool: average_pool,
        ops.Reduce: reduce,
        ops.ArgMax: argmax,
    }
)
