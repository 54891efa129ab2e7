"""Two products that are added become one product of what they read, joined.

A cell of a recurrent network adds a product of its input and one of its hidden state.  Each would
be rounded on its own, and the sum once more; joined they meet in one accumulator:

    x @ v + h @ w  =  concat(x, h) @ concat(v, w)

Rule: ``Add`` of two ``Gemm`` that nothing else reads, of which at least one reads what depends on
a carried value.  The operand that does not gets a layer of its own before the ``Concat``, whose
weights are 1: so it keeps the codes that it has, and its channels their own scales.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.fold_batch_norm import fold_batch_norm, layer_of_ones
from edgec.passes.linear import has_float_weights, unpinned_linear_before


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two products and their sum.

    Attributes:
        total: the ``Add``.
        first, second: the ``Gemm`` of what no carried value reaches, if one is such, and the other.
    """

    total: Node
    first: Node
    second: Node

    @property
    def operands(self) -> tuple[str, str]:
        """The values that are joined."""
        return self.first.first, self.second.first


def join_products(graph: Graph) -> Graph:
    """Apply the rule wherever it holds; products of the same values share the ``Concat``."""
    later = graph.reached(node.output for node in graph.nodes if node.carries)
    pairs = [
        pair
        for node in graph.nodes
        if (pair := _pair(graph, node, later)) and not _fixed(graph, pair)
    ]
    if not pairs:
        return graph
    builder = GraphBuilder.of(graph)
    joined: dict[tuple[str, str], str] = {}
    for pair in pairs:
        if pair.operands not in joined:
            joined[pair.operands] = _join(builder, pair, scales=pair.operands[0] not in later)
        _multiply(builder, graph, pair, joined[pair.operands])
    return fold_batch_norm(builder.build())


def _pair(graph: Graph, node: Node, later: frozenset[str]) -> _Pair | None:
    if not isinstance(node.attrs, ops.Add):
        return None
    inputs = ops.Add.Inputs.of(node.inputs)
    products = [_product(graph, node, name) for name in (inputs.a, inputs.b)]
    first, second = products
    if first is None or second is None or first is second:
        return None
    if first.first in later:
        first, second = second, first
    return _Pair(node, first, second) if second.first in later else None


def _product(graph: Graph, total: Node, name: str) -> Node | None:
    found = unpinned_linear_before(graph, total, name)
    if (
        found is None
        or not isinstance(found.attrs, ops.Gemm)
        or not has_float_weights(graph, found)
    ):
        return None
    return found if graph.shape(name) == graph.shape(total.output) else None


def _fixed(graph: Graph, pair: _Pair) -> bool:
    """Whether codes of an operand are given, weights come from a pool, or rows do not match."""
    one, other = (graph.values.get(name) for name in pair.operands)
    if one is None or other is None or one.shape[:-1] != other.shape[:-1]:
        return True
    if any(value.quant is not None for value in (one, other)):
        return True
    inputs = (ops.layer_inputs(product) for product in (pair.first, pair.second))
    return any(graph.constants[each.w].pooled for each in inputs)


def _join(builder: GraphBuilder, pair: _Pair, *, scales: bool) -> str:
    """The value that holds both operands; where it `scales`, the first has a layer of its own."""
    x, h = (builder.values[name] for name in pair.operands)
    sources = pair.total.sources
    if scales:
        x = builder.values[layer_of_ones(builder, x, sources)]
    shape = (*x.shape[:-1], x.shape[-1] + h.shape[-1])
    whole = builder.value(replace(h, name=builder.fresh(f"{h.name}/joined"), shape=shape))
    builder.node(whole, ops.Concat(len(shape) - 1), (x.name, h.name), (whole,), sources)
    return whole


def _multiply(builder: GraphBuilder, graph: Graph, pair: _Pair, whole: str) -> None:
    """Put one product in place of the two and their sum."""
    inputs = [ops.layer_inputs(product) for product in (pair.first, pair.second)]
    weights = np.concatenate([graph.constants[each.w].real() for each in inputs], axis=-1)
    biases = [graph.constants[each.b].real() for each in inputs if each.b is not None]
    w, b = builder.constant(inputs[0].w, weights.astype(np.float32)), None
    if biases:
        b = builder.constant(f"{w}/bias", np.asarray(sum(biases), np.float32))
    sources = (*pair.first.sources, *pair.second.sources, *pair.total.sources)
    builder.remove(pair.first)
    builder.remove(pair.second)
    names = ops.Weighted.Inputs(whole, w, b).names()
    attrs = pair.second.attrs
    builder.put(
        replace(pair.total, attrs=attrs, inputs=names, sources=tuple(dict.fromkeys(sources)))
    )
