"""Loops over the cell of an LSTM, GRU or RNN as these operators of ONNX.

Weights keep their codes, with a DequantizeLinear after them, and what the operator reads and gives
passes the Q/DQ pairs of any value; between them it computes in float, where the integers round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, permutations

import numpy as np

from edgec.exporters.onnx.cells import Cell, Gate, Term, cell_of
from edgec.exporters.onnx.state import Emitter
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.ir.turns import CARRY_OPERAND, Part, Turns


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A loop that still is its operator.

    Attributes:
        turns: the loop.
        cell: what a turn computes.
        source: gives the part of the sequence that a turn reads.
        updates: nodes that update the hidden state, and an LSTM's cell.
        stacks: collect hidden states.
        lasts: values that are read after the last turn, and the number of their state.
    """

    turns: Turns
    cell: Cell
    source: Node
    updates: tuple[Node, ...]
    stacks: tuple[Node, ...]
    lasts: dict[str, int]


def are_recurrent(graph: Graph) -> bool:
    """Whether all that a graph computes from its own past becomes a recurrent operator of ONNX."""
    states = any(node.carries and graph.scopes.values[node.output] is None for node in graph.nodes)
    loops = (item for item in graph.sequence if isinstance(item, Turns))
    return not states and all(_found(graph, turns) for turns in loops)


def emit_recurrent(e: Emitter, turns: Turns) -> bool:
    """Add the operator that a loop was, if its body still is the operator's cell.

    Args:
        e: receives it.
        turns: the loop.

    Returns:
        False where the loop is no such operator; then nothing was added.
    """
    found = _found(e.graph, turns)
    if found is not None:
        _emit(e, found)
    return found is not None


def _found(graph: Graph, turns: Turns) -> _Found | None:
    own = [item for item in turns.body if isinstance(item, Node)]
    loop = turns.loop
    updates = [node for node in own if node.attrs.updates]
    count = 1 + (loop.operator == "LSTM")
    if not loop.operator or len(own) < len(turns.body) or len(updates) != count:
        return None
    for order in permutations(updates):
        states = [node.inputs[CARRY_OPERAND] for node in order]
        cell = cell_of(graph, loop.operator, states, [_root(graph, node.first) for node in order])
        if cell is not None:
            break
    else:
        return None
    source = graph.producers.get(cell.x)
    if source is None or not isinstance(source.attrs, ops.TurnSlice):
        return None
    backwards = source.attrs.part.step < 0
    line = Part.backwards(0, loop.count) if backwards else Part(0)
    stacks = [node for node in own if isinstance(node.attrs, ops.TurnStack)]
    parts = [source.attrs.part, *(node.attrs_as(ops.TurnStack).part for node in stacks)]
    read = {
        node.first
        for node in graph.nodes
        if isinstance(node.attrs, ops.TurnLast) and node.attrs.loop == loop
    }
    new = {name: place for place, node in enumerate(order) for name in (node.output, node.first)}
    hidden = _root(graph, order[0].first)
    if (
        any(replace(part, axis=0) != line for part in parts)
        or any(_root(graph, node.first) != hidden for node in stacks)
        or not read <= set(new)
    ):
        return None
    return _Found(
        turns, cell, source, order, tuple(stacks), {name: new[name] for name in sorted(read)}
    )


def _root(graph: Graph, name: str) -> str:
    """The value that a value is another shape of."""
    while name in graph.producers and isinstance(graph.producers[name].attrs, ops.Reshape):
        name = graph.producers[name].first
    return name


def _emit(e: Emitter, found: _Found) -> None:
    graph, loop, cell = e.graph, found.turns.loop, found.cell
    units, features = len(cell.gates[0].b), cell.gates[0].x.weights.shape[1]
    rows = graph.shape(found.updates[0].output)
    batch = int(np.prod(rows)) // units
    x = _turns_first(e, found.source, (loop.count, batch, features))
    weights = [
        _weights(e, f"{loop.name}_{stem}", [term(gate) for gate in cell.gates])
        for stem, term in (("W", _of_x), ("R", _of_h))
    ]
    biases = [*(gate.b for gate in cell.gates), *(gate.rb for gate in cell.gates)]
    inputs = [x, *weights, e.initializer(f"{loop.name}_B", np.concatenate(biases)[None]), ""]
    for node in found.updates:
        first = graph.producers[node.inputs[CARRY_OPERAND]].first
        inputs.append(_reshaped(e, loop.name, e.fetch(first), (1, batch, units)))
    outputs = e.emit_all(
        loop.name,
        loop.operator,
        inputs,
        1 + len(found.updates),
        hidden_size=units,
        direction="reverse" if found.source.attrs_as(ops.TurnSlice).part.step < 0 else "forward",
        **_attributes(cell),
    )
    for node in found.stacks:
        e.store(node.output, _turns_back(e, node, outputs[0], loop.count))
    for name, place in found.lasts.items():
        e.store(name, _reshaped(e, name, outputs[1 + place], graph.shape(name)))


def _of_x(gate: Gate) -> Term:
    return gate.x


def _of_h(gate: Gate) -> Term:
    return gate.h


def _attributes(cell: Cell) -> dict[str, object]:
    """Functions and numbers of a cell; empty lists are none."""
    numbers = [each.numbers for each in cell.functions]
    lists = {
        "activations": [each.name for each in cell.functions],
        "activation_alpha": [each[0] for each in numbers if each],
        "activation_beta": [each[1] for each in numbers if len(each) > 1],
    }
    found: dict[str, object] = {name: values for name, values in lists.items() if values}
    if cell.functions[0].clip:
        found["clip"] = cell.functions[0].clip
    if cell.coupled:
        found["input_forget"] = 1
    if cell.linear_before_reset:
        found["linear_before_reset"] = 1
    return found


def _weights(e: Emitter, name: str, terms: Sequence[Term]) -> str:
    """Weights of all gates, [1, gates * units, columns]; one constant where gates share factors."""
    parts = []
    for factor, group in groupby(terms, key=lambda term: tuple(term.factor.tolist())):
        same = list(group)
        array = np.concatenate([term.weights for term in same])[None]
        quants = [term.quant for term in same if term.quant is not None]
        part = e.constant(name, array, _joined(quants) if quants else None)
        if set(factor) != {1.0}:
            line = e.initializer(f"{name}_factor", np.asarray(factor, np.float32))
            part = e.emit(name, "Mul", [part, line])
        parts.append(part)
    return parts[0] if len(parts) == 1 else e.emit(name, "Concat", parts, axis=1)


def _joined(quants: Sequence[QuantParams]) -> QuantParams:
    """The parameters of rows one after the other, along axis 1."""
    scale = tuple(scale for quant in quants for scale in quant.scale)
    return replace(quants[0], scale=scale, zero_point=(0,) * len(scale), axis=1)


def _turns_first(e: Emitter, node: Node, shape: tuple[int, ...]) -> str:
    """The sequence that a TurnSlice reads, its turns along the first axis, with a shape."""
    whole, axis = e.graph.shape(node.first), node.attrs_as(ops.TurnSlice).part.axis
    x = e.fetch(node.first)
    if axis:
        order = [axis, *(each for each in range(len(whole)) if each != axis)]
        x = e.emit(node.name, "Transpose", [x], perm=order)
    return _reshaped(e, node.name, x, shape)


def _turns_back(e: Emitter, node: Node, y: str, count: int) -> str:
    """The value of a TurnStack, of hidden states [count, 1, batch, units]."""
    whole, axis = list(e.graph.shape(node.output)), node.attrs_as(ops.TurnStack).part.axis
    del whole[axis]
    y = _reshaped(e, node.name, y, (count, *whole))
    if not axis:
        return y
    order = [*range(1, axis + 1), 0, *range(axis + 1, len(whole) + 1)]
    return e.emit(node.name, "Transpose", [y], perm=order)


def _reshaped(e: Emitter, stem: str, tensor: str, shape: Sequence[int]) -> str:
    return e.emit(stem, "Reshape", [tensor, e.ints(f"{stem}_shape", shape)])
