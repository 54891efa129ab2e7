"""Remove transposes by choosing the order of axes of every tensor.

Exporters write networks channels-first and the importer puts a `Transpose` on each side of every
channels-last operator.  This pass forgets them all, chooses for each tensor the order of axes in
which it is stored so that the fewest elements have to be transposed (`layout_search`), and writes
the graph anew with the transposes that are still needed.

Rules:
1. keep dims: `Reduce` and `ArgMax` keep their axes, a `Reshape` drops them; operands of `Add`,
   `Sub` and `Mul` get equal ranks by `Reshape`.
2. frame: operators of free layout work in the chosen frame; constants are rearranged at once.
3. input: a graph input is stored in the order its readers want (`Graph.input_layouts`).
4. output: a graph output stays in the order it is computed in (`Graph.output_layouts`).
5. columns: a `Gemm` of a flattened tensor gets its weight columns in the tensor's order.
6. unit axes: moving axes of length 1 is a `Reshape`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, GraphBuilder, Node, Value
from edgec.ir.qparams import QuantParams
from edgec.passes.layout_attrs import attrs_in_frame
from edgec.passes.layout_refs import (
    Freedom,
    Order,
    Perm,
    Ref,
    Refs,
    collect,
    compose,
    inverse,
    output_layout,
)
from edgec.passes.layout_search import Frames, choose_frames


def layout(graph: Graph) -> Graph:
    """Apply the rules."""
    graph = _equal_ranks(_keep_dims(graph))
    refs = collect(graph)
    return _Writer(graph, refs, choose_frames(refs)).write()


def transposes(graph: Graph) -> int:
    """Number of `Transpose` nodes."""
    return sum(isinstance(node.attrs, ops.Transpose) for node in graph.nodes)


def _keep_dims(graph: Graph) -> Graph:
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if not isinstance(node.attrs, ops.Reduce | ops.ArgMax) or node.attrs.keepdims:
            continue
        result = graph.values[node.output]
        axes = node.attrs.axes if isinstance(node.attrs, ops.Reduce) else (node.attrs.axis,)
        shape = tuple(
            1 if axis in axes else size for axis, size in enumerate(graph.shape(node.inputs[0]))
        )
        kept = builder.value(replace(result, name=builder.fresh(f"{result.name}/kept"), shape=shape))
        builder.put(replace(node, attrs=replace(node.attrs, keepdims=True), outputs=(kept,)))
        attrs = ops.Reshape(result.shape)
        builder.node(f"{node.name}/drop", attrs, (kept,), (result.name,), node.sources)
    return builder.build()


def _equal_ranks(graph: Graph) -> Graph:
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if not isinstance(node.attrs, ops.Add | ops.Sub | ops.Mul):
            continue
        rank = len(graph.shape(node.output))
        inputs = list(node.inputs)
        for index, name in enumerate(inputs):
            value = graph.values.get(name)
            if value is None or len(value.shape) == rank:
                continue
            shape = (1,) * (rank - len(value.shape)) + value.shape
            full = builder.value(replace(value, name=builder.fresh(f"{name}/full"), shape=shape))
            builder.node(full, ops.Reshape(shape), (name,), (full,), node.sources)
            inputs[index] = full
        builder.put(replace(node, inputs=tuple(inputs)))
    return builder.build()


class _Writer:
    """Writes the graph with every root in its frame."""

    def __init__(self, graph: Graph, refs: Refs, frames: Frames) -> None:
        self._graph = graph
        self._refs = refs
        self._frames = frames
        self._out = GraphBuilder(graph.name)
        self._out.metadata = dict(graph.metadata)
        # Names of the old graph stay reserved, so that fresh names are fresh.
        self._taken = GraphBuilder.of(graph)
        self._made: dict[tuple[str, Order, tuple[int, ...]], str] = {}

    def write(self) -> Graph:
        for name in self._graph.inputs:
            self._root(name)
            self._out.inputs.append(name)
            if self._frames[name] != tuple(range(len(self._frames[name]))):
                self._out.input_layouts[name] = self._frames[name]
        self._compose_layouts()
        for node in self._graph.nodes:
            if node.name not in self._refs.aliases:
                self._node(node)
        for name in self._graph.outputs:
            self._output(name)
        return self._out.build()

    def _compose_layouts(self) -> None:
        """Layouts the graph already had come first."""
        for name, perm in self._graph.input_layouts.items():
            self._out.input_layouts[name] = compose(perm, self._frames[name])

    def _root(self, name: str) -> None:
        """Declare a root in its frame."""
        value = self._graph.values[name]
        shape = tuple(value.shape[axis] for axis in self._frames[name])
        self._out.value(replace(value, shape=shape))
        self._made[(name, self._refs.order(name, self._frames[name]), shape)] = name

    def _node(self, node: Node) -> None:
        frame = self._frames[node.output]
        inputs = [
            self._fetch(self._refs.refs[name].permuted(frame), name)
            if name in self._refs.refs and self._refs.freedom[node.output] is not Freedom.FIXED
            else self._fetch(self._refs.refs[name], name)
            if name in self._refs.refs
            else self._constant(node, name, frame)
            for name in node.inputs
        ]
        self._root(node.output)
        if isinstance(node.attrs, ops.Gemm):
            inputs[0], inputs[1] = self._columns(node, frame)
        attrs = attrs_in_frame(node.attrs, frame)
        self._out.put(replace(node, attrs=attrs, inputs=tuple(inputs)))
