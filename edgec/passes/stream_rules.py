"""Follow frames of a stream through each operator of an integer graph, and write its node anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from edgec.ir import qops
from edgec.ir.graph import Node
from edgec.ir.weighted import layer_inputs, plain_inputs
from edgec.passes.stream_frames import Window, whole
from edgec.passes.stream_scan import RefusedError, Scan
from edgec.passes.stream_windows import (
    conv_rule,
    over_time,
    pad_rule,
    pool_rule,
    slice_rule,
    together,
    window_of,
)


def follow(scan: Scan, node: Node) -> None:
    """Add a node to the new graph, and note what its output is.

    Raises:
        RefusedError: a stream cannot have it.
        MultipleError: a run brings too few frames.
    """
    if not any(name in scan.frames for name in node.inputs):
        scan.whole(node)
        return
    rule = _RULES.get(type(node.attrs))
    if rule is None:
        raise RefusedError(_REASONS.get(type(node.attrs), "it mixes frames of the window"))
    rule(scan, node)


def _same(scan: Scan, node: Node) -> None:
    """Each frame by itself: the operator works on other axes, or on each element."""
    frames = scan.frames[node.first]
    for name in node.others:
        if name in scan.frames:
            raise RefusedError("it mixes frames of several values")
        if name and not scan.graph.is_constant(name):
            scan.fixed(name, -1)
    scan.written(node, frames)


def _on_last_axis(scan: Scan, node: Node) -> None:
    """Along the last axis, which may not be that of the frames."""
    if scan.frames[node.first].axis == len(scan.graph.shape(node.first)) - 1:
        raise RefusedError("it works along the frames of the window")
    _same(scan, node)


def _elementwise(scan: Scan, node: Node) -> None:
    """Operands with numpy broadcasting, brought to the same delay; tables serve all frames."""
    rank = len(scan.graph.shape(node.output))
    spread = node.inputs[: len(node.inputs) - qops.table_count(scan.graph, node)]
    missing = {name: rank - len(scan.graph.shape(name)) for name in spread}
    moving = {name: scan.frames[name] for name in node.inputs if name in scan.frames}
    places = {
        (each.axis + missing[name], each.length, each.stride) for name, each in moving.items()
    }
    if len(places) > 1:
        raise RefusedError("its operands have different frames")
    axis = places.pop()[0]
    for name in spread:
        if name not in moving:
            scan.fixed(name, axis - missing[name])
    found = together(tuple(moving.values()))
    late = [scan.late(name, found.delay) if name in moving else name for name in node.inputs]
    scan.written(node, replace(found, axis=axis), late)


def _concat(scan: Scan, node: Node) -> None:
    axes = {scan.frames[name].axis for name in node.inputs if name in scan.frames}
    if node.attrs_as(qops.QConcat).axis in axes:
        raise RefusedError("it joins values one after the other in time")
    _elementwise(scan, node)


def _transposed_conv(scan: Scan, node: Node) -> None:
    attrs = node.attrs_as(qops.QConvTranspose)
    frames, kernel = scan.frames[node.first], scan.graph.shape(plain_inputs(node).w)[1:3]
    at = frames.axis - 1
    if frames.axis == 3 or (kernel[at], attrs.strides[at]) != (1, 1):
        raise RefusedError("it gives several frames for each one that it reads")
    window = window_of(kernel, attrs.strides, attrs.pads, attrs.dilations, at)
    if not window.is_plain or attrs.output_padding[at]:
        raise RefusedError("it gives another number of frames than it reads")
    _same(scan, node)


def _gemm(scan: Scan, node: Node) -> None:
    """Products over the last axis; over the frames, all of the window are taken."""
    inputs = layer_inputs(node)
    frames = scan.frames.get(inputs.x)
    if frames is None:
        raise RefusedError("it adds frames to something that has none")
    if frames.axis == len(scan.graph.shape(inputs.x)) - 1:
        if inputs.residual is not None:
            raise RefusedError("it works along the frames of the window")
        scan.computed(node, whole(frames), scan.recent(inputs.x, frames.length))
        return
    over_time(scan, node, Window(), lambda: node.attrs, inputs.residual)


def _matmul(scan: Scan, node: Node) -> None:
    """A product with a constant, of rows that are frames."""
    attrs, inputs = node.attrs_as(qops.QMatMul), node.attrs_as(qops.QMatMul).Inputs.of(node.inputs)
    frames = scan.frames.get(inputs.a)
    if not scan.graph.is_constant(inputs.b) or frames is None:
        raise RefusedError("it is a product of frames with others, as attention over the window is")
    rank = len(scan.graph.shape(inputs.a))
    if frames.axis == (rank - 2 if attrs.transpose_a else rank - 1):
        raise RefusedError("it works along the frames of the window")
    if attrs.transpose_a and frames.axis == rank - 1:
        frames = replace(frames, axis=rank - 2)
    scan.written(node, frames)


def _reduce(scan: Scan, node: Node) -> None:
    """Over the frames: of all of the window; else of each frame by itself."""
    attrs = node.attrs_as(qops.QReduce)
    frames = scan.frames[node.first]
    if frames.axis in attrs.axes:
        scan.computed(node, whole(frames), scan.recent(node.first, frames.length))
        return
    axis = frames.axis
    if not attrs.keepdims:
        axis -= sum(other < frames.axis for other in attrs.axes)
    scan.written(node, replace(frames, axis=axis))


def _arg_max(scan: Scan, node: Node) -> None:
    attrs = node.attrs_as(qops.QArgMax)
    frames = scan.frames[node.first]
    if frames.axis == attrs.axis:
        scan.computed(node, whole(frames), scan.recent(node.first, frames.length))
        return
    axis = frames.axis - (0 if attrs.keepdims or attrs.axis > frames.axis else 1)
    scan.written(node, replace(frames, axis=axis))


def _transpose(scan: Scan, node: Node) -> None:
    frames = scan.frames[node.first]
    axis = node.attrs_as(qops.QTranspose).perm.index(frames.axis)
    scan.written(node, replace(frames, axis=axis))


def _reshape(scan: Scan, node: Node) -> None:
    """Frames that stay an axis; else all of the window are taken."""
    frames, x = scan.frames[node.first], node.first
    before, after = scan.graph.shape(x), scan.graph.shape(node.output)
    for axis, size in enumerate(after):
        lead = math.prod(before[: frames.axis]) == math.prod(after[:axis])
        if size == frames.length > 1 and lead:
            new = scan.rings.per_run(frames)
            shape = (*after[:axis], new, *after[axis + 1 :])
            scan.written(node, replace(frames, axis=axis), attrs=qops.QReshape(shape))
            return
    scan.computed(node, whole(frames), scan.recent(x, frames.length))


_RULES: Mapping[type, Callable[[Scan, Node], None]] = MappingProxyType(
    {
        **dict.fromkeys((qops.QLut, qops.QRescale, qops.QIsEqual, qops.QEmbedding), _same),
        **dict.fromkeys((qops.QSoftmax, qops.QLogSoftmax, qops.QNorm, qops.QPRelu), _on_last_axis),
        **dict.fromkeys((qops.QMul, qops.QAdd, qops.QDiv, qops.QSquaredDifference), _elementwise),
        **dict.fromkeys((qops.QCompare, qops.QExtremum, qops.QWhere, qops.QChain), _elementwise),
        **dict.fromkeys((qops.QConv, qops.QPooledConv), conv_rule),
        **dict.fromkeys((qops.QGemm, qops.QPooledGemm), _gemm),
        **dict.fromkeys((qops.QAveragePool, qops.QMaxPool), pool_rule),
        qops.QConcat: _concat,
        qops.QConvTranspose: _transposed_conv,
        qops.QMatMul: _matmul,
        qops.QReduce: _reduce,
        qops.QArgMax: _arg_max,
        qops.QTranspose: _transpose,
        qops.QReshape: _reshape,
        qops.QSlice: slice_rule,
        qops.QPad: pad_rule,
    }
)
_REASONS: Mapping[type, str] = MappingProxyType(
    {
        qops.QAttention: "each frame attends to all frames of the window",
        qops.QTopK: "it looks for the largest of the window",
        qops.QTurnSlice: "it begins a loop over the window",
        qops.QTurnStack: "it ends a loop over the window",
    }
)
