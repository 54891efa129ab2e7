"""The value of the last turn of a loop in place of the tensor of all turns.

``y[:, -1]`` after a recurrent layer is how PyTorch and Keras take its last step: all but one of the
values that the loop collects are never read.

Rules:
1. last: a `Slice` of the values of all turns (`TurnStack`), with reshapes between, that takes
   those of the last turn alone becomes `TurnLast`, and a `Reshape` to the shape of the slice.
"""

from __future__ import annotations

import math
from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.edit import sweep, unreshaped


def last_turn(graph: Graph) -> Graph:
    """Apply the rule until it does not apply."""
    return graph if graph.is_straight else sweep(graph, _rewrite).pruned()


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    taken = _one_piece(graph, node)
    stack = None if taken is None else graph.producers.get(unreshaped(graph, node.first))
    if stack is None or not isinstance(stack.attrs, ops.TurnStack):
        return None
    attrs = stack.attrs
    whole = graph.shape(stack.output)
    turn = math.prod(graph.shape(stack.input))
    last = (attrs.loop.count - 1) * turn if attrs.part.step > 0 else 0
    if math.prod(whole[: attrs.part.axis]) != 1 or taken != range(last, last + turn):
        return None
    value, source = graph.values[node.output], _handed_on(graph, stack.input)
    builder = GraphBuilder.of(graph)
    builder.remove(node)
    name = builder.fresh(f"{node.output}/last")
    builder.value(replace(value, name=name, shape=graph.shape(source)))
    builder.node(name, ops.TurnLast(attrs.loop), (source,), (name,), node.sources)
    builder.node(node.name, ops.Reshape(value.shape), (name,), (node.output,), node.sources)
    return builder.build()


def _handed_on(graph: Graph, name: str) -> str:
    """The form in which a value is handed to the next turn, if it is: it is stored anyway."""
    own = unreshaped(graph, name)
    updates = (u for u in graph.updates.values() if unreshaped(graph, u.first) == own)
    return next((update.output for update in updates), name)


def _one_piece(graph: Graph, node: Node) -> range | None:
    """Numbers of the elements that a `Slice` takes, where they are neighbours; None elsewhere."""
    if not isinstance(node.attrs, ops.Slice):
        return None
    attrs, shape = node.attrs, graph.shape(node.first)
    cut = [axis for axis, size in enumerate(attrs.sizes) if size != shape[axis]]
    if len(cut) != 1 or math.prod(shape[: cut[0]]) != 1 or attrs.sizes[cut[0]] != 1:
        return None
    each = math.prod(shape[cut[0] + 1 :])
    first = attrs.starts[cut[0]] * each
    return range(first, first + each)
