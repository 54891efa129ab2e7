"""Lifetimes: which bytes must exist at which step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from edgec.ir.graph import Graph
from edgec.ir.turns import Loop, Scope, contains, depth
from edgec.kernels.places import Place, held_in, is_state, is_turned, places_of, root
from edgec.kernels.rows import chain_overlaps, chain_steps
from edgec.kernels.select import KernelChoice
from edgec.memory import Buffer, Overlap, Space


@dataclass(frozen=True, slots=True)
class LoopSteps:
    """The steps that a loop repeats.

    Attributes:
        loop: the loop.
        first_step, end_step: numbers of the first one, and of the first one after it.
    """

    loop: Loop
    first_step: int
    end_step: int


def buffers_of(
    graph: Graph, choices: Sequence[KernelChoice]
) -> tuple[tuple[Buffer, ...], tuple[Overlap, ...], Mapping[str, Place]]:
    """Buffers, overlaps and places for the memory planner.

    Steps are the choices, in order.  Graph inputs live from step 0, graph outputs to one
    step beyond the last; the scratch memory of a step is a buffer of its own.  What a loop reads
    from outside of it, and what it hands on from turn to turn, lives in all of its steps; the state
    of the model always does.

    Args:
        graph: INTEGER stage.
        choices: what `select_kernels` chose for this graph.

    Returns:
        Buffers by order of first use; overlaps between buffers; and the places of values without a
        buffer of their own (`kernels.places`).
    """
    places = places_of(graph, choices)
    lives = _Lives(graph, choices, places)
    buffers = [
        Buffer(
            name,
            graph.values[name].size_bytes,
            lives.first[name],
            lives.last[name] + 1,
            Space.STATE if is_state(graph, name) else Space.ARENA,
        )
        for name in lives.first
    ]
    buffers += [
        Buffer(scratch_name(graph, choice), choice.scratch_bytes, step, step + 1)
        for step, choice in enumerate(choices)
        if choice.scratch_bytes
    ]
    return tuple(buffers), tuple(_overlaps(graph, choices, places)), places


def place_at(places: Mapping[str, Place], name: str) -> int:
    """Offset of the bytes of a value in their buffer."""
    return places[name].offset_bytes if name in places else 0


def loop_steps(graph: Graph, choices: Sequence[KernelChoice]) -> tuple[LoopSteps, ...]:
    """The steps of each loop that has some, an outer loop before those within it."""
    found: dict[Loop, LoopSteps] = {}
    for step, choice in enumerate(choices):
        scope = graph.scopes.nodes[choice.node.name]
        for loop in scope.chain if scope else ():
            first = found[loop].first_step if loop in found else step
            found[loop] = LoopSteps(loop, first, step + 1)
    return tuple(found.values())


def scratch_name(graph: Graph, choice: KernelChoice) -> str:
    """Name of the scratch buffer of a step; no value has it."""
    name = f"scratch of {choice.node.name}"
    while name in graph.values:
        name += "'"
    return name


def copy_name(graph: Graph, choice: KernelChoice) -> str:
    """Name of the buffer of a step that holds a copy of its weights; no value has it."""
    name = f"weights of {choice.node.name}"
    while name in graph.values:
        name += "'"
    return name


def _overlaps(
    graph: Graph, choices: Sequence[KernelChoice], places: Mapping[str, Place]
) -> Iterator[Overlap]:
    """Overlaps of outputs with operands whose bytes the next turn does not need."""
    steps = chain_steps(graph, choices)
    lasting = {name for each in steps for name in each.lasting(places)}
    fired = {name for each in steps for name in each.chain.firings}
    for choice in choices:
        for found in choice.overlaps:
            output, source = root(places, found.output), root(places, found.input)
            turned = any(is_turned(graph, name, choice.node) for name in (output, source))
            if turned or (choice.node.name in fired and lasting & {output, source}):
                continue
            moved = place_at(places, found.output) - place_at(places, found.input)
            yield Overlap(output, source, found.distance_bytes + moved)
    yield from chain_overlaps(graph, choices, places)


class _Lives:
    """First and last step of each value that has a buffer of its own.

    Attributes:
        first, last: steps by name.
    """

    def __init__(
        self, graph: Graph, choices: Sequence[KernelChoice], places: Mapping[str, Place]
    ) -> None:
        self._graph = graph
        self._places = places
        self._steps = {each.loop: each for each in loop_steps(graph, choices)}
        self.first = {root(places, name): 0 for name in graph.inputs}
        self.last = dict(self.first)
        for step, choice in enumerate(choices):
            scope = graph.scopes.nodes[choice.node.name]
            names = (*choice.node.outputs, *(n for n in choice.reads if n in graph.values))
            for name in names:
                self._touch(root(places, name), step, scope)
        for chain in chain_steps(graph, choices):
            for name in chain.lasting(places):
                self.first[name] = min(self.first[name], chain.first_step)
                self.last[name] = max(self.last[name], chain.end_step - 1)
        # One step beyond the last: the last step may read an output but not write over it.
        for name in graph.outputs:
            self.last[root(places, name)] = len(choices)
        for name in self.first:
            if is_state(graph, name):
                self.first[name], self.last[name] = 0, len(choices)

    def _touch(self, name: str, step: int, scope: Scope) -> None:
        """A step reads or writes a buffer, in each turn of the loops between them."""
        home = held_in(self._graph, name)
        while not contains(home, scope):
            home = home.within if home else None
        first = last = step
        if scope is not None and scope != home:
            steps = self._steps[scope.chain[depth(home)]]
            first, last = steps.first_step, steps.end_step - 1
        self.first[name] = min(first, self.first.get(name, first))
        self.last[name] = max(last, self.last.get(name, last))
