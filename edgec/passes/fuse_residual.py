"""Let a convolution add the residual itself, so that its own result is never stored.

Rules:
1. residual: a QConv read only by a QAdd of two values of one shape takes over the addition, when
   the other operand exists by then; if both operands are such convolutions, the later one.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.passes.edit import replace_node, sweep


def fuse_residual(graph: Graph) -> Graph:
    """Apply the rule until it does not apply."""
    return sweep(graph, _rewrite)


def residual_notes(before: Graph, after: Graph) -> tuple[str, ...]:
    """One line: additions that convolutions took over."""
    count = sum(
        isinstance(n.attrs, qops.QConv) and n.attrs.residual is not None for n in after.nodes
    )
    return (f"{count} residual additions fused into convolutions",) if count else ()


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, qops.QAdd) or any(map(graph.is_constant, node.inputs)):
        return None
    if any(graph.shape(name) != graph.shape(node.output) for name in node.inputs):
        return None
    place = {other.name: index for index, other in enumerate(graph.nodes)}
    last, index = max(
        (place[graph.producers[name].name] if name in graph.producers else -1, index)
        for index, name in enumerate(node.inputs)
    )
    if last < 0:
        return None
    conv = graph.nodes[last]
    name, other = node.inputs[index], node.inputs[1 - index]
    if not _can_take(graph, conv, name, node) or name == other:
        return None
    params = node.attrs.params if index == 0 else _swapped(node.attrs.params)
    sources = (*conv.sources, *node.sources)
    fused = replace(
        conv,
        attrs=replace(conv.attrs, residual=params),
        inputs=(*conv.inputs, other),
        outputs=node.outputs,
        sources=sources,
    )
    return replace_node(graph, fused, node)


def _can_take(graph: Graph, conv: Node, output: str, add: Node) -> bool:
    return (
        isinstance(conv.attrs, qops.QConv)
        and conv.attrs.residual is None
        and graph.sole_consumer(output) is add
    )


def _swapped(params: qops.AddParams) -> qops.AddParams:
    return replace(
        params,
        a_zero_point=params.b_zero_point,
        b_zero_point=params.a_zero_point,
        a_multiplier=params.b_multiplier,
        b_multiplier=params.a_multiplier,
    )
