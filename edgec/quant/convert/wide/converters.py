"""The operators of networks with 16-bit activations, and the tensors that they may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.ir.ops import PadMode
from edgec.ir.ops.elementwise import UnaryKind
from edgec.quant.convert import elementwise, linear
from edgec.quant.convert.context import Conversion, Converter
from edgec.quant.convert.tflm.rules import tflm_refusal, two_roundings31
from edgec.quant.convert.wide.conversion import FileConversion
from edgec.quant.convert.wide.rules import leaky_relu

WideCheck: TypeAlias = Callable[[FileConversion], None]
WIDE_CHECKS = OperatorTable[WideCheck]()
"""What refuses a node that TensorFlow Lite Micro does not compute either."""
WIDE_CONVERTERS = OperatorTable[Converter]()
"""Converters that go before `quant.convert.converters.CONVERTERS`."""


@WIDE_CONVERTERS.entry(ops.Conv)
def conv(c: Conversion) -> None:
    """Conv to QConv; one of the whole image with weights of int16, which SVDF has, to QWindowDot.

    Raises:
        QuantizationError: its scales or its window are none of SVDF's.
    """
    real = ops.layer_inputs(c.node)
    weight, x = c.graph.constants[real.w], c.operand(real.x)
    if weight.quant is None or weight.quant.dtype is not DType.INT16:
        linear.conv(c)
        return
    end = two_roundings31(x.scale * weight.quant.tensor_scale / c.y.tensor_scale, 0.0, c.end)
    fits = c.graph.shape(c.node.output)[1:3] == (1, 1) and x.dtype is DType.INT16
    if end is None or not isinstance(end.form, qops.TwoRoundings31) or not fits:
        raise tflm_refusal("a product with weights of int16", c.where)
    bias = np.zeros(len(weight.array)) if real.b is None else c.graph.constants[real.b].array
    group = c.node.attrs_as(ops.Conv).group
    names = x.name, c.constant("weight", weight.array), c.int32("bias", bias)
    attrs = qops.QWindowDot(group, end.form, end.multiplier)
    c.emit(attrs, qops.QWindowDot.Inputs(*names))


@WIDE_CONVERTERS.entry(ops.Unary)
def unary(c: Conversion) -> None:
    """LeakyRelu to QPRelu with slopes of 1 or -1; other functions by tables."""
    attrs = c.node.attrs_as(ops.Unary)
    if attrs.kind is not UnaryKind.LEAKY_RELU:
        elementwise.table(c)
        return
    x = c.widened(c.node.input)
    rectifier, slope = leaky_relu(attrs.alpha, x, c.end)
    slopes = np.full(c.graph.shape(c.node.input)[-1:], slope, np.int16)
    c.emit(rectifier, qops.QPRelu.Inputs(x.name, c.constant("slope", slopes)))


@WIDE_CHECKS.entry(ops.Conv, ops.ConvTranspose, ops.Gemm, ops.AveragePool, ops.Clip, ops.Unary)
def any_types(_c: FileConversion) -> None:
    """Operators whose rules check the types."""


@WIDE_CHECKS.entry(ops.Reshape, ops.Transpose, ops.Slice, ops.Concat, ops.MaxPool, ops.Pad)
@WIDE_CHECKS.entry(ops.Maximum, ops.Minimum)
@WIDE_CHECKS.entry(ops.TurnSlice, ops.TurnStack, ops.TurnLast, ops.Carry, ops.Update)
def moved(c: FileConversion) -> None:
    """Operators that move or choose codes of one scale; kernels pad with bytes of 0."""
    match c.node.attrs:
        case ops.Pad(mode=PadMode.CONSTANT, value=value) if value != 0:
            raise c.error("it pads with another number than 0")
    for name in c.node.inputs:
        if c.operand(name).quant != c.y:
            raise c.error(f"the scale of its operand {name!r} is not that of its output")


@WIDE_CHECKS.entry(ops.Mul)
def multiplied(c: FileConversion) -> None:
    """Products of int16 tensors; TensorFlow Lite Micro has those that are int8, too."""
    if any(c.operand(name).dtype is not DType.INT16 for name in c.node.inputs):
        raise c.error("it multiplies int8 and int16 tensors")


@WIDE_CHECKS.entry(ops.Add, ops.Sub, ops.MatMul, ops.Softmax)
def all_int16(c: FileConversion) -> None:
    """Functions of int16 tensors."""
    for name in c.node.inputs:
        c.widened(name)


@WIDE_CHECKS.entry(ops.Reduce)
def reduced(c: FileConversion) -> None:
    """Means and sums, and the largest or smallest element."""
    kind = c.node.attrs_as(ops.Reduce).kind
    if kind.selects:
        moved(c)
    elif kind in (ops.ReduceKind.MEAN, ops.ReduceKind.SUM):
        all_int16(c)
    else:
        raise c.error(f"{kind.value} of 16-bit tensors is not supported")
