"""Memory and time of a graph with its kernels, for layers that run in turns of a few rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from edgec.base.calls import Firing
from edgec.ir.graph import Graph, Node
from edgec.ir.rows import ROWS, RowBuffer
from edgec.kernels.buffers import buffers_of
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.price import run_cycles
from edgec.kernels.select import KernelChoice, kernel_candidates, select_kernels
from edgec.memory import Peak, plan_memory
from edgec.passes.rows.price import BYTE_CYCLES, Need
from edgec.passes.rows.reads import Read
from edgec.passes.rows.row_graph import by_itself
from edgec.target.target import Target

_SLOWER = 1.7
"""Kernels with less scratch memory may take this many times the cycles of the fastest one."""


def with_less_scratch(
    graph: Graph, choices: Sequence[KernelChoice], target: Target
) -> Iterator[tuple[tuple[KernelChoice, ...], int]]:
    """Kernels with less and less scratch memory for the steps that need most, and what all need.

    Those that take little longer are taken, as long as the need of a step falls.
    """
    found, estimator = list(choices), estimator_of(target)
    fired = {name for chain in graph.chains for name in chain.firings}
    peak = peak_of(graph, found)
    while True:
        yield tuple(found), peak.arena_bytes
        step = max(range(len(found)), key=lambda number: peak.by_step[number])
        own = found[step]
        if own.node.name not in fired:
            break
        smaller = _smaller(graph, own, target, estimator)
        if smaller is None:
            break
        found[step] = smaller
        before, peak = peak, peak_of(graph, found)
        if peak.by_step[step] >= before.by_step[step]:
            break


def _smaller(
    graph: Graph, own: KernelChoice, target: Target, estimator: Estimator | None
) -> KernelChoice | None:
    """The fastest kernel of a layer with less scratch memory; None: there is none so fast."""
    if estimator is None or not own.scratch_bytes:
        return None
    first, *others = kernel_candidates(graph, own.node, target)
    # Other loops of a family are longer: what is repeated often must stay in the core's cache.
    families = {each.family: each for each in reversed(others)}
    most, found = _SLOWER * (run_cycles(graph, first, estimator) or 0.0), []
    for each in families.values():
        if each.scratch_bytes < own.scratch_bytes:
            cycles = run_cycles(graph, each, estimator)
            if cycles is not None and cycles <= most:
                found.append((cycles, each))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def arena_of(graph: Graph, choices: Sequence[KernelChoice]) -> int:
    """Bytes of the arena, planned."""
    return plan_memory(*buffers_of(graph, choices)[:2]).arena_bytes


def estimator_of(target: Target) -> Estimator | None:
    """Estimates of cycles; None where no core is modelled."""
    modelled = target.is_cortex_m and target.price_key
    return Estimator.of(target) if modelled else None


def cycles_of(graph: Graph, choices: Sequence[KernelChoice], target: Target) -> float | None:
    """Cycles of a run of the layers that have a price; None where no core is modelled."""
    estimator = estimator_of(target)
    if estimator is None:
        return None
    times = times_of(graph)
    each = cycles_by_name(graph, choices, estimator)
    return sum(n * times.get(name, 1) for name, n in each.items()) + _slid(graph) * BYTE_CYCLES


def times_of(graph: Graph) -> dict[str, int]:
    """Number of times that the nodes of chains run, by name."""
    return {name: firing.count for chain in graph.chains for name, firing in chain.firings.items()}


def cycles_by_name(
    graph: Graph, choices: Sequence[KernelChoice], estimator: Estimator
) -> dict[str, float]:
    """Cycles of a call of each node that has a price."""
    prices = {each.node.name: run_cycles(graph, each, estimator) for each in choices}
    return {name: cycles for name, cycles in prices.items() if cycles is not None}


def _slid(graph: Graph) -> int:
    """Bytes that slide in a run."""
    total = 0
    for chain in graph.chains:
        for name, buffer in chain.buffers.items():
            total += _slid_by(graph, buffer, chain.firings[name])
        if chain.handed is not None:
            total += _slid_by(graph, chain.handed.buffer, chain.handed.firing)
    return total


def _slid_by(graph: Graph, buffer: RowBuffer, firing: Firing) -> int:
    value = graph.values[buffer.tensor]
    kept = value.size_bytes - value.size_bytes // value.shape[ROWS] * buffer.rows
    return kept * (firing.count + firing.padding)


def peak_of(graph: Graph, choices: Sequence[KernelChoice], *, overlapping: bool = True) -> Peak:
    """Need of each step, with outputs over consumed inputs where kernels allow it, or without."""
    buffers, overlaps, _ = buffers_of(graph, choices)
    return Peak.of(buffers, overlaps if overlapping else ())


class NodeNeeds:
    """Memory and time of nodes that compute some rows at a time (`passes.rows.price.Needs`).

    Each is found once, for all nodes that differ in names alone: strips have many of those.

    Args:
        target: the processor.
        estimator: its cycles; None: nobody has measured the core.
    """

    def __init__(self, target: Target, estimator: Estimator | None) -> None:
        self._target, self._estimator = target, estimator
        self._known: dict[object, dict[int, Need]] = {}

    def __call__(self, graph: Graph, node: Node, reads: tuple[Read, ...]) -> Callable[[int], Need]:
        """The need of a node, by the rows that it computes at a time.

        Args:
            graph: INTEGER stage, straight.
            node: one of it, or of a patch of it: equal names of constants have equal numbers.
            reads: what it reads by rows.
        """
        tensors = ((name, graph.values.get(name)) for name in (*node.inputs, node.output))
        forms = tuple(
            name if value is None else (value.shape, value.dtype, value.quant)
            for name, value in tensors
        )
        known = self._known.setdefault((node.attrs, forms), {})

        def need(rows: int) -> Need:
            if rows not in known:
                known[rows] = self._found(by_itself(graph, node, reads, rows))
            return known[rows]

        return need

    def _found(self, graph: Graph) -> Need:
        """Memory and time of a graph of one node."""
        (choice,) = select_kernels(graph, self._target)
        return self._need_of(graph, choice)

    def _need_of(self, graph: Graph, choice: KernelChoice) -> Need:
        @cache
        def smaller() -> Need | None:
            found = _smaller(graph, choice, self._target, self._estimator)
            return None if found is None else self._need_of(graph, found)

        estimator = self._estimator
        cycles = None if estimator is None else run_cycles(graph, choice, estimator)
        return Need(choice.scratch_bytes, cycles, smaller)
