"""Let a convolution add the residual itself, so that its own result is never stored.

Rules:
1. residual: a QConv or QPooledConv read only by a QAdd of two values of one shape takes over the
   addition; if both operands are such convolutions, the one computed later.  (The other operand
   never depends on a convolution whose only reader is the addition, so it can be computed first.)
   Both run in one loop, or outside of all, and a convolution that reads a carried value stays where
   it is: later that value may be another.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import (
    form_of,
    is_int8_layer,
    layer_inputs,
    residual_of,
    unpooled,
    with_plain,
)
from edgec.passes.edit import sweep


def fuse_residual(graph: Graph) -> Graph:
    """Apply the rule until it does not apply."""
    return sweep(graph, _rewrite)


def residual_notes(_before: Graph, after: Graph) -> tuple[str, ...]:
    """One line: additions that convolutions took over."""
    count = sum(residual_of(node.attrs) is not None for node in after.nodes)
    return (f"{count} residual additions fused into convolutions",) if count else ()


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    match node.attrs:
        case qops.QAdd(form=qops.AddParams(dtype=DType.INT8) as params):
            pass
        case _:
            return None
    operands = qops.QAdd.Inputs.of(node.inputs)
    if operands.a == operands.b:
        return None
    if any(graph.is_constant(name) for name in node.inputs):
        return None
    y = graph.values[node.output]
    if any((graph.shape(n), graph.values[n].dtype) != (y.shape, y.dtype) for n in node.inputs):
        return None
    place = {out: at for at, other in enumerate(graph.nodes) for out in other.outputs}
    ways = (operands.a, operands.b, params), (operands.b, operands.a, _swapped(params))
    for taken, other, addition in sorted(ways, key=lambda way: -place.get(way[0], -1)):
        conv = graph.producers.get(taken)
        if conv is not None and _can_take(graph, conv, node):
            at_conv = place.get(other, -1) < place[conv.output]
            if not at_conv and any(name in graph.updates for name in conv.inputs):
                continue
            return _fused(graph, conv, node, other, addition, at_conv=at_conv)
    return None


def _can_take(graph: Graph, conv: Node, add: Node) -> bool:
    return (
        isinstance(unpooled(conv.attrs), qops.QConv)
        and isinstance(form_of(conv.attrs), qops.Requant31)
        and is_int8_layer(graph, conv)
        and residual_of(conv.attrs) is None
        and graph.scopes.nodes[conv.name] == graph.scopes.nodes[add.name]
        and graph.sole_consumer(conv.output) is add
    )


def _fused(
    graph: Graph, conv: Node, add: Node, other: str, params: qops.AddParams, *, at_conv: bool
) -> Graph:
    """One node for both, where the convolution was, or where the addition was."""
    fused = replace(
        conv,
        attrs=with_plain(conv.attrs, replace(unpooled(conv.attrs), residual=params)),
        inputs=replace(layer_inputs(conv), residual=other).names(),
        outputs=add.outputs,
        sources=(*conv.sources, *add.sources),
    )
    kept, gone = (conv, add) if at_conv else (add, conv)
    nodes = (fused if node is kept else node for node in graph.nodes if node is not gone)
    return graph.replace(nodes=tuple(nodes)).pruned()


def _swapped(params: qops.AddParams) -> qops.AddParams:
    return replace(
        params,
        a_zero_point=params.b_zero_point,
        b_zero_point=params.a_zero_point,
        a_multiplier=params.b_multiplier,
        b_multiplier=params.a_multiplier,
    )
