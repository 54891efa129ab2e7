"""Converters of operators that take int8 and int16 tensors; all others read int8 copies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN, INT32_MAX, round_half_up, saturate
from edgec.floatrun.tabled import unary_function
from edgec.ir import ops, qops
from edgec.ir.operator_table import OperatorTable
from edgec.ir.ops.unary import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.quant.convert import elementwise, move, norm
from edgec.quant.convert.mixed.context import LayerSums, MixedConversion

MixedConverter: TypeAlias = Callable[[MixedConversion], bool]
"""As a `Converter`; False where it leaves the node to the one for int8 copies."""
MIXED_CONVERTERS = OperatorTable[MixedConverter]()
_MOST_SHIFT = 30


def reads16(c: MixedConversion) -> bool:
    """Whether all operands of an operator that moves codes have the int16 codes of its output."""
    found = [c.codes16(name) for name in c.node.inputs if name not in c.graph.constants]
    return c.y.dtype is DType.INT16 and all(x is not None and x.quant == c.y for x in found)


@MIXED_CONVERTERS.entry(ops.Conv)
def conv(c: MixedConversion) -> bool:
    """Conv to QMixedConv."""
    attrs, real = c.node.attrs_as(ops.Conv), ops.layer_inputs(c.node)
    sums, reach = c.sums(real), c.reach_of(real.x)
    output, *numbers = _layer(c, sums, reach)
    window = attrs.strides, attrs.pads, attrs.dilations, attrs.group
    integer = qops.QMixedConv(*window, output, reach)
    c.emit(integer, qops.QMixedConv.Inputs(sums.x.name, sums.weight, *numbers))
    return True


@MIXED_CONVERTERS.entry(ops.Gemm)
def gemm(c: MixedConversion) -> bool:
    """Gemm to QMixedConv of one row of pixels."""
    real = ops.layer_inputs(c.node)
    sums, reach = c.sums(real), c.reach_of(real.x)
    output, *numbers = _layer(c, sums, reach)
    shape, weight = c.graph.shape(real.x), c.builder.constants[sums.weight].array
    rows, units = math.prod(shape[:-1]), len(weight)
    taps = c.constant("weight", weight.reshape(units, 1, 1, -1))
    x = c.reshaped(sums.x.name, (1, 1, rows, shape[-1]))
    integer = qops.QMixedConv((1, 1), (0, 0, 0, 0), (1, 1), 1, output, reach)
    inputs = qops.QMixedConv.Inputs(x, taps, *numbers)
    made = c.intermediate(integer, inputs, (1, 1, rows, units))
    c.emit(qops.QReshape(c.output_shape), qops.QReshape.Inputs(made))
    return True


def _layer(c: MixedConversion, found: LayerSums, reach: int) -> tuple[qops.Requant31, str, str]:
    """The end of a layer, and its biases and multipliers."""
    weight = c.builder.constants[found.weight].array
    rows = np.abs(weight.astype(np.float64)).reshape(len(weight), -1).sum(axis=1)
    bound = float((rows * reach + np.abs(found.bias)).max())
    requant = c.requant31(found.scale * found.x.scale / c.y.tensor_scale, bound)
    bias, multiplier = c.int32("bias", found.bias), c.constant("multiplier", requant.multiplier)
    return c.form31(requant.shift), bias, multiplier


@MIXED_CONVERTERS.entry(ops.Add, ops.Sub)
def add(c: MixedConversion) -> bool:
    """Add and Sub to QMixedAdd."""
    real = ops.Arithmetic.Inputs.of(c.node.inputs)
    a, b, y = c.operand(real.a), c.operand(real.b), c.y
    sign = -1 if isinstance(c.node.attrs, ops.Sub) else 1
    factors = np.array([a.scale, b.scale]) / y.tensor_scale
    spans = [INT16_MAX + 1 if x.params.dtype is DType.INT16 else 256 for x in (a, b)]
    first, second, shift = _sum_multipliers(c, factors, spans)
    integer = qops.QMixedAdd(
        first, sign * second, shift, y.tensor_zero_point, *c.act_bounds, y.dtype
    )
    c.emit(integer, qops.QMixedAdd.Inputs(a.name, b.name))
    return True


def _sum_multipliers(c: MixedConversion, factors: Array, spans: list[int]) -> tuple[int, int, int]:
    """Multipliers and shift of a sum: the largest shift whose sums fit int32."""
    for shift in range(_MOST_SHIFT, 0, -1):
        a, b = (int(m) for m in round_half_up(np.minimum(factors * 2.0**shift, 2.0**40)))
        if spans[0] * a + spans[1] * b + 2 ** (shift - 1) <= INT32_MAX:
            return a, b, shift
    c.check_bound(float("inf"))
    raise AssertionError


@MIXED_CONVERTERS.entry(ops.Mul)
def mul(c: MixedConversion) -> bool:
    """Mul to QMixedMul."""
    real = ops.Mul.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    end = c.single31(a.scale * b.scale / c.y.tensor_scale, float(a.span * b.span))
    assert isinstance(end.form, qops.Requant31)
    c.emit(qops.QMixedMul(end.form, end.multiplier), qops.QMixedMul.Inputs(a.name, b.name))
    return True


@MIXED_CONVERTERS.entry(ops.MatMul)
def matmul(c: MixedConversion) -> bool:
    """MatMul to QMixedMatMul."""
    attrs = c.node.attrs_as(ops.MatMul)
    real = attrs.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    reaches = c.reach_of(real.a), c.reach_of(real.b)
    terms = attrs.terms(attrs.Inputs.of(c.graph.shapes(c.node)))
    factor = a.scale * b.scale / c.y.tensor_scale * attrs.scale
    end = c.single31(factor, float(math.prod(reaches) * terms))
    assert isinstance(end.form, qops.Requant31)
    transposes = attrs.transpose_a, attrs.transpose_b
    integer = qops.QMixedMatMul(end.form, end.multiplier, *reaches, *transposes)
    c.emit(integer, qops.QMixedMatMul.Inputs(a.name, b.name))
    return True


@MIXED_CONVERTERS.entry(ops.Div)
def div(c: MixedConversion) -> bool:
    """Div to QMixedDiv."""
    real = ops.Div.Inputs.of(c.node.inputs)
    a, b = c.operand(real.a), c.operand(real.b)
    factor = a.scale / b.scale / c.y.tensor_scale
    bits = qops.MIXED_FACTOR_BITS
    shift = bits - math.frexp(factor)[1]
    if round_half_up(factor * 2.0**shift) >> bits:
        shift -= 1
    right = min(max(shift, 0), bits)
    left = max(-shift, 0)
    if left > bits:
        return False
    multiplier = max(int(round_half_up(factor * 2.0 ** (right - left))), 1)
    attrs = qops.QMixedDiv(multiplier, left, right, c.y.tensor_zero_point, *c.act_bounds, c.y.dtype)
    c.emit(attrs, qops.QMixedDiv.Inputs(a.name, b.name))
    return True


@MIXED_CONVERTERS.entry(ops.AveragePool)
def average_pool(c: MixedConversion) -> bool:
    """AveragePool to QMixedAverage."""
    attrs, x = c.node.attrs_as(ops.AveragePool), c.operand(c.node.input)
    taps = math.prod(attrs.kernel)
    factor = x.scale / c.y.tensor_scale
    factors = np.concatenate([[0.0], factor / np.arange(1, taps + 1)])
    requant = c.requant31(factors, float(x.span * taps))
    window = attrs.kernel, attrs.strides, attrs.pads, attrs.dilations
    integer = qops.QMixedAverage(*window, attrs.count_include_pad, c.form31(requant.shift))
    multiplier = c.constant("multiplier", requant.multiplier)
    c.emit(integer, qops.QMixedAverage.Inputs(x.name, multiplier))
    return True


@MIXED_CONVERTERS.entry(ops.Reduce)
def reduce(c: MixedConversion) -> bool:
    """Reduce to QReduce: means and sums; everything else from int8 copies."""
    kind = c.node.attrs_as(ops.Reduce).kind
    if kind not in (ops.ReduceKind.MEAN, ops.ReduceKind.SUM):
        return False
    elementwise.reduce(c)
    return True


@MIXED_CONVERTERS.entry(ops.LayerNormalization, ops.RMSNormalization)
def normed(c: MixedConversion) -> bool:
    """Norms to QNorm."""
    norm.norm(c)
    return True


@MIXED_CONVERTERS.entry(ops.Reshape, ops.Transpose, ops.Slice)
def moved(c: MixedConversion) -> bool:
    """Operators that move codes."""
    if not reads16(c):
        return False
    move.CONVERTERS[type(c.node.attrs)](c)
    return True


@MIXED_CONVERTERS.entry(ops.Resize)
def resize(c: MixedConversion) -> bool:
    """Resize by the nearest pixel to QResizeNearest; in lines from int8 copies."""
    if c.node.attrs_as(ops.Resize).mode is not ops.ResizeMode.NEAREST or not reads16(c):
        return False
    move.resize(c)
    return True


@MIXED_CONVERTERS.entry(ops.Concat)
def concat(c: MixedConversion) -> bool:
    """Concat to QConcat; constants get the codes of the output."""
    if not reads16(c):
        return False
    attrs = c.node.attrs_as(ops.Concat)
    parts = tuple(
        c.constant16(name) if name in c.graph.constants else c.operand(name).name
        for name in attrs.Inputs.of(c.node.inputs).parts
    )
    c.emit(qops.QConcat(attrs.axis), qops.QConcat.Inputs(parts))
    return True


@MIXED_CONVERTERS.entry(ops.MaxPool)
def max_pool(c: MixedConversion) -> bool:
    """MaxPool to QMaxPool."""
    if not reads16(c):
        return False
    elementwise.max_pool(c)
    return True


@MIXED_CONVERTERS.entry(ops.Pad)
def pad(c: MixedConversion) -> bool:
    """Pad to QPad; kernels fill bytes, so the value of int16 is 0."""
    attrs = c.node.attrs_as(ops.Pad)
    zero = attrs.mode is not ops.PadMode.CONSTANT or attrs.value == 0
    if not (zero and reads16(c)):
        return False
    value = 0
    c.emit(qops.QPad(attrs.pads, attrs.mode, value), qops.QPad.Inputs(c.operand(c.node.input).name))
    return True


@MIXED_CONVERTERS.entry(ops.Clip)
def clip(c: MixedConversion) -> bool:
    """Clip where no operator absorbs it to QRescale."""
    attrs = c.node.attrs_as(ops.Clip)
    _rescaled(c, c.bounds_of(attrs.low, attrs.high))
    return True


def _rescaled(c: MixedConversion, bounds: tuple[int, int]) -> None:
    x = c.operand(c.node.input)
    factor = x.scale / c.y.tensor_scale
    bias = x.zero_point
    end = c.rescale(factor, float(x.span + abs(bias)), c.y, bounds)
    assert isinstance(end.form, qops.Rescale16x15)
    c.emit(qops.QRescale(end.form, end.multiplier, end.bias - bias), qops.QRescale.Inputs(x.name))


@MIXED_CONVERTERS.entry(ops.Unary)
def unary(c: MixedConversion) -> bool:
    """Functions of one variable to QMixedTable, changes of scale to QRescale."""
    attrs = c.node.attrs_as(ops.Unary)
    if attrs.kind is UnaryKind.NOT:
        return False
    if attrs.kind is UnaryKind.IDENTITY:
        _rescaled(c, c.act_bounds)
    else:
        x = c.widened(c.node.input)
        fine = 0 if c.y.dtype is DType.INT16 else _FINE_INT8
        entries = c.constant("table", table16(attrs, x.scale, c.y, fine))
        integer = qops.QMixedTable(fine, c.y.tensor_zero_point, *c.act_bounds, c.y.dtype)
        c.emit(integer, qops.QMixedTable.Inputs(x.name, entries))
    return True


_FINE_INT8 = 7
"""More bits of the entries of a table for int8: |q - zero point| <= 255 is below 2^15 with them."""


def table16(attrs: ops.Unary, scale: float, y: QuantParams, fine: int) -> Array:
    """Table of `QMixedTable`: the function at every 128th code; int16 [513].

    The last entry is that of the code 32768, which only the line to it needs.
    """
    codes = np.arange(qops.MIXED_TABLE_ENTRIES, dtype=np.float64) * 2.0**qops.MIXED_STEP_BITS
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        real = unary_function(attrs)((codes - 2.0**15) * scale)
        steps = np.nan_to_num(real, nan=0.0) * (2.0**fine / y.tensor_scale)
    whole = round_half_up(np.clip(steps, -(2.0**31), 2.0**31))
    return saturate(whole, INT16_MIN, INT16_MAX).astype(np.int16)
