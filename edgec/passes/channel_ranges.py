"""Interval of codes that each channel of each value can take, for any input; exact arithmetic.

Codes are int8 or int16.  A channel is a position along the last axis.  Intervals run forward
through the integer operators: accumulators by the sign of the weights, clamps and requantizations
at both ends (they are monotone).  A channel whose interval is a single code is constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import rshr, saturate
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import PadMode, ReduceKind
from edgec.ir.qops.base import LIMITS
from edgec.ir.weighted import (
    POOLED,
    code_bounds,
    layer_inputs,
    pooled_attrs,
    residual_of,
    unpooled,
    weighted_inputs,
    weights_of,
)


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """Bounds of the codes of each channel: int64 [C] each, both inclusive."""

    low: Array
    high: Array

    @property
    def constant(self) -> Array:
        """Channels that hold one code; bool [C]."""
        return np.asarray(self.low == self.high)


def full_range(channels: int, dtype: DType = DType.INT8) -> Range:
    """Any code of a type, int8 or int16, in every channel."""
    low, high = LIMITS[dtype]
    return Range(np.full(channels, low, np.int64), np.full(channels, high, np.int64))


def channel_ranges(graph: Graph) -> dict[str, Range]:
    """The range of every value of int8 or int16 codes of an integer graph."""
    ranges: dict[str, Range] = {}
    for name in graph.inputs:
        dtype = graph.values[name].dtype
        if dtype in LIMITS:
            ranges[name] = full_range(channels_of(graph, name), dtype)
    for node in graph.nodes:
        if graph.values[node.output].dtype not in LIMITS:
            continue
        # An operator that reads values without a range may give any code.
        known = all(name in ranges for name in node.inputs if name in graph.values)
        rule = _RULES.get(type(node.attrs), _any_code) if known else _any_code
        ranges[node.output] = rule(graph, node, ranges)
    return ranges


def taps_outside(
    size: int, kernel: int, stride: int, dilation: int, before: int, outputs: int
) -> tuple[Array, Array]:
    """For each tap of a window along one axis: is it ever inside the image, is it ever outside?"""
    starts = np.arange(outputs)[:, None] * stride - before
    positions = starts + np.arange(kernel)[None, :] * dilation
    inside = (positions >= 0) & (positions < size)
    return np.any(inside, axis=0), np.any(~inside, axis=0)


def conv_taps(graph: Graph, node: Node) -> tuple[Array, Array]:
    """`taps_outside` for a QConv or QPooledConv: two bool arrays [KH, KW]."""
    attrs = unpooled(node.attrs)
    inputs = weighted_inputs(node)
    _, h, w, _ = graph.shape(inputs.x)
    _, kh, kw, _ = graph.shape(inputs.rows)
    _, oh, ow, _ = graph.shape(node.output)
    rows = taps_outside(h, kh, attrs.strides[0], attrs.dilations[0], attrs.pads[0], oh)
    cols = taps_outside(w, kw, attrs.strides[1], attrs.dilations[1], attrs.pads[1], ow)
    return rows[0][:, None] & cols[0][None, :], rows[1][:, None] | cols[1][None, :]


def channels_of(graph: Graph, name: str) -> int:
    """Size of the last axis; a scalar has one channel."""
    shape = graph.shape(name)
    return shape[-1] if shape else 1


def _zero_point(graph: Graph, name: str) -> int:
    return graph.quant(name).tensor_zero_point


Ranges = Mapping[str, Range]


def _any_code(graph: Graph, node: Node, _ranges: Ranges) -> Range:
    low, high = (
        code_bounds(residual_of(node.attrs) or node.attrs)
        or LIMITS[graph.values[node.output].dtype]
    )
    channels = channels_of(graph, node.output)
    return Range(np.full(channels, low, np.int64), np.full(channels, high, np.int64))


def _operand(graph: Graph, name: str, ranges: Ranges, channels: int) -> Range:
    """Range of a value or constant, broadcast to `channels`."""
    if name in graph.constants:
        codes = np.atleast_1d(graph.constants[name].array.astype(np.int64))
        rows = codes.reshape(-1, codes.shape[-1])
        found = Range(rows.min(axis=0), rows.max(axis=0))
    else:
        found = ranges[name]
    return Range(np.broadcast_to(found.low, channels), np.broadcast_to(found.high, channels))


def _ends(first: Array, second: Array) -> Range:
    return Range(np.minimum(first, second), np.maximum(first, second))


def _clamped(form: qops.Monotone31, ends: Range) -> Range:
    """The codes of a range that is scaled already."""
    return Range(saturate(ends.low, form.low, form.high), saturate(ends.high, form.low, form.high))


def _requantized(form: qops.Monotone31, low: Array, high: Array, multiplier: Array | int) -> Range:
    """The codes of accumulators between two bounds: requantization is monotone."""
    ends = _ends(form.scaled(low, multiplier), form.scaled(high, multiplier))
    return _clamped(form, ends)


def _centred(x: Range, zero_point: int, reach: int) -> Range:
    """Codes less their zero point; a layer that reads int16 relies on it that none is beyond."""
    return Range(*(np.clip(end - zero_point, -reach, reach) for end in (x.low, x.high)))


def _products(weight: Array | int, x: Range) -> Range:
    """Bounds of ``weight * x`` elementwise."""
    return _ends(weight * x.low, weight * x.high)


def _accumulated(graph: Graph, node: Node, terms: Range, form: qops.Monotone31) -> Range:
    """Bias and requantization of a weighted operator; `terms` are its products [O, ...]."""
    inputs = weighted_inputs(node)
    bias = graph.constants[inputs.b].array.astype(np.int64)
    multiplier = graph.constants[inputs.multiplier].array
    axes = tuple(range(1, terms.low.ndim))
    low, high = (bias + bound.sum(axis=axes) for bound in (terms.low, terms.high))
    return _requantized(form, low, high, multiplier)


def _conv(graph: Graph, node: Node, ranges: Ranges) -> Range:
    attrs = unpooled(node.attrs)
    if not isinstance(attrs.output, qops.Monotone31):
        return _any_code(graph, node, ranges)
    weight = weights_of(graph, node).astype(np.int64)
    outputs, _, _, inputs = weight.shape
    x = _centred(ranges[node.first], _zero_point(graph, node.first), attrs.reach)
    # [O, 1, 1, I/group]: the range of the input channel that each weight meets.
    low, high = (
        np.repeat(bound.reshape(attrs.group, inputs), outputs // attrs.group, axis=0)
        for bound in (x.low, x.high)
    )
    terms = _products(weight, Range(low[:, None, None, :], high[:, None, None, :]))
    if isinstance(attrs, qops.QConv):
        inside, outside = conv_taps(graph, node)
    else:
        inside = outside = np.ones(weight.shape[1:3], bool)
    terms = _with_padding(terms, inside[None, :, :, None], outside[None, :, :, None])
    result = _accumulated(graph, node, terms, attrs.output)
    added = layer_inputs(node).residual if isinstance(attrs, qops.QConv) else None
    if added is not None and isinstance(attrs.residual, qops.AddParams):
        return _sum(attrs.residual, result, _operand(graph, added, ranges, outputs))
    return result


def _with_padding(terms: Range, inside: Array, outside: Array) -> Range:
    """Taps that may fall outside the image may contribute nothing instead."""
    low = np.where(inside, np.where(outside, np.minimum(terms.low, 0), terms.low), 0)
    high = np.where(inside, np.where(outside, np.maximum(terms.high, 0), terms.high), 0)
    return Range(low, high)


def _gemm(graph: Graph, node: Node, ranges: Ranges) -> Range:
    attrs = unpooled(node.attrs)
    if not isinstance(attrs.output, qops.Monotone31) or attrs.raw or attrs.residual is not None:
        return _any_code(graph, node, ranges)
    weight = weights_of(graph, node).astype(np.int64)
    x = _centred(ranges[node.first], _zero_point(graph, node.first), attrs.reach)
    return _accumulated(graph, node, _products(weight, x), attrs.output)


def _pooled(graph: Graph, node: Node, ranges: Ranges) -> Range:
    attrs = pooled_attrs(node)
    if attrs.rounding != qops.PoolRounding():
        return _any_code(graph, node, ranges)
    # Then it computes what the plain operator does on the expanded weights.
    return (_conv if isinstance(attrs, qops.QPooledConv) else _gemm)(graph, node, ranges)


def _sum(form: qops.AddParams | qops.TfliteSum, a: Range, b: Range) -> Range:
    if isinstance(form, qops.TfliteSum):
        ends = (b.high, b.low) if form.subtracts else (b.low, b.high)
        low, high = form.apply(a.low, ends[0]), form.apply(a.high, ends[1])
        return Range(low.astype(np.int64), high.astype(np.int64))
    first = _products(
        form.a_multiplier,
        Range(a.low - form.a_zero_point, a.high - form.a_zero_point),
    )
    second = _products(
        form.b_multiplier,
        Range(b.low - form.b_zero_point, b.high - form.b_zero_point),
    )
    low, high = (
        saturate(form.y_zero_point + rshr(total, form.shift), form.low, form.high)
        for total in (first.low + second.low, first.high + second.high)
    )
    return Range(low, high)


def _add(graph: Graph, node: Node, ranges: Ranges) -> Range:
    inputs, channels = qops.QAdd.Inputs.of(node.inputs), channels_of(graph, node.output)
    a, b = (_operand(graph, name, ranges, channels) for name in (inputs.a, inputs.b))
    form = node.attrs_as(qops.QAdd).form
    return _any_code(graph, node, ranges) if isinstance(form, qops.CodeSum) else _sum(form, a, b)


def _mul(graph: Graph, node: Node, ranges: Ranges) -> Range:
    attrs, channels = node.attrs_as(qops.QMul), channels_of(graph, node.output)
    form = attrs.output
    if not isinstance(form, qops.Monotone31):
        return _any_code(graph, node, ranges)
    inputs = qops.QMul.Inputs.of(node.inputs)
    a, b = (_operand(graph, name, ranges, channels) for name in (inputs.a, inputs.b))
    za, zb = _zero_point(graph, inputs.a), _zero_point(graph, inputs.b)
    corners = [
        form.scaled((x - za) * (y - zb), attrs.multiplier)
        for x in (a.low, a.high)
        for y in (b.low, b.high)
    ]
    return _clamped(form, Range(np.min(corners, axis=0), np.max(corners, axis=0)))


def _lut(graph: Graph, node: Node, ranges: Ranges) -> Range:
    rule, inputs = node.attrs_as(qops.QLut).rule, qops.QLut.Inputs.of(node.inputs)
    least, most = LIMITS[rule.X]
    entries = graph.constants[inputs.table].array.astype(np.int64)
    function = rule.apply(np.arange(least, most + 1), entries)
    x = ranges[inputs.x]
    # Many channels share a range, most of them the whole of their type.
    pairs, of = np.unique(np.stack((x.low, x.high)), axis=1, return_inverse=True)
    parts = [function[low - least : high - least + 1] for low, high in pairs.T]
    low, high = (np.array([end(part) for part in parts], np.int64) for end in (np.min, np.max))
    return Range(low[of.ravel()], high[of.ravel()])


def _prelu(graph: Graph, node: Node, ranges: Ranges) -> Range:
    attrs, inputs = node.attrs_as(qops.QPRelu), qops.QPRelu.Inputs.of(node.inputs)
    slope = graph.constants[inputs.slope].array.astype(np.int64)
    x, zero = ranges[inputs.x], _zero_point(graph, inputs.x)
    # Either side of the zero point is monotone.
    middle = (np.clip(zero + side, x.low, x.high) for side in (-1, 0))
    ends = [attrs.apply(codes - zero, slope) for codes in (x.low, *middle, x.high)]
    return Range(np.min(ends, axis=0).astype(np.int64), np.max(ends, axis=0).astype(np.int64))


def _rescale(graph: Graph, node: Node, ranges: Ranges) -> Range:
    attrs = node.attrs_as(qops.QRescale)
    if not isinstance(attrs.output, qops.Monotone31):
        return _any_code(graph, node, ranges)
    x = ranges[node.first]
    return _requantized(attrs.output, x.low + attrs.bias, x.high + attrs.bias, attrs.multiplier)


def _average(graph: Graph, node: Node, ranges: Ranges) -> Range:
    attrs, inputs = node.attrs_as(qops.QAveragePool), qops.QAveragePool.Inputs.of(node.inputs)
    x = ranges[inputs.x]
    form = attrs.output
    if isinstance(form, qops.CodeMean):
        return Range(*(saturate(end, form.low, form.high) for end in (x.low, x.high)))
    assert inputs.multiplier is not None
    multiplier = graph.constants[inputs.multiplier].array.astype(np.int64)
    zero, taps = _zero_point(graph, inputs.x), len(multiplier) - 1
    ends = []
    for count in range(0 if any(attrs.pads) else taps, taps + 1):
        factor = multiplier[taps if attrs.count_include_pad else count]
        ends += [form.scaled(count * (bound - zero), factor) for bound in (x.low, x.high)]
    return _clamped(form, Range(np.min(ends, axis=0), np.max(ends, axis=0)))


def _reduce(graph: Graph, node: Node, ranges: Ranges) -> Range:
    attrs, shape = node.attrs_as(qops.QReduce), graph.shape(node.input)
    form = attrs.output
    sums = attrs.kind.selects or attrs.kind in (ReduceKind.MEAN, ReduceKind.SUM)
    if len(shape) - 1 in attrs.axes or isinstance(form, qops.Rescale16x15) or not sums:
        return _any_code(graph, node, ranges)
    x = ranges[node.input]
    if form is None:
        return x
    count = int(np.prod([shape[axis] for axis in attrs.axes]))
    zero = _zero_point(graph, node.input)
    low, high = count * (x.low - zero), count * (x.high - zero)
    return _requantized(form, low, high, attrs.multiplier)


def _same(_graph: Graph, node: Node, ranges: Ranges) -> Range:
    return ranges[node.first]


def _moved(graph: Graph, node: Node, ranges: Ranges) -> Range:
    """Movement of codes: move the bounds themselves, then take extremes over all but channels."""
    bounds = []
    for side in ("low", "high"):
        inputs = [_bound_tensor(graph, name, ranges, side) for name in node.inputs]
        moved = _move(node.attrs, inputs)
        rows = moved.reshape(-1, moved.shape[-1]) if moved.ndim else moved.reshape(1, 1)
        bounds.append(rows.min(axis=0) if side == "low" else rows.max(axis=0))
    return Range(bounds[0], bounds[1])


def _bound_tensor(graph: Graph, name: str, ranges: Ranges, side: str) -> Array:
    if name in graph.constants:
        return graph.constants[name].array.astype(np.int64)
    bound, shape = getattr(ranges[name], side), graph.shape(name)
    return np.broadcast_to(bound, shape) if shape else bound.reshape(())


def _move(attrs: Any, inputs: list[Array]) -> Array:
    match attrs:
        case qops.QReshape():
            return inputs[0].reshape(attrs.shape)
        case qops.QTranspose():
            return inputs[0].transpose(attrs.perm)
        case qops.QConcat():
            return np.concatenate(inputs, axis=attrs.axis)
        case qops.QSlice():
            ranges = zip(attrs.starts, attrs.steps, attrs.sizes, strict=True)
            return inputs[0][np.ix_(*(a + s * np.arange(n) for a, s, n in ranges))]
        case qops.QPad() if attrs.mode is PadMode.CONSTANT:
            return np.pad(inputs[0], attrs.pads, constant_values=attrs.value)
        case _:
            return np.pad(inputs[0], attrs.pads, mode=attrs.mode.value)


Rule = Callable[[Graph, Node, Ranges], Range]

_RULES: Mapping[type, Rule] = MappingProxyType(
    {
        qops.QConv: _conv,
        qops.QConvTranspose: _conv,
        qops.QGemm: _gemm,
        **dict.fromkeys(POOLED, _pooled),
        qops.QAdd: _add,
        qops.QMul: _mul,
        qops.QLut: _lut,
        qops.QPRelu: _prelu,
        qops.QRescale: _rescale,
        qops.QAveragePool: _average,
        qops.QReduce: _reduce,
        qops.QMaxPool: _same,
        qops.QResizeNearest: _same,
        qops.QResizeLinear: _same,
        qops.QReshape: _moved,
        qops.QTranspose: _moved,
        qops.QConcat: _moved,
        qops.QSlice: _moved,
        qops.QPad: _moved,
    }
)
