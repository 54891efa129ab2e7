"""Output shapes and multiply-accumulates of every operator, real and integer.

One small rule per operator family; real and integer forms of an operator share theirs because they
share the names of their attributes.  An absent optional input has the shape None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from edgec.base.errors import ImportModelError, InternalError
from edgec.ir import ops, qops
from edgec.ir import qops_transformer as qt
from edgec.ir.graph import Graph, Node
from edgec.ir.operator import Operator, Shape
from edgec.ir.shapes import (
    Pads2D,
    Pair,
    broadcast,
    window_out,
)

_NARROW = qt.QGemm16x15 | qt.QConv16x15

Rule = Callable[[Any, Sequence[Shape]], Shape]


def infer_shapes(attrs: Any, input_shapes: Sequence[Shape | None]) -> tuple[Shape, ...]:
    """Shapes of the outputs of an operator.

    Args:
        attrs: an instance of a class of `ir.ops` or `ir.qops`.
        input_shapes: one per input, constants included; None for an absent optional input.

    Raises:
        ImportModelError: the operator cannot take inputs of these shapes.
        InternalError: no such operator.
    """
    if not isinstance(attrs, Operator):
        raise InternalError(f"{type(attrs).__name__} is no operator")
    rule = None if isinstance(attrs, qops.IntegerOperator) else _RULES.get(type(attrs))
    try:
        if rule is None:
            return (attrs.infer_shape(attrs.Inputs.of(input_shapes)),)
        return (rule(attrs, [shape or () for shape in input_shapes]),)
    except IndexError as error:
        raise _impossible(attrs, input_shapes, "too few inputs or dimensions") from error
    except ValueError as error:
        raise _impossible(attrs, input_shapes, str(error)) from error


def macs(graph: Graph, node: Node) -> int:
    """Multiply-accumulates of a node; padding taps count, as in MLPerf's figures.

    Zero for everything but Conv, ConvTranspose, Gemm and their integer forms, MatMul and Attention.
    """
    attrs = node.attrs
    if isinstance(attrs, qops.IntegerOperator):
        return attrs.macs(attrs.Inputs.of(graph.shapes(node)), graph.shape(node.output))
    if isinstance(attrs, ops.MatMul | qt.QMatMul16x15):
        inner = graph.shape(node.inputs[0])[-2 if attrs.transpose_a else -1]
        return math.prod(graph.shape(node.output)) * inner
    if isinstance(attrs, ops.Attention):
        # Each query meets each key, and each key's weight the value.
        q, k, v = (graph.shape(name) for name in node.inputs[:3])
        return math.prod(q[:-1]) * k[-2] * (q[-1] + v[-1])
    if isinstance(attrs, qt.QAttention):
        queries, keys = math.prod(graph.shape(node.inputs[0])[:-1]), graph.shape(node.inputs[1])[-2]
        return queries * keys * attrs.heads * (attrs.width + attrs.value_width)
    if isinstance(attrs, ops.Conv | qops.QConv | ops.Gemm | qops.QGemm | _NARROW):
        # Each output element reads one row of weights.
        weights_per_output = math.prod(graph.shape(node.inputs[1])[1:])
        return math.prod(graph.shape(node.output)) * weights_per_output
    if isinstance(attrs, qops.QPooledConv | qops.QPooledGemm):
        taps = math.prod(graph.shape(node.inputs[2])[1:-1])
        return math.prod(graph.shape(node.output)) * taps * graph.shape(node.inputs[0])[-1]
    if isinstance(attrs, ops.ConvTranspose | qops.QConvTranspose):
        # Each input position meets every weight of its group.
        n, h, w, _ = graph.shape(node.inputs[0])
        return n * h * w * math.prod(graph.shape(node.inputs[1]))
    return 0


def total_macs(graph: Graph) -> int:
    """Multiply-accumulates of one inference."""
    return sum(macs(graph, node) for node in graph.nodes)


def _impossible(attrs: Any, shapes: Sequence[Shape | None], why: str) -> ImportModelError:
    return ImportModelError(
        f"{type(attrs).__name__} cannot take inputs of shapes {list(shapes)}: {why}"
    )


def _need(condition: bool, why: str) -> None:
    if not condition:
        raise ValueError(why)


def _window(h: int, w: int, kernel: Pair, attrs: Any) -> Pair:
    """Output height and width of a window operator (Conv and pooling)."""
    pads: Pads2D = attrs.pads
    _need(min(*kernel, *attrs.strides, *attrs.dilations) > 0, "zero kernel, stride or dilation")
    _need(min(pads) >= 0, "negative padding")
    return (
        window_out(h, kernel[0], attrs.strides[0], attrs.dilations[0], pads[0], pads[2]),
        window_out(w, kernel[1], attrs.strides[1], attrs.dilations[1], pads[1], pads[3]),
    )


def _check_conv_inputs(attrs: Any, shapes: Sequence[Shape]) -> None:
    x, weight = shapes[0], shapes[1]
    _need(len(x) == 4 and len(weight) == 4, "x and weight must have four dimensions")
    _need(attrs.group >= 1 and weight[0] % attrs.group == 0, "group does not divide the outputs")
    _need(weight[3] * attrs.group == x[3], "weights and input disagree about channels")
    _need(min(weight) > 0, "empty weight")
    for per_channel in shapes[2:4]:
        _need(per_channel in ((), (weight[0],)), "bias or multiplier is not [O]")


def _conv(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    _check_conv_inputs(attrs, shapes)
    (n, h, w, _), (o, kh, kw, _) = shapes[0], shapes[1]
    y = (n, *_window(h, w, (kh, kw), attrs), o)
    if len(shapes) > 4:
        _need(shapes[4] == y, "residual and output differ in shape")
    return y


def _conv_transpose(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    _check_conv_inputs(attrs, shapes)
    (n, h, w, _), (o, *kernel, _) = shapes[0], shapes[1]
    pads: Pads2D = attrs.pads
    out = tuple(
        (size - 1) * attrs.strides[i]
        + (kernel[i] - 1) * attrs.dilations[i]
        + 1
        + attrs.output_padding[i]
        - pads[i]
        - pads[i + 2]
        for i, size in enumerate((h, w))
    )
    _need(min(out) > 0, "the output is empty")
    return (n, *out, o)


def _gemm(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    x, weight = shapes[0], shapes[1]
    _need(len(x) >= 1 and len(weight) == 2, "weight must be [N, K]")
    _need(x[-1] == weight[1], "x and weight disagree about K")
    for per_channel in shapes[2:4]:
        _need(per_channel in ((), (weight[0],)), "bias or multiplier is not [N]")
    return (*x[:-1], weight[0])


def _binary(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    return broadcast(shapes[0], shapes[1])


def _same(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    return shapes[0]


def _per_channel(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    """PRelu and BatchNormalization: every further input is [C] (or [1])."""
    channels = shapes[0][-1]
    _need(all(s in ((channels,), (1,)) for s in shapes[1:]), "a parameter is not [C]")
    return shapes[0]


def _pool(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    _need(len(shapes[0]) == 4, "x must have four dimensions")
    n, h, w, c = shapes[0]
    return (n, *_window(h, w, attrs.kernel, attrs), c)


def _axes_removed(shape: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    _need(all(0 <= axis < len(shape) for axis in axes), "axis out of range")
    if keepdims:
        return tuple(1 if i in axes else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def _reduce(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    _need(bool(attrs.axes), "no axes")
    return _axes_removed(shapes[0], attrs.axes, attrs.keepdims)


def _argmax(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    return _axes_removed(shapes[0], (attrs.axis,), attrs.keepdims)


def _reshape(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    _need(math.prod(attrs.shape) == math.prod(shapes[0]), "the number of elements changes")
    return tuple(attrs.shape)


def _transpose(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    _need(sorted(attrs.perm) == list(range(len(shapes[0]))), "perm is not a permutation")
    return tuple(shapes[0][axis] for axis in attrs.perm)


def _slice(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    ranges = (attrs.starts, attrs.steps, attrs.sizes)
    _need(all(len(r) == len(shapes[0]) for r in ranges), "one range per axis is needed")
    for size, start, step, count in zip(shapes[0], *ranges, strict=True):
        last = start + (count - 1) * step
        _need(count > 0 and 0 <= start < size and 0 <= last < size, "range outside the tensor")
    return tuple(attrs.sizes)


def _concat(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    axis, first = attrs.axis, shapes[0]
    _need(0 <= axis < len(first), "axis out of range")
    rest = [(*s[:axis], *s[axis + 1 :]) for s in shapes]
    _need(all(r == rest[0] for r in rest), "inputs differ beside the axis")
    return (*first[:axis], sum(s[axis] for s in shapes), *first[axis + 1 :])


def _pad(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    _need(len(attrs.pads) == len(shapes[0]), "one pair per axis is needed")
    for size, (before, after) in zip(shapes[0], attrs.pads, strict=True):
        _need(before >= 0 and after >= 0, "negative padding")
        if attrs.mode is ops.PadMode.REFLECT:
            _need(before < size and after < size, "reflection wider than the tensor")
    return tuple(
        size + before + after for size, (before, after) in zip(shapes[0], attrs.pads, strict=True)
    )


def _resize(attrs: ops.Resize, shapes: Sequence[Shape]) -> Shape:
    n, h, w, c = shapes[0]
    rows, cols = attrs.row_low + attrs.row_high, attrs.col_low + attrs.col_high
    _need(bool(rows) and bool(cols), "the output is empty")
    _need(min(rows) >= 0 and max(rows) < h, "row out of range")
    _need(min(cols) >= 0 and max(cols) < w, "column out of range")
    return (n, len(attrs.row_low), len(attrs.col_low), c)


def _q_resize(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    _need(len(shapes[0]) == 4, "x must have four dimensions")
    n, _, _, c = shapes[0]
    return (n, shapes[1][0], shapes[2][0], c)


def _pooled_conv(attrs: qops.QPooledConv, shapes: Sequence[Shape]) -> Shape:
    return _conv(attrs.conv, (shapes[0], _expanded(shapes), *shapes[3:]))


def _pooled_gemm(attrs: qops.QPooledGemm, shapes: Sequence[Shape]) -> Shape:
    return _gemm(attrs.gemm, (shapes[0], _expanded(shapes), *shapes[3:]))


def _layer_norm(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    channels = shapes[0][-1]
    _need(shapes[1] == (channels,), "gamma is not [C]")
    _need(all(beta in ((), (channels,)) for beta in shapes[2:]), "beta is not [C]")
    return shapes[0]


def _matmul(attrs: ops.MatMul | qt.QMatMul16x15, shapes: Sequence[Shape]) -> Shape:
    a, b = shapes[0], shapes[1]
    _need(len(a) >= 2 and len(b) >= 2, "an operand is no matrix")
    rows, inner = (a[-1], a[-2]) if attrs.transpose_a else (a[-2], a[-1])
    other, columns = (b[-1], b[-2]) if attrs.transpose_b else (b[-2], b[-1])
    _need(inner == other, "a and b disagree about K")
    return (*broadcast(a[:-2], b[:-2]), rows, columns)


def _attention(attrs: ops.Attention, shapes: Sequence[Shape]) -> Shape:
    q, k, v = shapes[:3]
    lead, (n, m) = q[:-2], (q[-2], k[-2])
    _need(k[:-2] == v[:-2] == lead and m == v[-2], "q, k and v disagree")
    _need(q[-1] == k[-1], "q and k disagree about their width")
    _need(attrs.heads >= 1 and q[-1] % attrs.heads == v[-1] % attrs.heads == 0, "heads do not fit")
    for extra, full in zip(shapes[3:], ((*lead, attrs.heads, n, m), (*lead, m)), strict=False):
        _need(broadcast(full, extra) == full, "a mask does not fit")
    return (*q[:-1], v[-1])


def _narrow_gemm(attrs: qt.QGemm16x15, shapes: Sequence[Shape]) -> Shape:
    return _finished(attrs, shapes, _gemm(attrs, shapes[:4]))


def _q_norm(attrs: qt.QNorm, shapes: Sequence[Shape]) -> Shape:
    _need(not attrs.shifted or shapes[3] == shapes[0][-1:], "a shift a channel is needed")
    return _layer_norm(attrs, shapes[:3])


def _rescale(attrs: qt.QRescale16x15, shapes: Sequence[Shape]) -> Shape:
    _need(all(shifts == shapes[0][-1:] for shifts in shapes[1:]), "a shift a channel is needed")
    return shapes[0]


def _narrow_conv(attrs: qt.QConv16x15, shapes: Sequence[Shape]) -> Shape:
    return _finished(attrs, shapes, _conv(attrs, shapes[:4]))


def _finished(attrs: Any, shapes: Sequence[Shape], y: Shape) -> Shape:
    """The output, after a check of the table or residual that follows the multiplier."""
    wanted = (y,) if attrs.residual else ((qt.TABLE_SIZE,),) * attrs.table
    _need(tuple(shapes[4:]) == wanted, "table or residual and output differ in shape")
    return y


def _q_attention(attrs: qt.QAttention, shapes: Sequence[Shape]) -> Shape:
    q, k, v = shapes[:3]
    _need(k[:-1] == v[:-1] and q[:-2] == k[:-2], "q, k and v disagree")
    columns = ((q, attrs.q_start, attrs.width), (k, attrs.k_start, attrs.width))
    for tensor, start, width in (*columns, (v, attrs.v_start, attrs.value_width)):
        _need(start >= 0 and width >= 1, "a head has no columns")
        _need(start + attrs.heads * width <= tensor[-1], "columns outside the tensor")
    _need(shapes[3] == (attrs.heads, qt.HEAD_COLUMNS), "four numbers a head are needed")
    for keys in shapes[4:5] if attrs.keys else ():
        _need(broadcast(k[:-1], keys) == k[:-1], "keys do not fit")
    if attrs.bias:
        steps, places = shapes[-2:]
        _need(len(steps) == 2 and steps[0] == attrs.heads, "steps are [heads, U]")
        _need(places[0] in (1, math.prod(q[:-2])), "places do not fit")
        _need(places[1:] == (q[-2], k[-2]), "places do not fit")
    return (*q[:-1], attrs.heads * attrs.value_width)


def _embedding(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    _need(len(shapes[1]) == 2, "the table must be [V, C]")
    return (*shapes[0], shapes[1][1])


def _where(attrs: Any, shapes: Sequence[Shape]) -> Shape:
    return broadcast(shapes[0], broadcast(shapes[1], shapes[2]))


def _expand(attrs: ops.Expand, shapes: Sequence[Shape]) -> Shape:
    _need(broadcast(shapes[0], attrs.shape) == attrs.shape, "x does not broadcast to the shape")
    return attrs.shape


def _expanded(shapes: Sequence[Shape]) -> Shape:
    """Shape of the weights that stand behind x, pool and indices."""
    channels, group = shapes[0][-1], shapes[1][1]
    _need(shapes[2][-1] == -(-channels // group), "one index per group of channels is needed")
    return (*shapes[2][:-1], channels)


_RULES: Mapping[type, Rule] = MappingProxyType(
    {
        **dict.fromkeys((ops.Conv, qops.QConv), _conv),
        **dict.fromkeys((ops.ConvTranspose, qops.QConvTranspose), _conv_transpose),
        **dict.fromkeys((ops.Gemm, qops.QGemm), _gemm),
        **dict.fromkeys((ops.Add, ops.Sub, ops.Mul, qops.QAdd, qops.QMul), _binary),
        **dict.fromkeys((ops.Clip, ops.Unary, ops.Softmax, qops.QSoftmax, qops.QLut), _same),
        **dict.fromkeys((ops.QuantizeLinear, ops.DequantizeLinear), _same),
        **dict.fromkeys((ops.PRelu, ops.BatchNormalization, qops.QPRelu), _per_channel),
        **dict.fromkeys((ops.MaxPool, ops.AveragePool), _pool),
        **dict.fromkeys((qops.QMaxPool, qops.QAveragePool), _pool),
        **dict.fromkeys((ops.Reduce, qops.QReduce), _reduce),
        **dict.fromkeys((ops.Reshape, qops.QReshape), _reshape),
        **dict.fromkeys((ops.Transpose, qops.QTranspose), _transpose),
        **dict.fromkeys((ops.Slice, qops.QSlice), _slice),
        **dict.fromkeys((ops.Concat, qops.QConcat), _concat),
        **dict.fromkeys((ops.Pad, qops.QPad), _pad),
        **dict.fromkeys((qops.QResizeNearest, qops.QResizeLinear), _q_resize),
        **dict.fromkeys((ops.ArgMax, qops.QArgMax), _argmax),
        ops.Resize: _resize,
        ops.Cast: _same,
        **dict.fromkeys((ops.LayerNormalization, ops.RMSNormalization), _layer_norm),
        qt.QNorm: _q_norm,
        qt.QRescale16x15: _rescale,
        **dict.fromkeys((qt.QIsEqual, qt.QSoftmax16x15), _same),
        qt.QReduce16x15: _reduce,
        qt.QGemm16x15: _narrow_gemm,
        qt.QConv16x15: _narrow_conv,
        qt.QAttention: _q_attention,
        **dict.fromkeys((qt.QAdd16, qt.QMul16x15), _binary),
        **dict.fromkeys((ops.MatMul, qt.QMatMul16x15), _matmul),
        ops.Attention: _attention,
        **dict.fromkeys((ops.Embedding, qt.QEmbedding), _embedding),
        ops.Where: _where,
        ops.Expand: _expand,
        qops.QPooledConv: _pooled_conv,
        qops.QPooledGemm: _pooled_gemm,
    }
)
