"""Layers of few bits that a board computes in fewer cycles with bit planes than with bytes."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from edgec.base.options import CompileOptions, Rows
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.price import alternatives
from edgec.kernels.select import select_kernels
from edgec.kernels.weightpool.plan.plan import PoolPlan
from edgec.passes.pack_planes import pack_planes, plane_layers
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.workflow.integer import IntegerModel
from edgec.workflow.rounded_channels import may_fit

_SURELY_LESS = 0.98
"""The part of the cycles before that those of bit planes must stay below: estimates are true to
about as much."""


def with_bit_planes(
    model: IntegerModel, pools: PoolPlan, board: Board, options: CompileOptions
) -> tuple[IntegerModel, PoolPlan]:
    """The model and its plan with the graph of `in_bit_planes`, and a note of its layers.

    Args:
        model: what the board will compute.
        pools: its graph, and the layers that planners decided for.
        board: the target.
        options: how to compile.  Layers of bit planes do not run in turns of a few rows, so there
            are none with `--rows always` and `--input-rows`, and none where all layers at once
            take more memory than the board or the budget allows.
    """
    if options.rows is Rows.ALWAYS or options.input_rows:
        return model, pools
    target = Target.of(board, options.optimize)
    graph = in_bit_planes(pools.graph, target, pools.configs)
    found = [node.attrs for node in graph.nodes if isinstance(node.attrs, qops.PlaneLayer)]
    if not found or not may_fit(
        graph, select_kernels(graph, target, pools.configs), board, options
    ):
        return model, pools
    ends = sum(attrs.output is None for attrs in found)
    note = f"{len(found)} layers of bit planes, {ends} of them give bit planes"
    notes = (*model.notes, note)
    return replace(model, integer=graph, notes=notes), replace(pools, graph=graph)


def in_bit_planes(graph: Graph, target: Target, decided: Container[str] = ()) -> Graph:
    """The graph with layers of bit planes, where these take fewer cycles.

    Layers that read or give the planes of each other are one choice, for making planes is a step of
    its own; before that a layer that takes no fewer cycles by itself is left out.

    Args:
        graph: INTEGER stage.
        target: the processor; a graph for one without measured prices stays as it is.
        decided: nodes that planners decided for, which stay as they are.

    Returns:
        A graph with the same outputs, bit for bit.
    """
    layers = {name for name in plane_layers(graph) if name not in decided}
    if not layers:
        return graph
    packed = pack_planes(graph, layers)
    less = {node.name for node in _changed(packed, graph) if node.name in layers}
    less = {name for name in less if _is_less(graph, packed, target, {name})}
    kept: set[str] = set()
    for group in _groups(pack_planes(graph, less)):
        own = group & less
        if _is_less(graph, pack_planes(graph, own), target):
            kept |= own
    return pack_planes(graph, kept) if kept else graph


def _changed(graph: Graph, other: Graph) -> list[Node]:
    """Nodes of a graph that the other one has not, or has in another form."""
    known = {node.name: node for node in other.nodes}
    return [node for node in graph.nodes if known.get(node.name) != node]


def _is_less(
    graph: Graph, packed: Graph, target: Target, names: Container[str] | None = None
) -> bool:
    """Whether the changed nodes, or those of some names, surely take fewer cycles when packed."""
    before = _cycles(graph, _named(_changed(graph, packed), names), target)
    after = _cycles(packed, _named(_changed(packed, graph), names), target)
    if not before or None in after:
        return False
    # What nobody counts and is not there any more counts nothing.
    return sum(filter(None, after)) < sum(filter(None, before)) * _SURELY_LESS


def _named(nodes: Iterable[Node], names: Container[str] | None) -> list[Node]:
    return [node for node in nodes if names is None or node.name in names]


def _cycles(graph: Graph, nodes: Iterable[Node], target: Target) -> list[float | None]:
    """Cycles of nodes by the kernels that they get; None of one that was not counted."""
    prices = [
        alternatives(graph, node, target)[0].price
        for node in nodes
        if not isinstance(node.attrs, qops.QReshape)
    ]
    return [price.total_cycles if price.counted else None for price in prices]


def _groups(graph: Graph) -> list[set[str]]:
    """The names of nodes that are joined by tensors of planes, group by group."""
    groups: list[tuple[set[str], set[str]]] = []
    for node in graph.nodes:
        if not isinstance(node.attrs, qops.PlaneLayer | qops.QPlanes):
            continue
        own = (node.first, node.output)
        tensors = {name for name in own if graph.values[name].dtype is qops.SIGNS}
        joined = [group for group in groups if group[1] & tensors]
        groups = [group for group in groups if not group[1] & tensors]
        names = {node.name}.union(*(group[0] for group in joined))
        groups.append((names, tensors.union(*(group[1] for group in joined))))
    return [names for names, _ in groups]
