"""Converters of pooling, reductions and Softmax, by the rules of TensorFlow Lite Micro."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixed_functions import exp_of_negative
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX
from edgec.base.twice import high_product, quantized_factor
from edgec.ir import ops, qops
from edgec.ir.operator_table import OperatorTable
from edgec.quant.convert import elementwise
from edgec.quant.convert.context import SPAN, Conversion, Converter
from edgec.quant.convert.tflm.single import single_twice

CONVERTERS = OperatorTable[Converter]()
_EXPONENT_BITS = 5
"""Exponents are in Q5.26."""


@CONVERTERS.entry(ops.AveragePool)
def average_pool(c: Conversion) -> None:
    """AveragePool to QAverageCodes: raw codes, whatever the scales."""
    attrs = c.node.attrs_as(ops.AveragePool)
    if attrs.count_include_pad or attrs.dilations != (1, 1):
        elementwise.average_pool(c)
        return
    window = attrs.kernel, attrs.strides, attrs.pads, attrs.dilations
    integer = qops.QAverageCodes(*window, *c.act_bounds)
    c.emit(integer, qops.QAverageCodes.Inputs(c.operand(c.node.input).name))


@CONVERTERS.entry(ops.Reduce)
def reduce(c: Conversion) -> None:
    """Means and sums to QReduce that rounds twice; all other reductions are edgec's own."""
    attrs, x = c.node.attrs_as(ops.Reduce), c.operand(c.node.input)
    count = math.prod(c.graph.shape(c.node.input)[axis] for axis in attrs.axes)
    end = None
    if attrs.kind in (ops.ReduceKind.MEAN, ops.ReduceKind.SUM):
        multiplier, shift = quantized_factor(x.scale / c.y.tensor_scale)
        if attrs.kind is ops.ReduceKind.MEAN:
            multiplier, shift = _divided(multiplier, shift, count)
        end = single_twice(c, multiplier, shift, float(SPAN * count))
    if end is None:
        elementwise.reduce(c)
        return
    integer = qops.QReduce(attrs.kind, attrs.axes, attrs.keepdims, end, multiplier)
    c.emit(integer, qops.QReduce.Inputs(x.name))


def _divided(multiplier: int, shift: int, count: int) -> tuple[int, int]:
    """A factor divided by a number of elements, rounded down.

    Source: TensorFlow Lite, kernels/internal/reference/reduce.h (QuantizedMeanOrSum).
    """
    more = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << more) // count, shift - more


@CONVERTERS.entry(ops.Softmax)
def softmax(c: Conversion) -> None:
    """Softmax to QSoftmax31; edgec's own where TensorFlow Lite Micro refuses it."""
    x, row = c.operand(c.node.input), c.graph.shape(c.node.input)[-1]
    scale = x.scale * c.node.attrs_as(ops.Softmax).beta
    usual = (c.y.tensor_scale, c.y.tensor_zero_point) == (1 / 256, INT8_MIN)
    whole = c.act_bounds == (INT8_MIN, INT8_MAX)
    if not (usual and whole and row <= qops.SOFTMAX31_LONGEST and _scaled(scale) > 1.0):
        elementwise.softmax(c)
        return
    entries = c.int32("table", _exponentials(scale))
    c.emit(qops.QSoftmax31(), qops.QSoftmax31.Inputs(x.name, entries))


def _scaled(scale: float) -> float:
    """A step of x as an exponent, as far as it can be told from larger ones."""
    return min(scale * 2.0 ** (31 - _EXPONENT_BITS), float(INT32_MAX))


def _exponentials(scale: float) -> Array:
    """``exp(-scale * d)`` in Q0.31 for d = 0..255, 0 where it is far below a step of the output.

    Source: TensorFlow Lite, kernels/internal/quantization_util.cc (PreprocessSoftmaxScaling,
    CalculateInputRadius).
    """
    multiplier, left = quantized_factor(_scaled(scale))
    farthest = int((2**_EXPONENT_BITS - 1) * 2.0 ** (31 - _EXPONENT_BITS - left))
    distance = np.arange(256, dtype=np.int64)
    near = distance <= farthest
    exponent = high_product(np.where(near, -distance, 0) << left, multiplier)
    return np.where(near, exp_of_negative(exponent, _EXPONENT_BITS), 0)
