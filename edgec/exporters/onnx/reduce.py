"""Pooling operators, reductions and ArgMax in ONNX."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto

from edgec.exporters.onnx.codes import (
    Exporter,
    moved_axis,
)
from edgec.exporters.onnx.state import Emitter, Layout
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator import OperatorTable

EXPORTERS = OperatorTable[Exporter]()


@EXPORTERS.entry(ops.MaxPool, ops.AveragePool)
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


@EXPORTERS.entry(ops.Reduce)
def _reduce(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Reduce)
    x = node.input
    layout = Layout.GRAPH
    # Without the reduced axes the other axes keep their order only if those are the image's.
    if len(e.graph.shape(x)) == 4 and (attrs.keepdims or attrs.axes == (1, 2)):
        layout = e.layout_of(x)
    axes = sorted(moved_axis(axis, layout) for axis in attrs.axes)
    inputs = [e.fetch(x, layout), e.ints(f"{node.name}_axes", axes)]
    y = e.emit(node.name, attrs.kind.value, inputs, keepdims=int(attrs.keepdims))
    e.store(node.output, y, layout if attrs.keepdims else Layout.GRAPH)


@EXPORTERS.entry(ops.TopK)
def _top_k(e: Emitter, node: Node) -> None:
    attrs, stem = node.attrs_as(ops.TopK), node.name
    operands = [e.fetch(node.first), e.ints(f"{stem}_k", (attrs.k,))]
    place, largest = int(attrs.indices), int(attrs.largest)
    y = e.emit_one_of(place, stem, "TopK", operands, largest=largest)
    e.store(node.output, e.emit(stem, "Cast", [y], to=TensorProto.INT32) if place else y)


@EXPORTERS.entry(ops.ArgMax)
def _argmax(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.ArgMax)
    y = e.emit(
        node.name,
        "ArgMin" if attrs.smallest else "ArgMax",
        [e.fetch(node.first)],
        axis=attrs.axis,
        keepdims=int(attrs.keepdims),
        select_last_index=int(attrs.select_last_index),
    )
    e.store(node.output, y)
