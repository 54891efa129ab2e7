"""LayerNorm and RMSNorm out of their parts.

Rules:
1. core: ``c * (1 / sqrt(mean(c * c) + epsilon))``, means over one axis, becomes `RMSNormalization`
   of c; or, where c is x minus its mean over that axis, `LayerNormalization` of x.  Another axis
   than the last is moved there and back by `Transpose`s, which the layout pass removes.
2. gamma: a normalization without beta, then ``Mul`` by a constant per channel: into gamma.
3. beta: `LayerNormalization`, then ``Add`` of a constant per channel: into beta.
4. moments: what Keras writes (`norm_moments`) is put into the form of the other rules.

Squares may be products or powers.  Nothing between may be pinned to codes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.passes.edit import sweep
from edgec.passes.linear import channel_constant, either_way, per_channel
from edgec.passes.norm_moments import written_out
from edgec.passes.norm_parts import inverse_deviation, maker, minus_mean


@dataclass(frozen=True, slots=True)
class _Core:
    """A normalization found in its parts.

    Attributes:
        x: what is normalized.
        axis: over which axis.
        attrs: `LayerNormalization` or `RMSNormalization`.
        sources: sources of the nodes that it is made of.
    """

    x: str
    axis: int
    attrs: Any
    sources: tuple[str, ...]


def fuse_norm(graph: Graph) -> Graph:
    """Apply the rules until none applies."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if isinstance(node.attrs, ops.Mul):
        core = _core(graph, node)
        return _with_core(graph, node, core) if core is not None else _gamma(graph, node)
    if isinstance(node.attrs, ops.Add):
        return _beta(graph, node) or written_out(graph, node)
    return None


def _core(graph: Graph, node: Node) -> _Core | None:
    """Rule 1, `node` being the product."""
    for name, centred in either_way(node):
        chain = inverse_deviation(graph, name, centred)
        if chain is None:
            continue
        parts = (*chain.parts, node)
        sub = minus_mean(graph, centred, chain.axis)
        if sub is None:
            return _Core(centred, chain.axis, ops.RMSNormalization(chain.epsilon), _sources(parts))
        attrs = ops.LayerNormalization(chain.epsilon)
        sources = _sources((*reversed(sub), *parts))
        return _Core(sub[0].first, chain.axis, attrs, sources)
    return None


def _sources(parts: tuple[Node, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name in part.sources))


def _with_core(graph: Graph, node: Node, core: _Core) -> Graph:
    """The normalization in place of `node`; its parts go when nothing else reads them."""
    builder = GraphBuilder.of(graph)
    value = graph.values[node.output]
    channels = value.shape[core.axis]
    gamma = builder.constant(f"{node.name}/gamma", np.ones(channels, np.float32))
    beta = ("",) if isinstance(core.attrs, ops.LayerNormalization) else ()
    rank = len(value.shape)
    if core.axis == rank - 1:
        inputs = (core.x, gamma, *beta)
        builder.put(replace(node, attrs=core.attrs, inputs=inputs, sources=core.sources))
        return builder.build()
    perm = (*(i for i in range(rank) if i != core.axis), core.axis)
    back = tuple(perm.index(axis) for axis in range(rank))
    shape = tuple(value.shape[axis] for axis in perm)
    names = [builder.fresh(f"{value.name}/{part}") for part in ("last", "normal")]
    for name in names:
        builder.value(replace(value, name=name, shape=shape, quant=None))
    builder.node(names[0], ops.Transpose(perm), (core.x,), names[:1], node.sources)
    builder.node(names[1], core.attrs, (names[0], gamma, *beta), names[1:], core.sources)
    builder.put(replace(node, attrs=ops.Transpose(back), inputs=(names[1],)))
    return builder.build()


def _gamma(graph: Graph, node: Node) -> Graph | None:
    found = _normalization_and_constant(graph, node)
    if found is None:
        return None
    norm, factor = found
    inputs = ops.Norm.Inputs.of(norm.inputs)
    if inputs.beta is not None:
        return None
    builder = GraphBuilder.of(graph)
    old = graph.constants[inputs.gamma].real().astype(np.float64)
    gamma = builder.constant(inputs.gamma, (old * factor).astype(np.float32))
    return _absorbed(builder, norm, node, replace(inputs, gamma=gamma))


def _beta(graph: Graph, node: Node) -> Graph | None:
    found = _normalization_and_constant(graph, node)
    if found is None or not isinstance(found[0].attrs, ops.LayerNormalization):
        return None
    norm, summand = found
    inputs = ops.Norm.Inputs.of(norm.inputs)
    old = graph.constants[inputs.beta].real().astype(np.float64) if inputs.beta else 0.0
    builder = GraphBuilder.of(graph)
    stem = inputs.beta or f"{norm.name}/beta"
    beta = builder.constant(stem, (old + summand).astype(np.float32))
    return _absorbed(builder, norm, node, replace(inputs, beta=beta))


def _normalization_and_constant(graph: Graph, node: Node) -> tuple[Node, Array] | None:
    """The normalization that `node` alone reads, and its own constant; float64 [C]."""
    for operand, name in either_way(node):
        constant = channel_constant(graph, node, name, operand)
        if constant is None:
            continue
        norm = maker(graph, name)
        if norm is None or not isinstance(norm.attrs, ops.Norm):
            continue
        if graph.sole_consumer(name) is node:
            return norm, per_channel(constant, graph.shape(name)[-1])
    return None


def _absorbed(
    builder: GraphBuilder, norm: Node, follower: Node, inputs: ops.Norm.Inputs[str]
) -> Graph:
    sources = (*norm.sources, *follower.sources)
    builder.put(replace(follower, attrs=norm.attrs, inputs=inputs.names(), sources=sources))
    return builder.build()
