"""Softmax and its logarithm in place of exponentials, sums and quotients.

Networks write them out, most with the largest logit taken away first, which changes nothing in real
numbers.  As codes the parts lose what the one operator keeps: exponentials span many octaves.

Rules, along any axes, several at once too; none crosses a tensor that the file pins to codes:
1. softmax: ``e / sum(e)`` where ``e = exp(x)`` becomes ``Softmax(x)``.
2. logarithm: ``x - log(sum(exp(x)))``, with the largest logit taken away and added again or not,
   and the ``Log`` of a Softmax become ``LogSoftmax(x)``.
3. exponential: ``Exp`` of a LogSoftmax becomes ``Softmax``.
4. shift: of both operators, ``x - max(x)`` as operand becomes x.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import ReduceKind, UnaryKind
from edgec.passes.edit import on_last_axis, sweep
from edgec.passes.linear import either_way

_EXP, _LOG = ops.Unary(UnaryKind.EXP), ops.Unary(UnaryKind.LOG)
_TOTALS = (ReduceKind.SUM, ReduceKind.L1)
"""Sums of positive numbers."""


@dataclass(frozen=True, slots=True)
class _Total:
    """A sum of exponentials.

    Attributes:
        logits: what they are exponentials of.
        axes: those longer than 1 that it is over, or one of them.
    """

    logits: str
    axes: tuple[int, ...]


def fuse_softmax(graph: Graph) -> Graph:
    """Apply the rules until none applies; each takes operators away."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    match node.attrs:
        case ops.Mul() | ops.Div():
            return _softmax(graph, node)
        case ops.Sub():
            return _log_softmax(graph, node)
        case ops.Unary():
            return _function_of(graph, node)
        case ops.Softmax() | ops.LogSoftmax():
            return _unshifted(graph, node)
    return None


def _softmax(graph: Graph, node: Node) -> Graph | None:
    for powers, total in _quotients(graph, node):
        found = _total(graph, total)
        made = _maker(graph, powers)
        if found is None or made is None or made.attrs != _EXP or made.first != found.logits:
            continue
        if graph.shape(powers) == graph.shape(node.output):
            return _replaced(graph, node, ops.Softmax(), found)
    return None


def _quotients(graph: Graph, node: Node) -> Iterator[tuple[str, str]]:
    """Dividend and divisor of a node; both ways of a product of two reciprocals."""
    if isinstance(node.attrs, ops.Div):
        yield either_way(node)[0]
        return
    for dividend, inverse in either_way(node):
        made = _maker(graph, inverse)
        if made is not None and made.attrs == ops.Unary(UnaryKind.RECIPROCAL):
            yield dividend, made.first


def _log_softmax(graph: Graph, node: Node) -> Graph | None:
    x, subtracted = either_way(node)[0]
    if graph.is_constant(x) or graph.shape(x) != graph.shape(node.output):
        return None
    made = _maker(graph, subtracted)
    if made is not None and made.attrs == _LOG:
        found = _total(graph, made.first)
        if found is not None and found.logits == x:
            return _replaced(graph, node, ops.LogSoftmax(), found)
        return None
    if made is None or not isinstance(made.attrs, ops.Add):
        return None
    for logarithm, largest in either_way(made):
        part = _maker(graph, logarithm)
        found = _total(graph, part.first) if part is not None and part.attrs == _LOG else None
        shift = _maker(graph, found.logits) if found is not None else None
        if shift is None or shift.inputs != (x, largest) or found is None:
            continue
        if _shifted(graph, shift, found.axes) == x:
            return _replaced(graph, node, ops.LogSoftmax(), replace(found, logits=x))
    return None


def _function_of(graph: Graph, node: Node) -> Graph | None:
    made = _maker(graph, node.first)
    if made is None:
        return None
    wanted = {_LOG: (ops.Softmax(), ops.LogSoftmax()), _EXP: (ops.LogSoftmax(), ops.Softmax())}
    inner, attrs = wanted.get(node.attrs_as(ops.Unary), (None, None))
    back: Node | None = None
    if isinstance(made.attrs, ops.Transpose):
        back, made = made, _maker(graph, made.first)
    if attrs is None or made is None or made.attrs != inner:
        return None
    builder = GraphBuilder.of(graph)
    if back is None:
        builder.put(replace(node, attrs=attrs, inputs=made.inputs))
        return builder.build()
    value = graph.values[back.first]
    name = builder.value(replace(value, name=builder.fresh(f"{node.output}/along")))
    builder.node(name, attrs, made.inputs, (name,), (*made.sources, *node.sources))
    builder.put(replace(node, attrs=back.attrs, inputs=(name,)))
    return builder.build()


def _unshifted(graph: Graph, node: Node) -> Graph | None:
    """Rule 4, through the transpose that brings another axis to the end."""
    made, axis, perm = _maker(graph, node.first), len(graph.shape(node.output)) - 1, None
    if made is not None and isinstance(made.attrs, ops.Transpose):
        perm = made
        axis = made.attrs.perm[-1]
        made = _maker(graph, made.first)
    x = _shifted(graph, made, (axis,)) if made is not None else None
    if x is None:
        return None
    builder = GraphBuilder.of(graph)
    if perm is None:
        builder.put(replace(node, inputs=(x,)))
        return builder.build()
    name = builder.fresh(f"{node.output}/last")
    builder.value(replace(graph.values[node.first], name=name))
    builder.node(name, perm.attrs, (x,), (name,), perm.sources)
    builder.put(replace(node, inputs=(name,)))
    return builder.build()


def _shifted(graph: Graph, node: Node, axes: tuple[int, ...]) -> str | None:
    """The logits x of ``x - max(x)``, where the maximum is one number along axes."""
    if not isinstance(node.attrs, ops.Sub):
        return None
    x, largest = either_way(node)[0]
    if graph.is_constant(x) or graph.shape(x) != graph.shape(node.output):
        return None
    reduced = _reduced(graph, largest, (ReduceKind.MAX,), x)
    return x if reduced is not None and {*axes} <= {*reduced} else None


def _total(graph: Graph, name: str) -> _Total | None:
    made = _reduce_of(graph, name)
    powers = _maker(graph, made.first) if made is not None else None
    if made is None or powers is None or powers.attrs != _EXP:
        return None
    axes = _reduced(graph, name, _TOTALS, made.first) or ()
    # One number is the sum of itself.
    long = tuple(axis for axis in axes if graph.shape(made.first)[axis] > 1) or axes[-1:]
    return _Total(powers.first, long) if long else None


def _reduced(
    graph: Graph, name: str, kinds: tuple[ReduceKind, ...], x: str
) -> tuple[int, ...] | None:
    """The axes over which a value is a reduction of x that keeps them; None for another value."""
    made = _reduce_of(graph, name)
    if made is None or made.first != x:
        return None
    attrs, shape = made.attrs_as(ops.Reduce), graph.shape(x)
    kept = tuple(1 if axis in attrs.axes else size for axis, size in enumerate(shape))
    found = graph.shape(name)
    fits = (1,) * (len(kept) - len(found)) + found == kept
    return attrs.axes if attrs.kind in kinds and fits else None


def _reduce_of(graph: Graph, name: str) -> Node | None:
    """The reduction that computes a value, through a reshape that puts its axes back."""
    made = _maker(graph, name)
    if made is not None and isinstance(made.attrs, ops.Reshape):
        made = _maker(graph, made.first)
    return made if made is not None and isinstance(made.attrs, ops.Reduce) else None


def _maker(graph: Graph, name: str) -> Node | None:
    """The operator that computes a value which no file pins to codes."""
    made = graph.producers.get(name)
    return made if made is not None and graph.values[name].quant is None else None


def _replaced(
    graph: Graph, node: Node, attrs: ops.Softmax | ops.LogSoftmax, found: _Total
) -> Graph:
    made = _maker(graph, found.logits)
    x = _shifted(graph, made, found.axes) if made is not None else None
    builder = GraphBuilder.of(graph)
    on_last_axis(builder, node, attrs, x or found.logits, found.axes)
    return builder.build()
