"""Steps and memory of chains of layers that run in turns (`ir.rows`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.calls import Firing
from edgec.base.dtypes import Array
from edgec.ir.graph import Graph
from edgec.ir.rows import RowChain
from edgec.kernels.places import Place, root
from edgec.kernels.select import KernelChoice
from edgec.memory import Overlap


@dataclass(frozen=True, slots=True, eq=False)
class ChainSteps:
    """The steps of a chain.

    Attributes:
        chain: the chain.
        first_step, end_step: numbers of the first one, and of the first one after it.
    """

    chain: RowChain
    first_step: int
    end_step: int

    def holds(self, step: int) -> bool:
        """Whether a step belongs to the chain."""
        return self.first_step <= step < self.end_step

    def lasting(self, places: Mapping[str, Place]) -> frozenset[str]:
        """Values in whose buffers something lives in all turns of the chain."""
        names = self.chain.whole | self.chain.waiting
        names |= {each.tensor for each in self.chain.buffers.values()}
        if self.chain.handed is not None:
            names |= {self.chain.handed.name}
        return frozenset(root(places, name) for name in names)


def chain_steps(graph: Graph, choices: Sequence[KernelChoice]) -> tuple[ChainSteps, ...]:
    """The steps of each chain, in order."""
    number = {choice.node.name: step for step, choice in enumerate(choices)}
    found = []
    for chain in graph.chains:
        steps = [number[name] for name in chain.firings]
        found.append(ChainSteps(chain, min(steps), max(steps) + 1))
    return tuple(found)


def chain_overlaps(
    graph: Graph, choices: Sequence[KernelChoice], places: Mapping[str, Place]
) -> Iterator[Overlap]:
    """Tensors that a chain writes over the part of others that it has read.

    Output w and input u of a chain: each time that w gets rows, all that is read of u later, or by
    the same call, must lie at or beyond them.
    """
    for steps in chain_steps(graph, choices):
        own = choices[steps.first_step : steps.end_step]
        accesses = [_Access.of(graph, steps.chain, choice, places) for choice in own]
        whole = {root(places, name) for name in steps.chain.whole}
        filled = {root(places, fill.tensor) for fill in steps.chain.fills}
        written = {access.written.root for access in accesses}
        read = {each.root for access in accesses for _, each in access.reads}
        for output in sorted((written & whole) - filled):
            for source in sorted((read & whole) - written):
                distance = _distance(accesses, output, source)
                if distance is not None:
                    length = steps.end_step - steps.first_step
                    yield Overlap(output, source, distance, length)


@dataclass(frozen=True, slots=True)
class _Access:
    """Places that a step of a chain reads and writes each time.

    Attributes:
        firing: its times.
        written: where it writes.
        end_bytes: bytes that it writes.
        reads: its operands, and where they are.
        distances: how far `written` may lie over each operand by name, in one call.
    """

    firing: Firing
    written: Place
    end_bytes: int
    reads: tuple[tuple[str, Place], ...]
    distances: Mapping[str, int]

    @classmethod
    def of(
        cls, graph: Graph, chain: RowChain, choice: KernelChoice, places: Mapping[str, Place]
    ) -> _Access:
        """The accesses of a step."""
        output = choice.node.output
        names = [name for name in choice.reads if name in graph.values]
        return cls(
            chain.firings[choice.node.name],
            places.get(output, Place(output)),
            graph.values[output].size_bytes,
            tuple((name, places.get(name, Place(name))) for name in names),
            {each.input: each.distance_bytes for each in choice.overlaps},
        )


def _distance(accesses: Sequence[_Access], output: str, source: str) -> int | None:
    """Least distance from an output to an input; None where a call allows none."""
    found: list[int] = [0]
    for number, writer in enumerate(accesses):
        if writer.written.root != output:
            continue
        times = np.arange(writer.firing.count)
        turns = writer.firing.phase + writer.firing.period * times
        begins = _at(writer.written, times)
        for order, reader in enumerate(accesses):
            for name, place in reader.reads:
                if place.root != source:
                    continue
                if reader is writer:
                    if name not in writer.distances:
                        return None
                    own = begins + writer.distances[name] - _at(place, times)
                    found.append(int(own.max()))
                later = _first_after(reader.firing, turns, own=order > number)
                gaps = begins + writer.end_bytes - _at(place, later)
                found.append(int(gaps[later < reader.firing.count].max(initial=0)))
    return max(found)


def _first_after(firing: Firing, turns: Array, *, own: bool) -> Array:
    """The first time of a step after each of some turns, or from it on with `own`."""
    gone = turns - firing.phase + (0 if own else 1)
    return np.asarray(np.maximum(-(-gone // firing.period), 0))


def _at(place: Place, times: Array) -> Array:
    """Offset of a place in some times."""
    return np.asarray(place.offset_bytes + (place.strides[0] if place.strides else 0) * times)
