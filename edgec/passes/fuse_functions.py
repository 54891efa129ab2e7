"""One operator in place of several that together compute a known activation function.

Exporters write GELU and SiLU in many ways: by erf, by tanh, halved before or after, with squares or
powers.  So they are recognised by their values, not by their form.

Rules:
1. function: element-wise operators that make a value of one other value and numbers alone, and
   whose result equals GELU, its tanh approximation or x * sigmoid(a * x) at `_POINTS`, become that
   `Unary`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.exact_functions import log
from edgec.floatrun.tabled import unary_function
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import UnaryKind
from edgec.passes.edit import replace_node, sweep

_POINTS = np.linspace(-9.0, 9.0, 145)
"""The points at which functions are compared; 0 and 1 are among them."""
_TOLERANCE = 1e-5
"""GELU and its approximation differ by 4.7e-4; the constants of a file are float32."""
_MOST_NODES = 16


def fuse_functions(graph: Graph) -> Graph:
    """Apply the rule until it does not apply."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    # Each of the functions is x times something, perhaps halved last.
    if not isinstance(node.attrs, ops.Mul):
        return None
    for source in _sources(graph, node):
        cone = _cone(graph, node, source)
        if cone is None:
            continue
        known = _recognised(_values(graph, node.output, source, {}))
        if known is not None:
            sources = tuple(name for part in cone for name in part.sources)
            return replace_node(
                graph, replace(node, attrs=known, inputs=(source,), sources=sources)
            )
    return None


def _sources(graph: Graph, node: Node) -> Iterator[str]:
    """Values that `node` or its operands multiply: candidates for x, the nearest last."""
    near = [name for name in node.inputs if name in graph.values]
    far = [
        name
        for producer in (graph.producers.get(value) for value in near)
        if producer is not None and isinstance(producer.attrs, ops.Mul)
        for name in producer.inputs
        if name in graph.values
    ]
    return iter(dict.fromkeys((*far, *near)))


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
    if isinstance(node.attrs, ops.Unary):
        return node.attrs.kind is not UnaryKind.NOT
    constants = [graph.constants[name] for name in node.inputs if graph.is_constant(name)]
    numbers = all(constant.array.size == 1 for constant in constants)
    shapes = {graph.shape(name) for name in (*node.inputs, node.output) if name in graph.values}
    return isinstance(node.attrs, ops.Arithmetic) and numbers and len(shapes) == 1


def _values(graph: Graph, name: str, source: str, known: dict[str, Array]) -> Array:
    """What `name` is where `source` is `_POINTS`; float64, results kept in `known`."""
    if name == source:
        return _POINTS
    if graph.is_constant(name):
        return graph.constants[name].real().astype(np.float64).reshape(-1)
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


def _recognised(values: Array) -> ops.Unary | None:
    """The operator with these values at `_POINTS`, or None."""
    candidates = [ops.Unary(UnaryKind.GELU), ops.Unary(UnaryKind.GELU_TANH)]
    at_one = float(values[np.searchsorted(_POINTS, 1.0)]) if values.size == _POINTS.size else 0.0
    if 0.5 + _TOLERANCE < at_one < 1.0:  # 0.5: the slope is 0, and the function x / 2
        slope = round(float(log(np.asarray(at_one / (1.0 - at_one)))), 6)
        candidates.append(ops.Unary(UnaryKind.SWISH, alpha=slope))
    for attrs in candidates:
        if values.size == _POINTS.size and np.allclose(
            values, unary_function(attrs)(_POINTS), rtol=0.0, atol=_TOLERANCE
        ):
            return attrs
    return None
