"""LayerNorm as Keras writes it: ``x * s + (beta - mean * s)`` with ``s = gamma / deviation``.

It saves an operation on tensors of floats.  In codes each half is far larger than their sum, and
its rounding is left in the result; so it becomes ``(x - mean) / deviation * gamma + beta``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node, Value
from edgec.ir.ops import UnaryKind
from edgec.passes.linear import either_way
from edgec.passes.norm_parts import inverse_deviation, maker, minus_mean


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
    """What `name` is made of, if it is the scale of a norm."""
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
