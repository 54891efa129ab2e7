"""Numbers of channels that a board computes in fewer cycles than those of the network."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from edgec.base.options import CompileOptions, Rows
from edgec.ir.graph import Graph, Node
from edgec.kernels.price import alternatives
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.lower.bind import bind
from edgec.passes.widen_channels import channel_groups, nodes_beside, widened
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.workflow.integer import IntegerModel
from edgec.workflow.row_kernels import estimator_of, peak_of
from edgec.workflow.rows import arena_limit

_WORD = 4
"""Channels of a word: kernels that read whole words ask for a multiple of it."""
_MOST_MORE = 8
"""Tensors grow by an eighth of their channels at most, and so do weights in flash."""
_SURELY_LESS = 0.98
"""The part of the cycles before that those with more channels must stay below: estimates are true
to about as much."""
_CODE_BYTES = 48 << 10
"""Flash that is kept for code: start-up, drivers, and the kernels of a large network."""


def with_rounded_channels(
    model: IntegerModel, pools: PoolPlan, board: Board, options: CompileOptions
) -> tuple[IntegerModel, PoolPlan]:
    """The model and its plan with the graph of `rounded_channels`, and a note of what is wider.

    Args:
        model: what the board will compute.
        pools: its graph, and the layers that planners decided for.
        board: the target.
        options: how to compile; `--rows always`, for the smallest arena, keeps the channels as they
            are, and so does an arena, or constants with room for code, that would be larger than
            the board or the budget allows.
    """
    if options.rows is Rows.ALWAYS:
        return model, pools
    target = Target.of(board, options.optimize)
    graph = rounded_channels(pools.graph, target, pools.configs)
    grown = _grown(pools.graph, graph)
    if not grown:
        return model, pools
    choices = select_kernels(graph, target, pools.configs)
    if not may_fit(graph, choices, board, options):
        return model, pools
    notes = (*model.notes, f"whole words of channels, to take fewer cycles: {', '.join(grown)}")
    return replace(model, integer=graph, notes=notes), replace(pools, graph=graph)


def may_fit(
    graph: Graph, choices: Sequence[KernelChoice], board: Board, options: CompileOptions
) -> bool:
    """Whether arena and constants are within the board and the budget, with room for code.

    Args:
        graph: INTEGER stage.
        choices: the kernels of its nodes.
        board: the target.
        options: how to compile; their budget counts.
    """
    arena, budget = arena_limit(board, options), options.budget
    if arena is not None and peak_of(graph, choices).arena_bytes > arena:
        return False
    limits = (board.flash_bytes, None if budget is None else budget.flash_bytes)
    flash = min((each for each in limits if each is not None), default=None)
    return flash is None or bind(graph, choices).constant_bytes + _CODE_BYTES <= flash


def _grown(before: Graph, after: Graph) -> list[str]:
    """Numbers of channels before and after, each once."""
    shapes = [(each.shape[-1:], after.shape(name)[-1:]) for name, each in before.values.items()]
    return list(dict.fromkeys(f"{a[0]} -> {b[0]}" for a, b in shapes if a != b))


def rounded_channels(graph: Graph, target: Target, decided: Container[str]) -> Graph:
    """The graph with whole words of channels, where its layers take fewer cycles then.

    Args:
        graph: INTEGER stage.
        target: the processor; a graph for one without measured prices, or for the smallest code,
            stays as it is.
        decided: nodes that planners decided for, which stay as they are.

    Returns:
        A graph with the same outputs, bit for bit.
    """
    estimator = estimator_of(target)
    if estimator is None or target.takes_few_kernels or graph.length is not None:
        return graph
    for group in channel_groups(graph):
        now = graph.shape(next(iter(group)))[-1]
        channels = -(-now // _WORD) * _WORD
        nodes = nodes_beside(graph, group)
        if channels == now or (channels - now) * _MOST_MORE > now:
            continue
        if any(node.name in decided for node in nodes):
            continue
        wider = widened(graph, group, channels)
        before = _cycles(graph, nodes, target)
        after = _cycles(wider, nodes_beside(wider, group), target)
        if before is not None and after is not None and after < before * _SURELY_LESS:
            graph = wider
    return graph


def _cycles(graph: Graph, nodes: Iterable[Node], target: Target) -> float | None:
    """Cycles of nodes by the kernels that they get; None where one of them was not counted."""
    prices = [alternatives(graph, node, target)[0].price for node in nodes]
    counted = [each.total_cycles for each in prices if each.counted]
    if len(counted) < len(prices):
        return None
    return sum(cycles for cycles in counted if cycles is not None)
