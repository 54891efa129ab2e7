"""The operators of networks with 16-bit activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from edgec.base.fixedpoint import INT16_MAX
from edgec.ir import ops, qops
from edgec.ir.operator_table import OperatorTable
from edgec.ir.ops import PadMode
from edgec.ir.ops.unary import UnaryKind
from edgec.quant.convert import elementwise, move
from edgec.quant.convert.tflm.act_codes import act_codes
from edgec.quant.convert.wide import layers
from edgec.quant.convert.wide.conversion import WideConversion
from edgec.quant.convert.wide.tables import exponentials, reciprocals, sigmoid_table

WideConverter: TypeAlias = Callable[[WideConversion], None]
WIDE_CONVERTERS = OperatorTable[WideConverter]()
_UNIT = 2.0**-15
"""Scale of the outputs of functions by table."""
_TO_TABLE = 4096.0 * 3.0
"""Steps of the logistic function's table in 1."""

WIDE_CONVERTERS.entry(ops.Conv)(layers.conv)
WIDE_CONVERTERS.entry(ops.Gemm)(layers.gemm)


@WIDE_CONVERTERS.entry(ops.Reshape, ops.Transpose, ops.Slice, ops.Concat)
def moved(c: WideConversion) -> None:
    """Operators that move codes."""
    _check_same_codes(c)
    move.CONVERTERS[type(c.node.attrs)](c)


@WIDE_CONVERTERS.entry(ops.MaxPool)
def max_pool(c: WideConversion) -> None:
    """MaxPool to QMaxPool."""
    _check_same_codes(c)
    elementwise.max_pool(c)


def _check_same_codes(c: WideConversion) -> None:
    """Refuse to move codes between tensors of different scales, constants among them.

    Raises:
        QuantizationError: two differ.
    """
    for name in c.node.inputs:
        if c.operand(name).quant != c.y:
            raise c.error(f"the scale of its operand {name!r} is not that of its output")


@WIDE_CONVERTERS.entry(ops.Pad)
def pad(c: WideConversion) -> None:
    """Pad to QPad; kernels fill bytes, so the value is 0."""
    attrs = c.node.attrs_as(ops.Pad)
    if attrs.mode is PadMode.CONSTANT and attrs.value != 0:
        raise c.error("it pads with another number than 0")
    _check_same_codes(c)
    move.CONVERTERS[ops.Pad](c)


@WIDE_CONVERTERS.entry(ops.Add, ops.Sub)
def add(c: WideConversion) -> None:
    """Add and Sub to QWideAdd.

    Source: TensorFlow Lite Micro, micro/kernels/add_common.cc and sub_common.cc.
    """
    real = ops.Arithmetic.Inputs.of(c.node.inputs)
    a, b = c.codes16(real.a), c.codes16(real.b)
    subtracts = isinstance(c.node.attrs, ops.Sub)
    unit = 2.0 * max(a.scale, b.scale)
    fine = unit / ((1 << qops.QWideAdd.FINE_BITS) * c.y.tensor_scale)
    fine_a, fine_b, coarse = (c.factor(f, 0) for f in (a.scale / unit, b.scale / unit, fine))
    integer = qops.QWideAdd(fine_a, fine_b, coarse, subtracts, *c.act_bounds)
    c.emit(integer, qops.QWideAdd.Inputs(a.name, b.name))


@WIDE_CONVERTERS.entry(ops.Mul)
def mul(c: WideConversion) -> None:
    """Mul to QWideMul."""
    real = ops.Mul.Inputs.of(c.node.inputs)
    a, b = c.codes16(real.a), c.codes16(real.b)
    factor = c.factor(a.scale * b.scale / c.y.tensor_scale, 0)
    c.emit(qops.QWideMul(factor, *c.act_bounds), qops.QWideMul.Inputs(a.name, b.name))


@WIDE_CONVERTERS.entry(ops.AveragePool)
def average_pool(c: WideConversion) -> None:
    """AveragePool to QWideAverage: raw codes, whatever the scales."""
    attrs = c.node.attrs_as(ops.AveragePool)
    if attrs.count_include_pad or attrs.dilations != (1, 1):
        raise c.error("its window is none of TensorFlow Lite's")
    window = attrs.kernel, attrs.strides, attrs.pads, attrs.dilations
    x = c.codes16(c.node.input)
    c.emit(qops.QWideAverage(*window, *c.act_bounds), qops.QWideAverage.Inputs(x.name))


@WIDE_CONVERTERS.entry(ops.Clip)
def clip(c: WideConversion) -> None:
    """Clip where no operator absorbs it to QWideRescale."""
    _rescaled(c, act_codes(c.node.attrs_as(ops.Clip), c.y))


@WIDE_CONVERTERS.entry(ops.Unary)
def unary(c: WideConversion) -> None:
    """Changes of scale or type to QWideRescale, Sigmoid and Tanh to QWideSigmoid."""
    kind = c.node.attrs_as(ops.Unary).kind
    if kind is UnaryKind.IDENTITY:
        _rescaled(c, c.act_bounds)
    elif kind in (UnaryKind.SIGMOID, UnaryKind.TANH):
        _sigmoid(c, tanh=kind is UnaryKind.TANH)
    else:
        raise c.error(f"{kind.value} of 16-bit tensors is not supported")


def _rescaled(c: WideConversion, bounds: tuple[int, int]) -> None:
    x, y = c.operand(c.node.input), c.y
    factor = c.factor(x.scale / y.tensor_scale)
    zeros = x.zero_point, y.tensor_zero_point
    integer = qops.QWideRescale(factor, *zeros, y.dtype, *bounds)
    c.emit(integer, qops.QWideRescale.Inputs(x.name))


def _sigmoid(c: WideConversion, *, tanh: bool) -> None:
    """Source: TensorFlow Lite Micro, micro/kernels/logistic_common.cc and tanh.cc."""
    x = c.codes16(c.node.input)
    if c.y.tensor_scale != _UNIT:
        raise c.error("the scale of its output is not 2^-15")
    power = math.log2(x.scale)
    left = 12 + round(power)
    if abs(power - round(power)) < 1e-3 and left in ((0, 1) if tanh else (0,)):
        multiplier, shift = 3 << left, 0
    else:
        multiplier, shift = _sigmoid_factor(x.scale)
    if multiplier > INT16_MAX:
        raise c.error("the scale of its input is too large")
    table = c.constant("table", sigmoid_table())
    inputs = qops.QWideSigmoid.Inputs(x.name, table)
    c.emit(qops.QWideSigmoid(tanh, multiplier, shift), inputs)


def _sigmoid_factor(scale: float) -> tuple[int, int]:
    """Multiplier of 15 bits and right shift that make steps of the table."""
    factor, shift = scale * _TO_TABLE, 0
    while factor <= INT16_MAX / 2.0 and shift < 31:
        factor, shift = factor * 2.0, shift + 1
    return int(factor), shift


@WIDE_CONVERTERS.entry(ops.Softmax)
def softmax(c: WideConversion) -> None:
    """Softmax to QWideSoftmax.

    Source: TensorFlow Lite Micro, micro/kernels/softmax_common.cc.
    """
    x = c.codes16(c.node.input)
    if abs(c.y.tensor_scale / _UNIT - 1) > 1e-3:
        raise c.error("the scale of its output is not 2^-15")
    scale = x.scale * c.node.attrs_as(ops.Softmax).beta
    factor = c.factor(scale / (10.0 / 65535.0))
    names = c.constant("exponentials", exponentials()), c.constant("reciprocals", reciprocals())
    c.emit(qops.QWideSoftmax(factor), qops.QWideSoftmax.Inputs(x.name, *names))
