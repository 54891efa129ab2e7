"""Places of the bytes of values: in a buffer of their own, or within that of another value.

A value without a kernel of its own is a view: a reshape, the part of a tensor that a turn reads, a
carried value in the bytes of its initial value.  And a kernel may write where its output is wanted:
over an operand that nobody reads any more, into the tensor of all turns, over the carried value
that it updates.  Which operators at the border of loops need a copy is decided here, too.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgec.base.errors import InternalError
from edgec.ir import qops
from edgec.ir.carried import Reading, late_readings, readings
from edgec.ir.graph import Graph, Node
from edgec.ir.rows import ROWS
from edgec.ir.turns import Loop, Part, Scope, depth
from edgec.memory import ALIGNMENT_BYTES

if TYPE_CHECKING:
    from edgec.kernels.select import KernelChoice

VIEWS = (qops.QReshape, qops.RowView, qops.QColumnsJoined, qops.QChannelsJoined)
"""Operators that never have a kernel: their output and input are the same bytes."""
BORDERS = (qops.QTurnSlice, qops.QTurnStack, qops.QTurnLast, qops.QCarry, qops.QUpdate)
"""Operators that move codes between turns: each is a view, or a copy."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place of the bytes of a value.

    Attributes:
        root: the value whose buffer holds them.
        offset_bytes: from the start of that buffer.
        strides: bytes by which the place moves on with each turn of the loops around it, from the
            outermost on.
    """

    root: str
    offset_bytes: int = 0
    strides: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it is the start of the buffer in every turn."""
        return not self.offset_bytes and not any(self.strides)

    def within(self, outer: Place) -> Place:
        """The place of a value in the bytes of its `root`, which lie elsewhere themselves."""
        pairs = itertools.zip_longest(self.strides, outer.strides, fillvalue=0)
        moved = self.offset_bytes + outer.offset_bytes
        return Place(outer.root, moved, tuple(own + more for own, more in pairs))

    def in_turn(self, level: int, turn: int) -> Place:
        """The place in one turn of the loop of a level, for readers outside of it."""
        if len(self.strides) <= level:
            return self
        moved = self.offset_bytes + turn * self.strides[level]
        return Place(self.root, moved, self.strides[:level])


def part_place(graph: Graph, name: str, part: Part, loop: Scope) -> Place:
    """Place of the part of a turn in the bytes of the whole tensor `name`."""
    shape = graph.shape(name)
    each = math.prod(shape[part.axis + 1 :]) * graph.dtype(name).size_bytes
    strides = (0,) * (depth(loop) - 1) + (part.step * each,)
    return Place(name, part.start * each, strides)


def row_place(graph: Graph, view: qops.RowView, whole: str) -> Place:
    """Place of rows in the tensor `whole`."""
    value = graph.values[whole]
    each = value.size_bytes // value.shape[ROWS]
    strides = (view.step * each,) if view.step else ()
    return Place(whole, view.start * each, strides)


def is_one_piece(graph: Graph, name: str, part: Part, loop: Scope) -> bool:
    """Whether the bytes of each part are neighbours, and begin where kernels can read words."""
    place = part_place(graph, name, part, loop)
    aligned = all(each % ALIGNMENT_BYTES == 0 for each in (place.offset_bytes, *place.strides))
    return aligned and math.prod(graph.shape(name)[: part.axis]) == 1


def copied_borders(graph: Graph, choices: Sequence[KernelChoice]) -> frozenset[str]:
    """Names of the nodes at the border of loops that need a copy.

    Args:
        graph: INTEGER stage.
        choices: kernels of the nodes that compute something.

    Raises:
        InternalError: `passes.hold_carried` was not applied.
    """
    if graph.is_straight:
        return frozenset()
    for carry in graph.updates:
        if any(late_readings(graph, carry)):
            raise InternalError("a carried value is read after its update", where=carry)
    return frozenset(_Borders(graph, choices).copied)


def places_of(graph: Graph, choices: Sequence[KernelChoice]) -> dict[str, Place]:
    """The place of every value that has not a buffer of its own.

    Args:
        graph: INTEGER stage.
        choices: the kernels of all nodes, copies at the border of loops included.
    """
    links = {} if graph.is_straight else _Borders(graph, choices).links
    for node in graph.nodes:
        if isinstance(node.attrs, qops.QReshape):
            links.setdefault(node.output, Place(node.input))
        elif isinstance(node.attrs, qops.QRowsFrom):
            links[node.output] = row_place(graph, node.attrs, node.input)
        elif isinstance(node.attrs, qops.QRowsInto):
            links[node.input] = row_place(graph, node.attrs, node.output)
        elif isinstance(node.attrs, qops.QColumnsJoined):
            links |= dict.fromkeys(node.inputs, Place(node.output))
        elif isinstance(node.attrs, qops.QChannelsJoined):
            sizes = [graph.values[name].size_bytes for name in node.inputs]
            starts = itertools.accumulate(sizes, initial=0)
            links |= {n: Place(node.output, at) for n, at in zip(node.inputs, starts, strict=False)}
    links |= _replaced(graph, choices, links)
    return {name: place_in(graph, links, name) for name in links}


def place_in(graph: Graph, links: Mapping[str, Place], name: str) -> Place:
    """Follow links to the buffer that holds the bytes of a value."""
    link = links.get(name)
    if link is None:
        return Place(name)
    outer = place_in(graph, links, link.root)
    node = graph.producers.get(name)
    if node is not None and isinstance(node.attrs, qops.QTurnLast):
        loop = node.attrs.loop
        outer = outer.in_turn(depth(loop) - 1, loop.count - 1)
    return link.within(outer)


def root(places: Mapping[str, Place], name: str) -> str:
    """The value in whose buffer the bytes of `name` lie."""
    return places[name].root if name in places else name


def held_in(graph: Graph, root: str) -> Scope:
    """The loop in whose turns the buffer of a value lives; of a carried value the one around."""
    node = graph.producers.get(root)
    if node is not None and isinstance(node.attrs, qops.QCarry):
        return graph.scopes.nodes[node.name]
    return graph.scopes.values.get(root)


def is_state(graph: Graph, name: str) -> bool:
    """Whether a value is a part of the state of the model."""
    node = graph.producers.get(name)
    return node is not None and isinstance(node.attrs, qops.QCarry) and node.attrs.loop is None


def is_turned(graph: Graph, root: str, node: Node) -> bool:
    """Whether the buffer of a value lives from turn to turn of the loop that a node runs in."""
    return is_state(graph, root) or held_in(graph, root) != graph.scopes.nodes[node.name]


class _Borders:
    """Form of each operator at the border of a loop: an alias, or a copy.

    Attributes:
        links: for values that are views, or are written in place, where they lie in another one.
        copied: names of the nodes that need a copy.
    """

    def __init__(self, graph: Graph, choices: Sequence[KernelChoice]) -> None:
        self._graph = graph
        self._scopes = graph.scopes
        self._number = {node.name: number for number, node in enumerate(graph.nodes)}
        self._choices = {choice.node.name: choice for choice in choices}
        self.links: dict[str, Place] = {}
        self.copied: set[str] = set()
        rules = (
            (qops.QUpdate, self._update),
            (qops.QCarry, self._carry),
            (qops.QTurnStack, self._stack),
            (qops.QTurnSlice, self._slice),
            (qops.QTurnLast, self._last),
        )
        for kind, rule in rules:
            for node in graph.nodes:
                if isinstance(node.attrs, kind) and not rule(node):
                    self.copied.add(node.name)

    def _update(self, node: Node) -> bool:
        """Let the kernel of x write over the carried value, if nobody reads that any more."""
        inputs = qops.QUpdate.Inputs.of(node.inputs)
        self.links[node.output] = Place(inputs.carry)
        source = self._seen(inputs.x)
        if source == inputs.carry:
            return True
        if not self._is_free(source, self._scopes.values[inputs.carry]):
            return False
        if is_state(self._graph, inputs.carry) and self._is_output(source):
            return False
        others = (r for r in readings(self._graph, inputs.carry) if r.node is not node)
        if not all(self._is_over(inputs.carry, r, source) for r in others):
            return False
        self.links[source] = Place(inputs.carry)
        return True

    def _carry(self, node: Node) -> bool:
        """Let the initial value be the carried value, if nobody else reads it."""
        attrs, scope = node.attrs_as(qops.QCarry), self._scopes.nodes[node.name]
        if attrs.loop is None:
            return True
        source = self._seen(node.input)
        own = source in self._graph.inputs or self._is_free(source, scope)
        if not own or self._scopes.values.get(source) != scope or source in self.links:
            return False
        found = list(readings(self._graph, source))
        if len(found) != 1 or found[0].node is not node:
            return False
        self.links[node.output] = Place(source)
        return True

    def _stack(self, node: Node) -> bool:
        """Let the kernel of x write into the tensor of all turns."""
        attrs = node.attrs_as(qops.QTurnStack)
        source = self._seen(node.input)
        one = is_one_piece(self._graph, node.output, attrs.part, attrs.loop)
        if not one or not self._is_free(source, attrs.loop) or self._is_left(source, attrs.loop):
            return False
        self.links[source] = part_place(self._graph, node.output, attrs.part, attrs.loop)
        return True

    def _slice(self, node: Node) -> bool:
        attrs = node.attrs_as(qops.QTurnSlice)
        one = is_one_piece(self._graph, node.input, attrs.part, attrs.loop)
        if self._graph.is_constant(node.input) or not one or self._is_left(node.output, attrs.loop):
            return False
        self.links[node.output] = part_place(self._graph, node.input, attrs.part, attrs.loop)
        return True

    def _last(self, node: Node) -> bool:
        if self._graph.is_constant(node.input):
            return False
        self.links[node.output] = Place(node.input)
        return True

    def _is_left(self, name: str, loop: Loop) -> bool:
        """Whether a value of the last turn is read where the length of a run says which that is."""
        length = self._graph.length
        if length is None or loop.name not in length.loops:
            return False
        waiting = [name]
        while waiting:
            for node in self._graph.consumers[waiting.pop()]:
                if isinstance(node.attrs, qops.QTurnLast):
                    return True
                waiting.extend(node.outputs if isinstance(node.attrs, qops.QReshape) else ())
        return False

    def _seen(self, name: str) -> str:
        """The value that others are a reshape of."""
        node = self._graph.producers.get(name)
        while node is not None and isinstance(node.attrs, qops.QReshape):
            name = node.input
            node = self._graph.producers.get(name)
        return name

    def _is_free(self, name: str, loop: Scope) -> bool:
        """Whether a kernel in a turn of a loop writes a value, and may write it anywhere."""
        node = self._graph.producers.get(name)
        if node is None or name in self.links or self._scopes.values[name] != loop:
            return False
        return isinstance(node.attrs, qops.QTurnStack) or not isinstance(node.attrs, BORDERS)

    def _is_output(self, name: str) -> bool:
        return any(reading.node is None for reading in readings(self._graph, name))

    def _is_over(self, carry: str, reading: Reading, written: str) -> bool:
        """Whether a carried value is read before, or while, another value is written over it."""
        reader, maker = reading.node, self._graph.producers[written]
        if reader is None:
            return False
        if self._number[reader.name] < self._birth(maker):
            return True
        whole = self._seen(reading.name) == carry
        return reader is maker and whole and self._runs_in_place(maker, reading.name)

    def _birth(self, maker: Node) -> int:
        """The number of the first node that writes what a node gives."""
        if not isinstance(maker.attrs, qops.QTurnStack):
            return self._number[maker.name]
        loop = maker.attrs.loop
        inside = (n for n in self._graph.nodes if _is_within(self._scopes.nodes[n.name], loop))
        return min(self._number[node.name] for node in inside)

    def _runs_in_place(self, maker: Node, name: str) -> bool:
        """Whether the kernel of a node may write its output over an operand, byte for byte."""
        choice = self._choices.get(maker.name)
        if choice is None:
            return False
        places = [number for number, read in enumerate(choice.reads) if read == name]
        if choice.family.in_place(choice.spec):
            return places == [0]
        distances = [o.distance_bytes for o in choice.overlaps if o.input == name]
        return len(distances) == len(places) and max(distances) <= 0


def _is_within(scope: Scope, loop: Scope) -> bool:
    return scope is not None and loop in scope.chain


def _replaced(
    graph: Graph, choices: Sequence[KernelChoice], links: Mapping[str, Place]
) -> dict[str, Place]:
    """Outputs that take the place of an operand that nobody reads any more."""

    def seen(name: str) -> str:
        place = place_in(graph, links, name)
        return place.root if place.is_whole else name

    reads = Counter(
        seen(name)
        for node in graph.nodes
        if not isinstance(node.attrs, qops.QReshape)
        for name in qops.tensors_of(node.attrs.Inputs.of(node.inputs))
    )
    kept = {seen(name) for name in graph.outputs}
    found = {}
    for choice in choices:
        output = choice.node.outputs[0]
        alone = len(choice.node.outputs) == 1
        if alone and output not in links and choice.family.in_place(choice.spec):
            source = choice.reads[0]
            root = place_in(graph, links, source).root
            # Steps go in the order of nodes: the only reader is the last one.
            if (
                source in graph.values
                and reads[seen(source)] == 1
                and seen(source) == root not in kept
                and not is_turned(graph, root, choice.node)
            ):
                found[output] = Place(source)
    return found
