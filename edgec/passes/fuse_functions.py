"""One operator in place of several that together compute a known activation function.

Exporters write GELU, SiLU and the sigmoid in many ways: by erf, by tanh, by exp, halved before or
after, with squares or powers.  So they are recognised by their values, not by their form: operands
in any order, constants on either side.

Rules:
1. function: element-wise operators that make a value of one other value and numbers alone, and
   whose result equals one of `_FUNCTIONS`, x * sigmoid(a * x), sigmoid(a * x) or tanh(a * x) at
   `_POINTS`, become that `Unary`, of a * x where it has no such factor itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_functions import log
from edgec.floatrun.codes import unary_function
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import UnaryKind
from edgec.passes.edit import sweep

_POINTS = np.linspace(-9.0, 9.0, 145)
"""The points at which functions are compared; 0 and 1 are among them."""
_TOLERANCE = 1e-5
"""GELU and its approximation differ by 4.7e-4; the constants of a file are float32."""
_MOST_NODES = 16
_LEAST_FACTOR = 0.1
"""With smaller ones a sigmoid and a straight line differ by less than the tolerance."""
_FUNCTIONS = (
    ops.Unary(UnaryKind.GELU),
    ops.Unary(UnaryKind.GELU_TANH),
    ops.Unary(UnaryKind.SOFTPLUS),
    ops.Unary(UnaryKind.MISH),
    ops.Unary(UnaryKind.HARD_SWISH),
)


def fuse_functions(graph: Graph) -> Graph:
    """Apply the rule until it does not apply."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    # An operator of one function alone is no composition: nothing can be gained.
    if not _elementwise(graph, node):
        return None
    for source in _sources(graph, node):
        cone = _cone(graph, node, source)
        if cone is None or len(cone) < 2:
            continue
        known = _recognised(_values(graph, node.output, source, {}))
        if known is None:
            continue
        attrs, factor = known
        if factor == 1.0:
            return _fused(graph, node, cone, source, attrs)
        if len(cone) > 2:
            return _scaled(graph, node, cone, source, attrs, factor)
    return None


def _fused(
    graph: Graph, node: Node, cone: tuple[Node, ...], source: str, attrs: ops.Unary
) -> Graph:
    builder = GraphBuilder.of(graph)
    sources = tuple(dict.fromkeys(name for part in cone for name in part.sources))
    builder.put(replace(node, attrs=attrs, inputs=(source,), sources=sources))
    return builder.build()


def _scaled(
    graph: Graph,
    node: Node,
    cone: tuple[Node, ...],
    source: str,
    attrs: ops.Unary,
    factor: float,
) -> Graph:
    """The graph with the function of `source` times a factor in place of `node`."""
    builder = GraphBuilder.of(graph)
    inner = builder.value(
        replace(graph.values[node.output], name=builder.fresh(f"{node.output}/scaled"), quant=None)
    )
    number = builder.constant(f"{node.name}/factor", np.float32(factor).reshape(1))
    sources = tuple(dict.fromkeys(name for part in cone for name in part.sources))
    builder.node(inner, ops.Mul(), (source, number), (inner,), sources)
    builder.put(replace(node, attrs=attrs, inputs=(inner,), sources=sources))
    return builder.build()


def _sources(graph: Graph, node: Node) -> Iterator[str]:
    """Values that the operators before `node` read: candidates for x, the farthest first."""
    found: dict[str, None] = {}
    waiting = [node]
    for part in waiting:  # grows while it is walked
        for name in part.inputs:
            if name not in graph.values or name in found:
                continue
            found[name] = None
            producer = graph.producers.get(name)
            if (
                producer is not None
                and len(waiting) < _MOST_NODES
                and _elementwise(graph, producer)
            ):
                waiting.append(producer)
    return reversed(found)


def _cone(graph: Graph, node: Node, source: str) -> tuple[Node, ...] | None:
    """The operators between `source` and `node`, in graph order; None if other values enter."""
    found: dict[str, Node] = {}
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part.name in found:
            continue
        if not _elementwise(graph, part) or len(found) > _MOST_NODES:
            return None
        found[part.name] = part
        for name in part.inputs:
            if name == source or graph.is_constant(name):
                continue
            producer = graph.producers.get(name)
            if producer is None or graph.values[name].quant is not None:
                return None
            waiting.append(producer)
    return tuple(part for part in graph.nodes if part.name in found)


def _elementwise(graph: Graph, node: Node) -> bool:
    """Whether a node computes each element from one element of each value and numbers."""
    if isinstance(node.attrs, ops.Clip):
        return True
    if isinstance(node.attrs, ops.Unary):
        return node.attrs.kind is not UnaryKind.NOT
    numbers = all(_is_number(graph, name) for name in node.inputs if graph.is_constant(name))
    shapes = {graph.shape(name) for name in (*node.inputs, node.output) if name in graph.values}
    return isinstance(node.attrs, ops.Arithmetic) and numbers and len(shapes) == 1


def _is_number(graph: Graph, name: str) -> bool:
    """Whether a constant holds one number, once or repeated."""
    array = graph.constants[name].array
    return array.size > 0 and bool((array == array.flat[0]).all())


def _values(graph: Graph, name: str, source: str, known: dict[str, Array]) -> Array:
    """Values of `name` where `source` is `_POINTS`; float64, results kept in `known`."""
    if name == source:
        return _POINTS
    if graph.is_constant(name):
        return graph.constants[name].real().astype(np.float64).reshape(-1)[:1]
    if name not in known:
        node = graph.producers[name]
        operands = [_values(graph, operand, source, known) for operand in node.inputs]
        known[name] = _computed(node, operands)
    return known[name]


def _computed(node: Node, operands: list[Array]) -> Array:
    with np.errstate(all="ignore"):
        if isinstance(node.attrs, ops.Arithmetic):
            return node.attrs.evaluate(node.attrs.Inputs.of(operands))
        function = unary_function(node.attrs_as(ops.Unary, ops.Clip))
        return np.asarray(function(operands[0]))


def _recognised(values: Array) -> tuple[ops.Unary, float] | None:
    """The operator with these values at `_POINTS` and the factor of its operand, or None."""
    if values.size != _POINTS.size or not np.isfinite(values).all():
        return None
    for attrs, factor in _candidates(float(values[np.searchsorted(_POINTS, 1.0)])):
        wanted = unary_function(attrs)(_POINTS * factor)
        if np.allclose(values, wanted, rtol=0.0, atol=_TOLERANCE):
            return attrs, factor
    return None


def _candidates(at_one: float) -> Iterator[tuple[ops.Unary, float]]:
    """Known functions, with the factors that follow from the value at 1."""
    yield from ((attrs, 1.0) for attrs in _FUNCTIONS)
    if 0.5 + _TOLERANCE < at_one < 1.0:  # 0.5: the slope is 0, and the function x / 2
        yield ops.Unary(UnaryKind.SWISH, alpha=_logit(at_one)), 1.0
    if 0.0 < at_one < 1.0 and abs(_logit(at_one)) > _LEAST_FACTOR:
        yield ops.Unary(UnaryKind.SIGMOID), _logit(at_one)
    if -1.0 < at_one < 1.0:
        factor = _logit((at_one + 1.0) / 2.0) / 2.0
        if abs(factor) > _LEAST_FACTOR:
            yield ops.Unary(UnaryKind.TANH), factor


def _logit(share: float) -> float:
    """The argument at which a sigmoid has a value within 0..1."""
    return round(float(log(np.asarray(share / (1.0 - share)))), 6)
