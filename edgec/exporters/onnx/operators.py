"""One emitter per operator of `ir.ops`: what it becomes in ONNX.

An emitter fetches its inputs in the layout it wants, emits ONNX nodes and stores its output.  It
does not know whether the model is float or quantized: `Emitter` and `QdqEmitter` decide what a
fetched tensor is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.exporters.onnx.resize_match import match_resize
from edgec.exporters.onnx.state import NCHW_TO_NHWC, NHWC_TO_NCHW, Emitter, Layout
from edgec.exporters.onnx.transformer import EMITTERS as TRANSFORMER_EMITTERS
from edgec.exporters.onnx.transformer import composed_unary
from edgec.exporters.onnx.weight_pool import weight_tensor
from edgec.ir import ops
from edgec.ir.graph import Node

_OPEN_END = np.iinfo(np.int64).min
"""Slice end that includes index 0 with a negative step."""


def emit_node(emitter: Emitter, node: Node) -> None:
    """Add what `node` becomes to the model.

    Raises:
        InternalError: the operator is not one of `ir.ops`.
    """
    function = _EMITTERS.get(type(node.attrs))
    if function is None:
        raise InternalError(f"operator {node.op} has no ONNX form", where=node.name)
    function(emitter, node)


def _common_layout(e: Emitter, node: Node) -> Layout:
    """NCHW if a rank-4 input is stored so and all run-time inputs and the output have rank 4."""
    runtime = [name for name in node.inputs if name in e.graph.values]
    rank4 = all(len(e.graph.shape(name)) == 4 for name in (*runtime, *node.outputs))
    if rank4 and any(e.layout_of(name) is Layout.NCHW for name in runtime):
        return Layout.NCHW
    return Layout.GRAPH


def _elementwise(e: Emitter, node: Node, op: str, *constants: str, **attrs: Any) -> None:
    layout = _common_layout(e, node)
    inputs = [e.fetch(name, layout) for name in node.inputs]
    e.store(node.output, e.emit(node.name, op, [*inputs, *constants], **attrs), layout)


def _axis(axis: int, layout: Layout) -> int:
    return axis if layout is Layout.GRAPH else NHWC_TO_NCHW.index(axis)


def _per_axis(values: tuple[Any, ...], layout: Layout) -> tuple[Any, ...]:
    if layout is Layout.GRAPH:
        return values
    return tuple(values[axis] for axis in NHWC_TO_NCHW)


# -- convolutions and matrix products ------------------------------------------------------------


def _conv(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Conv)
    operands = attrs.Inputs.of(node.inputs)
    weight = weight_tensor(e, operands.w, NHWC_TO_NCHW)
    inputs = [e.fetch(operands.x, Layout.NCHW), weight]
    if operands.b is not None:
        inputs.append(e.weight(operands.b, (0,)))
    y = e.emit(
        node.name,
        "Conv",
        inputs,
        kernel_shape=e.graph.shape(operands.w)[1:3],
        strides=attrs.strides,
        pads=attrs.pads,
        dilations=attrs.dilations,
        group=attrs.group,
    )
    e.store(node.output, y, Layout.NCHW)


def _conv_transpose(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.ConvTranspose)
    operands = attrs.Inputs.of(node.inputs)
    weight = _transposed_weight(e, operands.w, attrs.group)
    inputs = [e.fetch(operands.x, Layout.NCHW), weight]
    if operands.b is not None:
        inputs.append(e.weight(operands.b, (0,)))
    y = e.emit(
        node.name,
        "ConvTranspose",
        inputs,
        kernel_shape=e.graph.shape(operands.w)[1:3],
        strides=attrs.strides,
        pads=attrs.pads,
        dilations=attrs.dilations,
        group=attrs.group,
        output_padding=attrs.output_padding,
    )
    e.store(node.output, y, Layout.NCHW)


def _transposed_weight(e: Emitter, name: str, group: int) -> str:
    """[O, KH, KW, I/group] as ONNX's [I, O/group, KH, KW]."""
    if group == 1:
        return e.weight(name, (3, 0, 1, 2))
    outputs, height, width, inputs = e.graph.shape(name)
    grouped = (group, outputs // group, inputs, height, width)
    # Per-channel scales run along O, which ONNX's layout splits: dequantize first, then move.
    y = e.emit(name, "Reshape", [e.weight(name, NHWC_TO_NCHW), e.ints(f"{name}_split", grouped)])
    y = e.emit(name, "Transpose", [y], perm=(0, 2, 1, 3, 4))
    merged = (group * inputs, outputs // group, height, width)
    return e.emit(name, "Reshape", [y, e.ints(f"{name}_merged", merged)])


def _gemm(e: Emitter, node: Node) -> None:
    operands = ops.Gemm.Inputs.of(node.inputs)
    x, bias = e.fetch(operands.x), operands.b
    if len(e.graph.shape(operands.x)) == 2:
        inputs = [x, weight_tensor(e, operands.w, (0, 1))]
        if bias:
            inputs.append(e.weight(bias, (0,)))
        y = e.emit(node.name, "Gemm", inputs, transB=1)
    else:
        y = e.emit(node.name, "MatMul", [x, weight_tensor(e, operands.w, (1, 0))])
        if bias:
            y = e.emit(node.name, "Add", [y, e.weight(bias, (0,))])
    e.store(node.output, y)


# -- element-wise --------------------------------------------------------------------------------


def _clip(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Clip)
    if attrs.low == 0.0 and math.isinf(attrs.high):
        _elementwise(e, node, "Relu")
        return
    low = "" if math.isinf(attrs.low) else e.scalar(f"{node.name}_low", attrs.low)
    bounds = [low]
    if not math.isinf(attrs.high):
        bounds.append(e.scalar(f"{node.name}_high", attrs.high))
    _elementwise(e, node, "Clip", *bounds)


_UNARY_ATTRS: Mapping[ops.UnaryKind, tuple[str, ...]] = MappingProxyType(
    {
        ops.UnaryKind.LEAKY_RELU: ("alpha",),
        ops.UnaryKind.ELU: ("alpha",),
        ops.UnaryKind.HARD_SIGMOID: ("alpha", "beta"),
    }
)


def _unary(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Unary)
    layout = _common_layout(e, node)
    y = composed_unary(e, node.name, attrs, e.fetch(node.first, layout))
    if y is not None:
        e.store(node.output, y, layout)
        return
    given = {name: getattr(attrs, name) for name in _UNARY_ATTRS.get(attrs.kind, ())}
    _elementwise(e, node, attrs.kind.value, **given)


def _prelu(e: Emitter, node: Node) -> None:
    layout = _common_layout(e, node)
    operands = ops.PRelu.Inputs.of(node.inputs)
    x = e.fetch(operands.x, layout)
    slope = e.parameter(operands.slope, layout)
    e.store(node.output, e.emit(node.name, "PRelu", [x, slope]), layout)


def _batch_normalization(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.BatchNormalization)
    operands = attrs.Inputs.of(node.inputs)
    order = (operands.scale, operands.b, operands.mean, operands.var)
    x, parameters = operands.x, [e.parameter(name) for name in order]
    shape = e.graph.shape(x)
    if len(shape) == 4:
        inputs = [e.fetch(x, Layout.NCHW), *parameters]
        y = e.emit(node.name, "BatchNormalization", inputs, epsilon=attrs.epsilon)
        e.store(node.output, y, Layout.NCHW)
        return
    # ONNX wants channels on axis 1: fold everything else into axis 0.
    rows = e.ints(f"{node.name}_rows", (-1, shape[-1]))
    flat = e.emit(node.name, "Reshape", [e.fetch(x), rows])
    y = e.emit(node.name, "BatchNormalization", [flat, *parameters], epsilon=attrs.epsilon)
    e.store(node.output, e.emit(node.name, "Reshape", [y, e.ints(f"{node.name}_shape", shape)]))


def _softmax(e: Emitter, node: Node) -> None:
    y = e.emit(node.name, "Softmax", [e.fetch(node.first)], axis=-1)
    e.store(node.output, y)


# -- pooling and reductions ----------------------------------------------------------------------


def _pool(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.MaxPool, ops.AveragePool)
    optional: dict[str, Any] = {} if attrs.dilations == (1, 1) else {"dilations": attrs.dilations}
    if isinstance(attrs, ops.AveragePool):
        optional["count_include_pad"] = int(attrs.count_include_pad)
    y = e.emit(
        node.name,
        node.op,
        [e.fetch(node.first, Layout.NCHW)],
        kernel_shape=attrs.kernel,
        strides=attrs.strides,
        pads=attrs.pads,
        **optional,
    )
    e.store(node.output, y, Layout.NCHW)


def _reduce(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Reduce)
    x = node.input
    layout = Layout.GRAPH
    # Without the reduced axes the other axes keep their order only if those are the image's.
    if len(e.graph.shape(x)) == 4 and (attrs.keepdims or attrs.axes == (1, 2)):
        layout = e.layout_of(x)
    axes = sorted(_axis(axis, layout) for axis in attrs.axes)
    inputs = [e.fetch(x, layout), e.ints(f"{node.name}_axes", axes)]
    y = e.emit(node.name, attrs.kind.value, inputs, keepdims=int(attrs.keepdims))
    e.store(node.output, y, layout if attrs.keepdims else Layout.GRAPH)


def _argmax(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.ArgMax)
    y = e.emit(
        node.name,
        "ArgMax",
        [e.fetch(node.first)],
        axis=attrs.axis,
        keepdims=int(attrs.keepdims),
        select_last_index=int(attrs.select_last_index),
    )
    e.store(node.output, y)


# -- data movement -------------------------------------------------------------------------------


def _reshape(e: Emitter, node: Node) -> None:
    shape = e.ints(f"{node.name}_shape", node.attrs_as(ops.Reshape).shape)
    e.store(node.output, e.emit(node.name, "Reshape", [e.fetch(node.first), shape]))


def _transpose(e: Emitter, node: Node) -> None:
    perm: tuple[int, ...] = node.attrs_as(ops.Transpose).perm
    x = node.input
    if perm == NCHW_TO_NHWC and x in e.graph.values and e.same_quant(x, node.output):
        e.alias(node.output, e.fetch(x), Layout.NCHW)
    elif perm == NHWC_TO_NCHW and x in e.graph.values and e.same_quant(x, node.output):
        e.alias(node.output, e.fetch(x, Layout.NCHW))
    else:
        e.store(node.output, e.emit(node.name, "Transpose", [e.fetch(x)], perm=perm))


def _slice(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Slice)
    x = node.input
    layout = _common_layout(e, node)
    ends = []
    for start, step, size in zip(attrs.starts, attrs.steps, attrs.sizes, strict=True):
        end = start + size * step
        ends.append(int(_OPEN_END) if end < 0 else end)
    bounds = [
        e.ints(f"{node.name}_starts", _per_axis(attrs.starts, layout)),
        e.ints(f"{node.name}_ends", _per_axis(tuple(ends), layout)),
        e.ints(f"{node.name}_axes", range(len(attrs.starts))),
        e.ints(f"{node.name}_steps", _per_axis(attrs.steps, layout)),
    ]
    e.store(node.output, e.emit(node.name, "Slice", [e.fetch(x, layout), *bounds]), layout)


def _concat(e: Emitter, node: Node) -> None:
    layout = _common_layout(e, node)
    inputs = [e.fetch(name, layout) for name in node.inputs]
    y = e.emit(node.name, "Concat", inputs, axis=_axis(node.attrs_as(ops.Concat).axis, layout))
    e.store(node.output, y, layout)


def _pad(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Pad)
    layout = _common_layout(e, node)
    pads = _per_axis(attrs.pads, layout)
    flat = [before for before, _ in pads] + [after for _, after in pads]
    inputs = [e.fetch(node.first, layout), e.ints(f"{node.name}_pads", flat)]
    if attrs.mode is ops.PadMode.CONSTANT:
        inputs.append(e.scalar(f"{node.name}_value", attrs.value))
    e.store(node.output, e.emit(node.name, "Pad", inputs, mode=attrs.mode.value), layout)


def _resize(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Resize)
    x = node.input
    _, height, width, channels = e.graph.shape(x)
    matched = match_resize(attrs, height, width)
    tensor = e.fetch(x, Layout.NCHW)
    if matched is not None:
        sizes = (1, channels, len(attrs.row_low), len(attrs.col_low))
        inputs = [tensor, "", "", e.ints(f"{node.name}_sizes", sizes)]
        y = e.emit(node.name, "Resize", inputs, **matched)
    else:
        rows = (attrs.row_low, attrs.row_high, attrs.row_weights)
        columns = (attrs.col_low, attrs.col_high, attrs.col_weights)
        y = _interpolate(e, node, tensor, 2, rows)
        y = _interpolate(e, node, y, 3, columns)
    e.store(node.output, y, Layout.NCHW)


def _interpolate(
    e: Emitter,
    node: Node,
    x: str,
    axis: int,
    positions: tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]],
) -> str:
    """Rows or columns of an NCHW tensor: ``(1 - w) * x[low] + w * x[high]``."""
    low, high, weights = positions
    stem = f"{node.name}_axis{axis}"
    below = e.emit(stem, "Gather", [x, e.ints(f"{stem}_low", low)], axis=axis)
    if not any(weights):
        return below
    above = e.emit(stem, "Gather", [x, e.ints(f"{stem}_high", high)], axis=axis)
    weight: Array = np.asarray(weights, np.float32).reshape((-1, 1) if axis == 2 else (-1,))
    low_part = e.emit(stem, "Mul", [below, e.initializer(f"{stem}_1-w", 1 - weight)])
    high_part = e.emit(stem, "Mul", [above, e.initializer(f"{stem}_w", weight)])
    return e.emit(stem, "Add", [low_part, high_part])


# -- quantization of a graph that still holds it as nodes ------------------------------------------


def _quantize_linear(e: Emitter, node: Node) -> None:
    layout = _common_layout(e, node)
    x = e.fetch(node.first, layout)
    parameters = e.quant_parameters(node.output, e.graph.quant(node.output), layout)
    e.alias(
        node.output,
        e.emit(node.name, "QuantizeLinear", [x, *parameters[0]], **parameters[1]),
        layout,
    )


def _dequantize_linear(e: Emitter, node: Node) -> None:
    layout = _common_layout(e, node)
    x = node.input
    parameters = e.quant_parameters(x, e.graph.quant(x), layout)
    y = e.emit(node.name, "DequantizeLinear", [e.fetch(x, layout), *parameters[0]], **parameters[1])
    e.store(node.output, y, layout)


_EMITTERS: Mapping[type, Callable[[Emitter, Node], None]] = MappingProxyType(
    {
        ops.Conv: _conv,
        ops.ConvTranspose: _conv_transpose,
        ops.Gemm: _gemm,
        ops.Add: lambda e, node: _elementwise(e, node, "Add"),
        ops.Sub: lambda e, node: _elementwise(e, node, "Sub"),
        ops.Mul: lambda e, node: _elementwise(e, node, "Mul"),
        ops.Clip: _clip,
        ops.Unary: _unary,
        ops.PRelu: _prelu,
        ops.Softmax: _softmax,
        ops.MaxPool: _pool,
        ops.AveragePool: _pool,
        ops.Reduce: _reduce,
        ops.BatchNormalization: _batch_normalization,
        ops.Reshape: _reshape,
        ops.Transpose: _transpose,
        ops.Slice: _slice,
        ops.Concat: _concat,
        ops.Pad: _pad,
        ops.Resize: _resize,
        ops.ArgMax: _argmax,
        **TRANSFORMER_EMITTERS,
        ops.QuantizeLinear: _quantize_linear,
        ops.DequantizeLinear: _dequantize_linear,
    }
)
