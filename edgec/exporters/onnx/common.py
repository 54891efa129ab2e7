"""What the exporters of operators share: the layout that they work in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from edgec.exporters.onnx.state import NHWC_TO_NCHW, Emitter, Layout
from edgec.ir.graph import Node

Exporter: TypeAlias = Callable[[Emitter, Node], None]
"""Adds what a node becomes to the model.

It fetches its inputs in the layout that it wants, emits ONNX nodes and stores its output.  It does
not know whether the model is float or quantized: `Emitter` and `QdqEmitter` decide what a fetched
tensor is.
"""


def common_layout(e: Emitter, node: Node) -> Layout:
    """NCHW if a rank-4 input is stored so and all run-time inputs and the output have rank 4."""
    runtime = [name for name in node.inputs if name in e.graph.values]
    rank4 = all(len(e.graph.shape(name)) == 4 for name in (*runtime, *node.outputs))
    if rank4 and any(e.layout_of(name) is Layout.NCHW for name in runtime):
        return Layout.NCHW
    return Layout.GRAPH


def elementwise(e: Emitter, node: Node, op: str, *constants: str, **attrs: Any) -> None:
    """One ONNX node that works on each element.

    Args:
        e: receives the node.
        node: its operands come first.
        op: the ONNX operator.
        constants: further operands.
        attrs: ONNX attributes.
    """
    layout = common_layout(e, node)
    inputs = [e.fetch(name, layout) for name in node.inputs]
    e.store(node.output, e.emit(node.name, op, [*inputs, *constants], **attrs), layout)


def moved_axis(axis: int, layout: Layout) -> int:
    """Where an axis of the graph lies in a layout."""
    return axis if layout is Layout.GRAPH else NHWC_TO_NCHW.index(axis)


def moved_values(values: tuple[Any, ...], layout: Layout) -> tuple[Any, ...]:
    """Values for each axis of the graph, in the order of a layout."""
    if layout is Layout.GRAPH:
        return values
    return tuple(values[axis] for axis in NHWC_TO_NCHW)
