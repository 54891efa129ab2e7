"""A note on layers that skip the zeros among their weights."""

from __future__ import annotations

import numpy as np

from edgec.commands.compile_facts import node_of
from edgec.ir.graph import Graph
from edgec.ir.weighted import plain_inputs
from edgec.kernels.generic.sparse_rows import SparseRows
from edgec.lower import Program


def sparse_notes(graph: Graph, program: Program) -> tuple[str, ...]:
    """One line: how many layers skip zeros, and how many of their weights are zero.

    Args:
        graph: INTEGER stage.
        program: made from it.
    """
    named = {node.name: node for node in graph.nodes}
    found = (
        node_of(graph, named, program, step)
        for step in program.steps
        if isinstance(program.kernels[step.kernel].spec, SparseRows)
    )
    nodes = {node.name: node for node in found if node is not None}
    weights = [graph.constants[plain_inputs(node).w].array for node in nodes.values()]
    if not weights:
        return ()
    share = sum(np.count_nonzero(w == 0) for w in weights) / sum(w.size for w in weights)
    layers = "1 layer skips" if len(weights) == 1 else f"{len(weights)} layers skip"
    return (f"{layers} the zeros among the weights, {share:.0%} of them",)
