"""Lowest numbers that hide logits, chosen instead of added.

A sum of a logit and the lowest number has a range that leaves no digits to the logits beside it;
of a choice, the range before a softmax is known to be that of what is shown.

Rules, for sums that no file pins to codes; a number below `_HIDING` hides:
1. constant: an `Add` of a value and a constant, some but not all of whose elements hide, becomes a
   `Where` between the sum of the others and the lowest number.
2. chosen: an `Add` of a value and a `Where` with a constant that hides becomes a `Where` of the
   sum: the addition takes place before the choice.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.shapes import broadcast
from edgec.passes.attention_masks import LOWEST
from edgec.passes.edit import sweep
from edgec.passes.linear import either_way

_HIDING = -1e30
"""No number of a network is as low."""


def hide_by_choice(graph: Graph) -> Graph:
    """Apply the rules until none applies: each takes a lowest number out of a sum."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.Add) or graph.values[node.output].quant is not None:
        return None
    for x, other in either_way(node):
        if x not in graph.values:
            continue
        found = _constant(graph, node, x, other) or _chosen(graph, node, x, other)
        if found is not None:
            return found
    return None


def _constant(graph: Graph, node: Node, x: str, name: str) -> Graph | None:
    constant = graph.constants.get(name)
    if constant is None or constant.quant is not None:
        return None
    numbers = constant.real()
    hidden = numbers <= _HIDING
    if not hidden.any() or hidden.all():
        return None
    builder, rest = GraphBuilder.of(graph), np.where(hidden, np.float32(0.0), numbers)
    shown = x
    if rest.any():
        summand = _stored(builder, f"{node.name}/rest", rest)
        shape = broadcast(graph.shape(x), rest.shape)
        shown = _sum(builder, node, (x, summand), shape)
    where = _stored(builder, f"{node.name}/where", np.where(hidden, 0.0, 1.0))
    lowest = _stored(builder, f"{node.name}/lowest", np.asarray(LOWEST))
    builder.put(replace(node, attrs=ops.Where(), inputs=(where, shown, lowest)))
    return builder.build()


def _chosen(graph: Graph, node: Node, x: str, name: str) -> Graph | None:
    made = graph.producers.get(name)
    if made is None or not isinstance(made.attrs, ops.Where):
        return None
    if graph.values[name].quant is not None:
        return None
    inputs = ops.Where.Inputs.of(made.inputs)
    hiding = [_hides(graph, branch) for branch in (inputs.a, inputs.b)]
    if hiding.count(True) != 1:
        return None
    builder = GraphBuilder.of(graph)
    if graph.sole_consumer(name) is node:
        builder.remove(made)
    shown, lowest = (inputs.b, inputs.a) if hiding[0] else (inputs.a, inputs.b)
    shapes = [graph.tensor(each).shape for each in (x, shown)]
    total = _sum(builder, node, (x, shown), broadcast(*shapes))
    branches = (lowest, total) if hiding[0] else (total, lowest)
    sources = tuple(dict.fromkeys((*made.sources, *node.sources)))
    attrs = ops.Where()
    builder.put(replace(node, attrs=attrs, inputs=(inputs.condition, *branches), sources=sources))
    return builder.build()


def _hides(graph: Graph, name: str) -> bool:
    constant = graph.constants.get(name)
    return constant is not None and bool((constant.real() <= _HIDING).all())


def _sum(builder: GraphBuilder, node: Node, inputs: tuple[str, str], shape: tuple[int, ...]) -> str:
    name = builder.fresh(f"{node.output}/shown")
    builder.value(Value(name, shape))
    builder.node(f"{node.name}/shown", ops.Add(), inputs, (name,), node.sources)
    return name


def _stored(builder: GraphBuilder, stem: str, array: Array) -> str:
    return builder.constant(stem, np.asarray(array, np.float32))
