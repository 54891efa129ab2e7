"""LayerNorm and RMSNorm out of their parts.

Rules:
1. core: ``c * (1 / sqrt(mean(c * c) + epsilon))``, means over one axis, becomes `RMSNormalization`
   of c; or, where c is x minus its mean over that axis, `LayerNormalization` of x.  Another axis
   than the last is moved there and back by `Transpose`s, which the layout pass removes.
2. gamma: a normalization without beta, then ``Mul`` by a constant per channel: into gamma.
3. beta: `LayerNormalization`, then ``Add`` of a constant per channel: into beta.
4. moments: what Keras writes (`norm_moments`) is put into the form of the other rules.

Squares may be products or powers.  Nothing between may be pinned to codes.

LayerNorm as Keras writes it: ``x * s + (beta - mean * s)`` with ``s = gamma / deviation``.

It saves an operation on tensors of floats.  In codes each half is far larger than their sum, and
its rounding is left in the result; so it becomes ``(x - mean) / deviation * gamma + beta``.

The parts of normalizations, found from their results upwards.

Nothing between may be pinned to codes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import UnaryKind
from edgec.passes.edit import on_last_axis, sweep
from edgec.passes.linear import channel_constant, either_way, per_channel

_SQUARE = ops.Unary(UnaryKind.POW, alpha=2.0)


@dataclass(frozen=True, slots=True)
class Chain:
    """``1 / sqrt(mean(c * c) + epsilon)`` in its parts, in order."""

    axis: int
    epsilon: float
    parts: tuple[Node, ...]


def inverse_deviation(graph: Graph, name: str, centred: str) -> Chain | None:
    """The chain that computes `name` as ``1 / sqrt(mean(centred * centred) + epsilon)``."""
    roots = _inverse_root(graph, name)
    shifted = maker(graph, roots[0].first) if roots else None
    if shifted is None or not isinstance(shifted.attrs, ops.Add):
        return None
    for added, other in either_way(shifted):
        constant = graph.constants.get(added)
        mean = maker(graph, other)
        if constant is None or constant.array.size != 1 or mean is None or not is_mean(mean):
            continue
        square, epsilon = maker(graph, mean.first), float(constant.real().reshape(-1)[0])
        if square is not None and is_square(square, centred) and epsilon >= 0.0:
            return Chain(
                mean.attrs_as(ops.Reduce).axes[0], epsilon, (square, mean, shifted, *roots)
            )
    return None


def _inverse_root(graph: Graph, name: str) -> tuple[Node, ...]:
    """The one or two nodes that compute `name` as ``1 / sqrt(...)``, in order."""
    inverse = maker(graph, name)
    if inverse is None or inverse.attrs == ops.Unary(UnaryKind.RSQRT):
        return () if inverse is None else (inverse,)
    if inverse.attrs != ops.Unary(UnaryKind.RECIPROCAL):
        return ()
    root = maker(graph, inverse.first)
    return (root, inverse) if root and root.attrs == ops.Unary(UnaryKind.SQRT) else ()


def is_mean(node: Node) -> bool:
    """Whether `node` computes a mean over one axis, which it keeps."""
    attrs = node.attrs
    if not isinstance(attrs, ops.Reduce) or attrs.kind is not ops.ReduceKind.MEAN:
        return False
    return attrs.keepdims and len(attrs.axes) == 1


def is_square(node: Node, base: str) -> bool:
    """Whether `node` computes the square of `base`."""
    if isinstance(node.attrs, ops.Mul):
        return node.inputs == (base, base)
    return node.attrs == _SQUARE and node.inputs == (base,)


def minus_mean(graph: Graph, name: str, axis: int) -> tuple[Node, Node] | None:
    """The `Sub` that computes `name` as x minus its mean over `axis`, and the mean."""
    sub = maker(graph, name)
    if sub is None or not isinstance(sub.attrs, ops.Sub):
        return None
    centred = ops.Sub.Inputs.of(sub.inputs)
    mean = maker(graph, centred.b)
    if mean is None or not is_mean(mean) or mean.attrs_as(ops.Reduce).axes != (axis,):
        return None
    return (sub, mean) if mean.first == centred.a else None


def maker(graph: Graph, name: str) -> Node | None:
    """The producer of a value that is not pinned to codes."""
    value = graph.values.get(name)
    return graph.producers.get(name) if value is not None and value.quant is None else None


@dataclass(frozen=True, slots=True)
class _Scale:
    """``1 / deviation``, times gamma if there is one.

    Attributes:
        inverse: name of ``1 / deviation``.
        gamma: name of the constant factor; "" without one.
        centred: name of x minus its mean.
        x: name of what is normalized.
        mean: name of the mean of x.
    """

    inverse: str
    gamma: str
    centred: str
    x: str
    mean: str


def written_out(graph: Graph, node: Node) -> Graph | None:
    """The graph with a norm in the form of `fuse_norm`; None if `node` is not its last addition."""
    for product, rest in either_way(node):
        scaled = maker(graph, product)
        if scaled is None or not isinstance(scaled.attrs, ops.Mul):
            continue
        for x, factor in either_way(scaled):
            scale = _scale(graph, factor)
            if scale is None or scale.x != x:
                continue
            beta = _beta(graph, rest, factor, scale.mean)
            if beta is not None:
                return _rewritten(graph, node, scale, beta)
    return None


def _scale(graph: Graph, name: str) -> _Scale | None:
    """Parts of `name`, if it is the scale of a norm."""
    candidates = [(name, "")]
    made = maker(graph, name)
    if made is not None and isinstance(made.attrs, ops.Mul):
        candidates = [pair for pair in either_way(made) if pair[1] in graph.constants]
    for inverse, gamma in candidates:
        for centred in _squared(graph, inverse):
            chain = inverse_deviation(graph, inverse, centred)
            sub = None if chain is None else minus_mean(graph, centred, chain.axis)
            if sub is not None:
                return _Scale(inverse, gamma, centred, sub[0].first, sub[1].output)
    return None


def _squared(graph: Graph, inverse: str) -> tuple[str, ...]:
    """The value whose mean square the deviation may be: what is squared before the first mean."""
    name = inverse
    while (node := maker(graph, name)) is not None:
        if isinstance(node.attrs, ops.Reduce):
            square = maker(graph, node.first)
            return () if square is None else (square.first,)
        computed = [each for each in node.inputs if each in graph.values]
        if len(computed) != 1:
            return ()
        name = computed[0]
    return ()


def _beta(graph: Graph, name: str, factor: str, mean: str) -> str | None:
    """The constant b where `name` is ``b - mean * factor``; "" for 0, None if it is not that."""
    made = maker(graph, name)
    if made is None:
        return None
    if _is_product(graph, name, factor, mean, negative=True):
        return ""
    if isinstance(made.attrs, ops.Add):
        for constant, other in either_way(made):
            if constant in graph.constants and _is_product(
                graph, other, factor, mean, negative=True
            ):
                return constant
    if isinstance(made.attrs, ops.Sub):
        terms = ops.Sub.Inputs.of(made.inputs)
        if terms.a in graph.constants and _is_product(graph, terms.b, factor, mean, negative=False):
            return terms.a
    return None


def _is_product(graph: Graph, name: str, factor: str, mean: str, *, negative: bool) -> bool:
    """Whether `name` is ``mean * factor``, or minus that."""
    made = maker(graph, name)
    if made is None or not isinstance(made.attrs, ops.Mul):
        return False
    for one, other in either_way(made):
        if other != factor:
            continue
        if not negative:
            return one == mean
        sign = maker(graph, one)
        return bool(sign and sign.attrs == ops.Unary(UnaryKind.NEG) and sign.first == mean)
    return False


def _rewritten(graph: Graph, node: Node, scale: _Scale, beta: str) -> Graph:
    """``centred * inverse * gamma + beta`` in place of `node`."""
    builder = GraphBuilder.of(graph)
    value = graph.values[node.output]
    steps: list[tuple[ops.Arithmetic, str]] = [(ops.Mul(), scale.inverse)]
    steps += [(ops.Mul(), scale.gamma)] if scale.gamma else []
    steps += [(ops.Add(), beta)] if beta else []
    current = scale.centred
    for attrs, operand in steps[:-1]:
        name = builder.fresh(f"{value.name}/part")
        builder.value(Value(name, value.shape, value.dtype))
        builder.node(name, attrs, (current, operand), (name,), node.sources)
        current = name
    last, operand = steps[-1]
    builder.put(replace(node, attrs=last, inputs=(current, operand)))
    return builder.build()


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
        return _shift_of(graph, node) or written_out(graph, node)
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
    channels = graph.shape(node.output)[core.axis]
    gamma = builder.constant(f"{node.name}/gamma", np.ones(channels, np.float32))
    beta = ("",) if isinstance(core.attrs, ops.LayerNormalization) else ()
    node = replace(node, sources=core.sources)
    on_last_axis(builder, node, core.attrs, core.x, (core.axis,), (gamma, *beta))
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


def _shift_of(graph: Graph, node: Node) -> Graph | None:
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
