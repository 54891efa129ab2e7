"""Layers in turns of a few rows, where the arena is to be small: the chains, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edgec.base.options import Rows
from edgec.ir.graph import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.memory import Peak, plan_memory
from edgec.passes.rows.partition import sections_of
from edgec.passes.rows.row_graph import by_itself, in_turns
from edgec.target.board import Board
from edgec.target.target import Target

_LIMITS = (1.0, 1.03, 1.06, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0)
"""Limits of the peak that chains are asked for, as multiples of the least one: scratch memory and
places are known only when kernels are chosen."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsChoice:
    """A graph with its layers in turns, or as it was.

    Attributes:
        graph: INTEGER stage.
        choices: its kernels.
        arena_bytes: bytes of the arena before copies of weights.
    """

    graph: Graph
    choices: tuple[KernelChoice, ...]
    arena_bytes: int


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
    if rows is Rows.AUTO and fitting:
        return fitting[-1]
    return min((whole, *found), key=lambda each: each.arena_bytes)


def row_choices(
    whole: RowsChoice, target: Target, decisions: Mapping[str, object]
) -> Sequence[RowsChoice]:
    """The graph in turns at several limits, the least memory first, the cheapest last.

    Args:
        whole: the graph as it is.
        target: the processor.
        decisions: nodes that planners decided for stay as they are.
    """
    graph, choices = whole.graph, whole.choices
    buffers, overlaps, _ = buffers_of(graph, choices)
    peak = Peak.of(buffers, overlaps)
    steps = zip(choices, peak.by_step, strict=False)
    sections = sections_of(
        graph,
        {choice.node.name: size for choice, size in steps},
        lambda node, reads, rows: scratch_bytes(by_itself(graph, node, reads, rows), target),
        frozenset(decisions),
    )
    found: dict[tuple[object, ...], RowsChoice] = {}
    for factor in _LIMITS:
        chains = sections.cheapest(int(sections.least_bytes * factor))
        key = tuple((chain.nodes, tuple(chain.firings.values())) for chain in chains)
        if chains and key not in found:
            found[key] = _choice(in_turns(graph, chains), target, decisions)
    return tuple(found.values())


def scratch_bytes(graph: Graph, target: Target) -> int:
    """Working memory of a graph of one node."""
    (choice,) = select_kernels(graph, target)
    return choice.scratch_bytes


def _choice(graph: Graph, target: Target, decisions: Mapping[str, object]) -> RowsChoice:
    choices = select_kernels(graph, target, decisions)
    buffers, overlaps, _ = buffers_of(graph, choices)
    return RowsChoice(graph, choices, plan_memory(buffers, overlaps).arena_bytes)
