"""Write a graph anew with every root in its chosen frame (the last step of the layout pass)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.layout import Freedom, Perm, compose
from edgec.ir.operator import Operator
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.passes.edit import copy_of
from edgec.passes.layout_frames import (
    Order,
    Ref,
    Refs,
    has_free_columns,
    output_layout,
    place,
)


def write(graph: Graph, refs: Refs, frames: Mapping[str, Perm]) -> Graph:
    """The graph with every root stored in its frame.

    Args:
        graph: the graph that `refs` describes.
        refs: its roots and rearrangements.
        frames: the frame of every root, which its operator allows.
    """
    return _Writer(graph, refs, frames).write()


class _Writer:
    def __init__(self, graph: Graph, refs: Refs, frames: Mapping[str, Perm]) -> None:
        self._graph = graph
        self._refs = refs
        self._frames = frames
        self._out = GraphBuilder(graph.name)
        self._out.metadata = dict(graph.metadata)
        self._out.rounding = graph.rounding
        # Names of the old graph stay reserved, so that new names do not meet them.
        self._names = GraphBuilder.of(graph)
        self._made: dict[tuple[str, Order, tuple[int, ...]], str] = {}

    def write(self) -> Graph:
        graph, out = self._graph, self._out
        for name in graph.inputs:
            self._root(name)
            out.inputs.append(name)
            self._layout(out.input_layouts, graph.input_layouts, name, self._frames[name])
        for node in graph.nodes:
            if node.name not in self._refs.aliases:
                self._node(node)
        for name in graph.outputs:
            self._output(name)
        return out.build()

    def _layout(
        self, layouts: dict[str, Perm], earlier: Mapping[str, Perm], name: str, perm: Perm
    ) -> None:
        """Record a change of layout, after one the graph already had."""
        total = compose(earlier[name], perm) if name in earlier else perm
        if total != tuple(range(len(total))):
            layouts[name] = total

    def _root(self, name: str) -> None:
        """Declare a root in its frame."""
        value = self._graph.values[name]
        frame = self._frames[name]
        shape = tuple(value.shape[axis] for axis in frame)
        self._out.value(replace(value, shape=shape))
        self._made[name, self._refs.order(name, frame), shape] = name

    def _node(self, node: Node) -> None:
        frame = self._frames[node.output]
        inputs = tuple(self._input(node, name, frame) for name in node.inputs)
        if isinstance(node.attrs, ops.Gemm):
            inputs = self._columns(node, ops.Gemm.Inputs.of(inputs), frame).names()
        self._root(node.output)
        attrs = node.attrs_as(RealOperator).in_frame(frame)
        self._out.put(replace(node, attrs=attrs, inputs=inputs))

    def _input(self, node: Node, name: str, frame: Perm) -> str:
        if name == "":
            return name
        ref = self._refs.refs.get(name)
        if ref is None:
            return self._constant(node, name, frame)
        if isinstance(node.attrs, ops.Gemm):
            return name  # `_columns` fetches it
        fixed = self._refs.freedom[node.output] is Freedom.FIXED
        return self._fetch(ref if fixed else ref.permuted(frame), name)

    def _constant(self, node: Node, name: str, frame: Perm) -> str:
        """A constant operand; those that broadcast against the output follow its frame."""
        constant = self._graph.constants[name]
        follows = node.attrs_as(RealOperator).CONSTANTS_FOLLOW
        if not follows or frame == tuple(range(len(frame))):
            self._out.constants[name] = constant
            return name
        missing = len(frame) - len(constant.shape)
        array = constant.array.reshape((1,) * missing + constant.shape).transpose(frame)
        quant = constant.quant
        if quant is not None and quant.axis is not None:
            quant = replace(quant, axis=frame.index(quant.axis + missing))
        return self._new_constant(name, array, quant)

    def _new_constant(self, stem: str, array: Array, quant: QuantParams | None) -> str:
        name = self._names.fresh(f"{stem}/layout")
        self._names.constants[name] = self._out.constants[name] = Constant(name, array, quant)
        return name

    def _columns(
        self, node: Node, inputs: ops.Gemm.Inputs[str], frame: Perm
    ) -> ops.Gemm.Inputs[str]:
        """The operands of a `Gemm`, the columns of the weights in the order of the data."""
        if inputs.x not in self._refs.refs:
            return inputs
        wanted = self._refs.refs[inputs.x].permuted(frame)
        available = self._refs.order(wanted.root, self._frames[wanted.root])
        tail = wanted.groups[-1]
        lead = wanted.order[: len(wanted.order) - len(tail)]
        bound = lead != available[: len(lead)] or not has_free_columns(self._graph, node)
        if wanted.order == available or bound:
            return replace(inputs, x=self._fetch(wanted, inputs.x))
        new_tail = available[len(lead) :]
        sizes = [self._refs.shapes[wanted.root][axis] for axis in tail]
        columns = np.arange(math.prod(sizes)).reshape(sizes)
        order = columns.transpose([tail.index(axis) for axis in new_tail]).ravel()
        constant = self._graph.constants[inputs.w]
        data = self._fetch(Ref(wanted.root, (*wanted.groups[:-1], new_tail)), inputs.x)
        weight = self._new_constant(inputs.w, constant.array[:, order], constant.quant)
        return replace(inputs, x=data, w=weight)

    def _shape(self, ref: Ref) -> tuple[int, ...]:
        sizes = self._refs.shapes[ref.root]
        return tuple(math.prod(sizes[axis] for axis in group) for group in ref.groups)

    def _fetch(self, wanted: Ref, stem: str) -> str:
        """Name of a tensor that holds `wanted`, made from its root when there is none yet."""
        shape, root = self._shape(wanted), wanted.root
        key = (root, wanted.order, shape)
        if key in self._made:
            return self._made[key]
        frame = self._frames[root]
        source = root
        if wanted.order != self._refs.order(root, frame):
            position = {axis: index for index, axis in enumerate(wanted.order)}
            perm = place(position.get(axis) for axis in frame)
            moved = tuple(self._out.values[root].shape[axis] for axis in perm)
            moved_key = (root, wanted.order, moved)
            if moved_key not in self._made:
                name = self._move(root, ops.Transpose(perm), moved, wanted, stem)
                self._made[moved_key] = name
            source = self._made[moved_key]
        if self._out.values[source].shape != shape:
            self._made[key] = self._move(source, ops.Reshape(shape), shape, wanted, stem)
        return self._made[key]

    def _move(
        self, source: str, attrs: Operator, shape: tuple[int, ...], wanted: Ref, stem: str
    ) -> str:
        same = self._refs.refs[stem] == wanted and self._graph.shape(stem) == shape
        name = stem if same and stem not in self._out.values else self._names.fresh(stem)
        value = replace(self._out.values[source], name=name, shape=shape)
        self._names.value(value)
        self._out.value(value)
        self._add(f"{name}/layout", attrs, source, name)
        return name

    def _add(self, stem: str, attrs: Operator, source: str, output: str) -> None:
        """Add a node under a name that nothing had before either."""
        self._out.put(self._names.node(self._names.fresh(stem), attrs, (source,), (output,)))

    def _output(self, name: str) -> None:
        graph, out = self._graph, self._out
        ref = self._refs.refs[name]
        out.outputs.append(name)
        if ref.root == name:
            self._layout(out.output_layouts, graph.output_layouts, name, self._frames[name])
            return
        if name in out.values:  # some operator reads it just as the model has it
            if name in graph.output_layouts:
                out.output_layouts[name] = graph.output_layouts[name]
            return
        available = self._refs.order(ref.root, self._frames[ref.root])
        perm = output_layout(ref, available) or tuple(range(len(ref.groups)))
        self._layout(out.output_layouts, graph.output_layouts, name, perm)
        self._name_output(self._fetch(ref.permuted(perm), name), name, ref.root)

    def _name_output(self, source: str, name: str, root: str) -> None:
        """Let the tensor `source` carry the name of a graph output."""
        if source == name:
            return
        out = self._out
        out.value(replace(out.values[source], name=name))
        producer = next((n for n in out.nodes.values() if source in n.outputs), None)
        outputs_of_root = sum(use.is_output for use in self._refs.uses[root])
        if producer is None or outputs_of_root > 1:
            self._add(f"{name}/copy", copy_of(out.values[source]), source, name)
            return
        out.put(replace(producer, outputs=(name,)))
        out.rewire(source, name)
