"""The parts of normalizations, found from their results upwards.

Nothing between may be pinned to codes.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import UnaryKind
from edgec.passes.linear import either_way

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
