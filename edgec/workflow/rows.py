"""Layers in turns of a few rows, where the arena is to be small: the chains, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from edgec.base.options import Rows
from edgec.ir.graph import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.price import alternatives
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.memory import Peak, plan_memory
from edgec.passes.rows.partition import Sections, chains_of
from edgec.passes.rows.row_graph import by_itself, in_turns
from edgec.target.board import Board
from edgec.target.target import Target

_LIMITS = (1.0, 1.03, 1.06, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0)
"""Limits of the peak that chains are asked for, as multiples of the least one: scratch memory and
places are known only when kernels are chosen."""
_SLOWER = 1.2
"""Kernels with less scratch memory may take so many times the cycles of the fastest one."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsChoice:
    """A graph with its layers in turns, or as it was.

    Attributes:
        graph: INTEGER stage.
        choices: its kernels.
        arena_bytes: bytes of the arena before copies of weights.
        cost: price of running in turns (`passes.rows.partition`).
    """

    graph: Graph
    choices: tuple[KernelChoice, ...]
    arena_bytes: int
    cost: float = 0.0


def chosen_rows(
    graph: Graph, target: Target, decisions: Mapping[str, object], board: Board, rows: Rows
) -> RowsChoice:
    """Kernels of a graph, whose layers run in turns where that is asked for or needed.

    Args:
        graph: INTEGER stage.
        target: the processor.
        decisions: what planners decided, by name of the node.
        board: whose memory it is to fit.
        rows: what the user asked for.
    """
    whole = _choice(graph, target, decisions)
    if rows is Rows.NEVER or not graph.is_straight or graph.length is not None:
        return whole
    limit = board.arena_limit_bytes
    if rows is Rows.AUTO and (limit is None or whole.arena_bytes <= limit):
        return whole
    found = row_choices(whole, target, decisions)
    fitting = [each for each in found if limit is not None and each.arena_bytes <= limit]
    return fitting[-1] if rows is Rows.AUTO and fitting else found[0]


def row_choices(
    whole: RowsChoice, target: Target, decisions: Mapping[str, object]
) -> Sequence[RowsChoice]:
    """The graph in turns at several limits: the smallest first, the cheapest, as it is, last.

    Args:
        whole: the graph as it is.
        target: the processor.
        decisions: nodes that planners decided for stay as they are.
    """
    graph, choices = whole.graph, whole.choices
    peak, alone = _peak(graph, choices), _peak(graph, choices, overlapping=False)
    chains = chains_of(
        graph,
        peak.arena_bytes,
        lambda node, reads, rows: scratch_bytes(by_itself(graph, node, reads, rows), target),
        frozenset(decisions),
    )
    names = [choice.node.name for choice in choices]
    found: dict[tuple[object, ...], RowsChoice] = {}
    for steps in (peak.by_step, alone.by_step):
        sections = Sections.of(graph, chains, dict(zip(names, steps, strict=False)))
        for factor in _LIMITS:
            cut = sections.cheapest(int(sections.least_bytes * factor))
            key = tuple((each.first, each.end, each.size_bytes) for each in cut)
            if cut and key not in found:
                timelines = [each.chain for each in cut if each.chain is not None]
                made = _choice(in_turns(graph, timelines), target, decisions)
                cost = sum(each.cost for each in cut)
                found[key] = replace(_with_less_scratch(made, target), cost=cost)
    return _front((whole, *found.values()))


def _front(found: Iterable[RowsChoice]) -> tuple[RowsChoice, ...]:
    """Those that nothing smaller is cheaper than, the smallest first."""
    front: list[RowsChoice] = []
    for each in sorted(found, key=lambda each: (each.arena_bytes, each.cost)):
        if not front or each.cost < front[-1].cost:
            front.append(each)
    return tuple(front)


def _with_less_scratch(found: RowsChoice, target: Target) -> RowsChoice:
    """Other kernels for the steps that need most memory, while they take little longer."""
    graph, choices = found.graph, list(found.choices)
    fired = {name for chain in graph.chains for name in chain.firings}
    while True:
        peak = _peak(graph, choices)
        step = max(range(len(choices)), key=lambda number: peak.by_step[number])
        own = choices[step]
        if own.node.name not in fired:
            break
        first, *others = alternatives(graph, own.node, target)
        most = _SLOWER * (first.price.total_cycles or 0.0)
        smaller = [
            each
            for each in others
            if each.choice.scratch_bytes < own.scratch_bytes
            and (each.price.total_cycles or most + 1) <= most
        ]
        if not smaller:
            break
        choices[step] = min(smaller, key=lambda each: each.price.total_cycles or 0.0).choice
        if _peak(graph, choices).by_step[step] >= peak.by_step[step]:
            choices[step] = own
            break
    buffers, overlaps, _ = buffers_of(graph, choices)
    return RowsChoice(graph, tuple(choices), plan_memory(buffers, overlaps).arena_bytes)


def _peak(graph: Graph, choices: Sequence[KernelChoice], *, overlapping: bool = True) -> Peak:
    buffers, overlaps, _ = buffers_of(graph, choices)
    return Peak.of(buffers, overlaps if overlapping else ())


def scratch_bytes(graph: Graph, target: Target) -> int:
    """Working memory of a graph of one node."""
    (choice,) = select_kernels(graph, target)
    return choice.scratch_bytes


def _choice(graph: Graph, target: Target, decisions: Mapping[str, object]) -> RowsChoice:
    choices = select_kernels(graph, target, decisions)
    buffers, overlaps, _ = buffers_of(graph, choices)
    return RowsChoice(graph, choices, plan_memory(buffers, overlaps).arena_bytes)
