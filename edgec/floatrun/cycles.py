"""Nodes of a graph that run turn by turn, and those that run for all turns at once.

A node that no carried value depends on takes the rows of all turns together.  Only what lies
between a carried value and its update needs the result of the turn before.

The border of a loop, for all turns at once.

A value of a loop has the rows of all turns of a sample, one after the other: row
``sample * turns + turn``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.operands import Rule
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.operator import OperatorTable
from edgec.ir.turns import CARRY_OPERAND, Part, Scope, depth


@dataclass(frozen=True, slots=True, eq=False)
class Cycle:
    """Nodes that run turn by turn.

    Attributes:
        loop: the loop; None: the runs of the model.
        body: in the order of a turn.
        carried: names of the values that turns of this loop hand on.
        reads: names of tensors from outside of it.
        gives: names of values that are wanted outside of it.
    """

    loop: Scope
    body: tuple[Step, ...]
    carried: tuple[str, ...]
    reads: tuple[str, ...]
    gives: tuple[str, ...]

    def nodes(self) -> Iterator[Node]:
        """All nodes, those of inner cycles too."""
        for step in self.body:
            yield from step.nodes() if isinstance(step, Cycle) else (step,)


Step = Node | Cycle


def steps(graph: Graph) -> tuple[Step, ...]:
    """The nodes of a graph in an order of execution, those of carried values in cycles."""
    borders = (node.attrs.border for node in graph.nodes)
    # In the order of the graph, which is the same whatever the order of a set would be.
    loops = dict.fromkeys(border.loop for border in borders if border is not None)
    return _planned(graph, graph.nodes, sorted(loops, key=depth))


def reads(step: Step) -> tuple[str, ...]:
    """Names of what a step reads."""
    return step.reads if isinstance(step, Cycle) else tuple(name for name in step.inputs if name)


def gives(step: Step) -> tuple[str, ...]:
    """Names of what a step computes."""
    return step.gives if isinstance(step, Cycle) else step.outputs


def computed_in_turns(graph: Graph) -> frozenset[str]:
    """The values that are computed turn by turn."""
    cycles = (step for step in steps(graph) if isinstance(step, Cycle))
    return frozenset(name for cycle in cycles for node in cycle.nodes() for name in node.outputs)


def _planned(graph: Graph, nodes: Sequence[Node], loops: Sequence[Scope]) -> tuple[Step, ...]:
    """Steps for some nodes, whose cycles belong to some loops, the outermost first."""
    rest = list(loops)
    for loop in loops:
        rest.remove(loop)
        names = _cycle(graph, nodes, loop)
        if names:
            break
    else:
        return tuple(nodes)
    own = [node for node in nodes if node.name in names]
    later = _later(graph, nodes, own, rest) - names
    before = [node for node in nodes if node.name not in names | later]
    after = [node for node in nodes if node.name in later]
    made = dict.fromkeys(name for node in own for name in node.outputs)
    read = dict.fromkeys(name for node in own for name in node.inputs if name)
    cycle = Cycle(
        loop,
        _planned(graph, own, rest),
        tuple(name for node in own if _carries(node, loop) for name in node.outputs),
        tuple(name for name in read if name not in made),
        tuple(name for name in made if _is_wanted(graph, name, names)),
    )
    return (*_planned(graph, before, rest), cycle, *_planned(graph, after, rest))


def _later(
    graph: Graph, nodes: Sequence[Node], own: Sequence[Node], loops: Sequence[Scope]
) -> set[str]:
    """Names of the nodes that depend on a cycle, and of whole cycles of other loops if one does.

    A cell that reads this one begins with values of its own, which do not depend on it.
    """
    values = {name for node in own for name in node.outputs}
    begun: set[str] = set()
    while True:
        later = _after(nodes, values) | begun
        begins = [
            node
            for node in nodes
            for name in node.outputs
            if name in graph.updates and graph.updates[name].name in later and name not in values
            if any(_carries(node, loop) for loop in loops)
        ]
        if not begins:
            return later
        values.update(name for node in begins for name in node.outputs)
        begun.update(node.name for node in begins)


def _cycle(graph: Graph, nodes: Sequence[Node], loop: Scope) -> set[str]:
    """Names of the nodes between the carried values of a loop and their updates."""
    carried = {name for node in nodes if _carries(node, loop) for name in node.outputs}
    carried &= set(graph.updates)
    needed = {name for node in nodes for name in _updating(node, carried)}
    found: set[str] = set()
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            needed.update(node.inputs)
            found.add(node.name)
    return found & _after(nodes, carried) | {n.name for n in nodes if carried & {*n.outputs}}


def _is_wanted(graph: Graph, name: str, own: set[str]) -> bool:
    """Whether others than some nodes read a value."""
    others = any(node.name not in own for node in graph.consumers[name])
    return others or name in graph.outputs


def _carries(node: Node, loop: Scope) -> bool:
    border = node.attrs.border
    return border is not None and border.carries and border.loop == loop


def _updating(node: Node, carried: set[str]) -> Iterator[str]:
    if node.attrs.updates and node.inputs[CARRY_OPERAND] in carried:
        yield from node.outputs


def _after(nodes: Sequence[Node], names: set[str]) -> set[str]:
    """Names of the nodes that depend on some values."""
    reached, found = set(names), set()
    for node in nodes:
        if not reached.isdisjoint(node.inputs):
            reached.update(node.outputs)
            found.add(node.name)
    return found


RULES = OperatorTable[Rule]()


@RULES.entry(ops.TurnSlice)
def _turn_slice(attrs: ops.TurnSlice, inputs: ops.OneInput.Inputs[Array]) -> Array:
    x, count = inputs.x, attrs.loop.count
    parts = [x[_index(attrs.part, turn)] for turn in range(count)]
    return np.stack(parts, axis=1).reshape(len(x) * count, *parts[0].shape[1:])


@RULES.entry(ops.TurnStack)
def _turn_stack(attrs: ops.TurnStack, inputs: ops.OneInput.Inputs[Array]) -> Array:
    turns = by_turn(inputs.x, attrs.loop.count)
    shape = attrs.part.of_all(inputs.x.shape[1:], attrs.loop.count)
    whole = np.empty((len(turns), *shape), inputs.x.dtype)
    for turn in range(attrs.loop.count):
        whole[_index(attrs.part, turn)] = turns[:, turn]
    return whole


@RULES.entry(ops.TurnLast)
def _turn_last(attrs: ops.TurnLast, inputs: ops.OneInput.Inputs[Array]) -> Array:
    return by_turn(inputs.x, attrs.loop.count)[:, -1]


@RULES.entry(ops.Update)
def _update(_attrs: ops.Update, inputs: ops.Update.Inputs[Array]) -> Array:
    return inputs.x


def by_turn(x: Array, count: int) -> Array:
    """The rows of all turns with an axis for the turns: [S * count, ...] as [S, count, ...]."""
    return x.reshape(len(x) // count, count, *x.shape[1:])


def repeated(x: Array, rows: int) -> Array:
    """A value that turns only read, once for each of them: [S, ...] as [rows, ...]."""
    return x if len(x) == rows else np.repeat(x, rows // len(x), axis=0)


def _index(part: Part, turn: int) -> tuple[slice, ...]:
    return slice(None), *part.index(turn)
