"""Loops as ONNX's Scan, and the state of a model as inputs and outputs.

A part that a turn reads is cut off before the Scan, by a Gather that gives the turns an axis of
their own; what is stacked gets that axis from the Scan and loses it in a Reshape.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

from edgec.exporters.onnx.codes import Exporter
from edgec.exporters.onnx.recurrent import emit_recurrent
from edgec.exporters.onnx.state import Emitter, value_info
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.operator import OperatorTable
from edgec.ir.turns import CARRY_OPERAND, Part, Turns

EXPORTERS = OperatorTable[Exporter]()


@EXPORTERS.entry(ops.Carry)
def _carry(e: Emitter, node: Node) -> None:
    """The value before the first turn; state is an input."""
    if node.attrs_as(ops.Carry).loop is None:
        e.add_state(node.output, node.first)
    else:
        e.alias(node.output, e.fetch(node.first))


@EXPORTERS.entry(ops.Update)
def _update(e: Emitter, node: Node) -> None:
    inputs = ops.Update.Inputs.of(node.inputs)
    e.store(node.output, e.emit(node.name, "Identity", [e.fetch(inputs.x)]))


@EXPORTERS.entry(ops.TurnSlice, ops.TurnStack)
def _within_scan(e: Emitter, node: Node) -> None:
    """Nothing by itself: `emit_turns` has made it an end of the Scan."""


@EXPORTERS.entry(ops.TurnLast)
def _turn_last(e: Emitter, node: Node) -> None:
    """The value as the Scan left it."""
    e.alias(node.output, e.fetch(node.first))


def emit_turns(e: Emitter, turns: Turns, emit: Callable[[Node | Turns], None]) -> None:
    """Add the recurrent operator that a loop was, or the Scan that it is.

    Args:
        e: receives it.
        turns: the loop.
        emit: adds a node, or a loop within this one.
    """
    if emit_recurrent(e, turns):
        return
    own = [item for item in turns.body if isinstance(item, Node)]
    graph, loop = e.graph, turns.loop
    updates = {
        node.inputs[CARRY_OPERAND]: node
        for node in own
        if node.attrs.updates and graph.scopes.values[node.output] == loop
    }
    slices = [node for node in own if isinstance(node.attrs, ops.TurnSlice)]
    stacks = [node for node in own if isinstance(node.attrs, ops.TurnStack)]
    lasts = _read_at_last(graph, turns)
    initial = [e.fetch(name) for name in updates]
    parts = [_turns_apart(e, node) for node in slices]
    with e.inside() as nodes:
        body = _Body(e, nodes)
        for name in updates:
            body.input(name)
        for node in slices:
            body.input(node.output)
        for item in turns.body:
            emit(item)
        for node in updates.values():
            body.output(node.output)
        for node in stacks:
            body.output(node.first)
        for name in lasts:
            body.output(name)
    axes = [node.attrs_as(ops.TurnSlice).part.axis for node in slices]
    whole = [node.attrs_as(ops.TurnStack).part for node in stacks]
    if not slices:
        # A Scan has an input that says how many turns there are.
        parts = [e.initializer(f"{loop.name}_turns", np.zeros(loop.count, np.float32))]
        axes = [0]
        body.counter()
    ends = [(part.axis, int(part.step < 0)) for part in whole] + [(0, 0)] * len(lasts)
    # ONNX has no empty attribute.
    placed = {
        "scan_output_axes": [axis for axis, _ in ends],
        "scan_output_directions": [back for _, back in ends],
    }
    outputs = e.emit_all(
        loop.name,
        "Scan",
        [*initial, *parts],
        len(updates) + len(ends),
        body=body.graph(loop.name),
        num_scan_inputs=len(parts),
        scan_input_axes=axes,
        **(placed if ends else {}),
    )
    states, rest = outputs[: len(updates)], outputs[len(updates) :]
    for node, tensor in zip(updates.values(), states, strict=True):
        e.alias(node.output, tensor)
    for node, tensor in zip(stacks, rest, strict=False):
        shape = e.ints(f"{node.name}_shape", graph.shape(node.output))
        e.store(node.output, e.emit(node.name, "Reshape", [tensor, shape]))
    for name, tensor in zip(lasts, rest[len(stacks) :], strict=True):
        last = e.initializer(f"{e.names[name]}_last", np.asarray(loop.count - 1, np.int64))
        e.alias(name, e.emit(e.names[name], "Gather", [tensor, last], axis=0))


def _read_at_last(graph: Graph, turns: Turns) -> list[str]:
    """Values of the last turn that are read and that no state of the Scan is."""
    read = (
        node.first
        for node in graph.nodes
        if isinstance(node.attrs, ops.TurnLast) and node.attrs.loop == turns.loop
    )
    return [name for name in dict.fromkeys(read) if not graph.producers[name].attrs.updates]


def _turns_apart(e: Emitter, node: Node) -> str:
    """The tensor that a TurnSlice reads, with an axis for the turns before that of its part."""
    attrs = node.attrs_as(ops.TurnSlice)
    places = e.initializer(f"{node.name}_places", _places(attrs.part, attrs.loop.count))
    axis = attrs.part.axis
    return e.emit(node.name, "Gather", [e.fetch(node.first), places], axis=axis)


def _places(part: Part, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Positions that each turn reads; int64 [count, size]."""
    first = part.start + part.step * np.arange(count, dtype=np.int64)
    return first[:, None] + np.arange(part.size, dtype=np.int64)[None, :]


class _Body:
    """The graph of a Scan in the making, of the nodes that the emitter collects meanwhile."""

    def __init__(self, e: Emitter, nodes: list[onnx.NodeProto]) -> None:
        self._emitter, self._nodes = e, nodes
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str) -> None:
        """Add an input that holds a value of the turn."""
        e = self._emitter
        tensor = e.fresh(f"{e.names[name]}_turn")
        self._inputs.append(_info(e, tensor, name))
        e.alias(name, tensor)

    def counter(self) -> None:
        """Add an input that nothing reads."""
        turn = self._emitter.fresh("turn")
        self._inputs.append(helper.make_tensor_value_info(turn, onnx.TensorProto.FLOAT, ()))

    def output(self, name: str) -> None:
        """Add an output that gives a value."""
        e = self._emitter
        made = e.emit(f"{name}_turn", "Identity", [e.fetch(name)])
        self._outputs.append(_info(e, made, name))

    def graph(self, name: str) -> onnx.GraphProto:
        """The graph."""
        return helper.make_graph(self._nodes, name, self._inputs, self._outputs)


def _info(e: Emitter, tensor: str, name: str) -> onnx.ValueInfoProto:
    """The exported tensor of a value."""
    return value_info(tensor, e.graph.values[name].dtype, e.graph.shape(name))
