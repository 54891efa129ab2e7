"""Functions of functions as one operator, which rounds once.

An element function is a table of codes.  Two tables in a row round between them; one table of both
does not, takes half the time, and keeps no tensor between them.

Rules:
1. composed: operators of single elements that make a value of one other value and numbers alone,
   and whose results nobody else reads, become one function of that value, where one of them at
   least bends.
   * A Clip of a layer's output stays: it becomes part of the layer.
   * Within a loop all stays: recurrent cells are recognised by their parts later.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import UnaryKind
from edgec.passes.cone import candidates, cone_between, elementwise, from_layer, is_real
from edgec.passes.edit import sweep

_STRAIGHT = (UnaryKind.IDENTITY, UnaryKind.NEG, UnaryKind.ABS, UnaryKind.LEAKY_RELU)
"""Functions of straight pieces, for which between tensors of 16 bits there is no table."""


def compose_functions(graph: Graph) -> Graph:
    """Apply the rule until it does not apply."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not _is_step(graph, node):
        return None
    for source in candidates(graph, node):
        cone = cone_between(graph, node, source) if is_real(graph, source) else None
        if cone is None or len(cone) < 2 or not _composable(graph, cone, node, source):
            continue
        builder = GraphBuilder.of(graph)
        steps = _steps(graph, cone, source)
        named = tuple(dict.fromkeys(name for part in cone for name in part.sources))
        attrs = ops.Unary(UnaryKind.COMPOSED, steps=steps)
        builder.put(replace(node, attrs=attrs, inputs=(source,), sources=named))
        return builder.build()
    return None


def _composable(graph: Graph, cone: tuple[Node, ...], node: Node, source: str) -> bool:
    names = {part.name for part in cone}
    for part in cone:
        if not _is_step(graph, part) or graph.scopes.nodes[part.name]:
            return False
        if part is not node and not _read_within(graph, part.output, names):
            return False
        if isinstance(part.attrs, ops.Clip) and source in part.inputs and from_layer(graph, source):
            return False
    return any(_bends(graph, part) for part in cone)


def _is_step(graph: Graph, node: Node) -> bool:
    """Whether a node can be a step: real numbers in and out."""
    if not elementwise(graph, node) or not is_real(graph, node.output):
        return False
    if isinstance(node.attrs, ops.Cast | ops.Where | ops.Compare):
        return False
    return all(is_real(graph, name) for name in node.inputs if name in graph.values)


def _read_within(graph: Graph, name: str, names: set[str]) -> bool:
    """Whether only nodes of these names read a value."""
    readers = graph.consumers.get(name, ())
    return name not in graph.outputs and all(reader.name in names for reader in readers)


def _bends(graph: Graph, node: Node) -> bool:
    """Whether a node's function is no line, and none of straight pieces."""
    if isinstance(node.attrs, ops.Unary):
        return node.attrs.kind not in _STRAIGHT
    numbers = [name for name in node.inputs if graph.is_constant(name)]
    return isinstance(node.attrs, ops.Mul | ops.Div | ops.SquaredDifference) and not numbers


def _steps(graph: Graph, cone: tuple[Node, ...], source: str) -> tuple[ops.Step, ...]:
    """The cone as the steps of a composition, in its order; compositions in it, taken apart."""
    places = {source: 0}
    steps: list[ops.Step] = []
    for part in cone:
        attrs = part.attrs
        if isinstance(attrs, ops.Unary) and attrs.steps:
            own = [places[part.first], *range(len(steps) + 1, len(steps) + 1 + len(attrs.steps))]
            for step in attrs.steps:
                moved = tuple(None if each is None else own[each] for each in step.operands)
                steps.append(replace(step, operands=moved))
        else:
            steps.append(_step(graph, part, places))
        places[part.output] = len(steps)
    return tuple(steps)


def _step(graph: Graph, node: Node, places: dict[str, int]) -> ops.Step:
    attrs = node.attrs_as(ops.Unary, ops.Clip, ops.Arithmetic)
    numbers = [
        float(graph.constants[name].real().reshape(-1)[0])
        for name in node.inputs
        if graph.is_constant(name)
    ]
    return ops.Step(attrs, tuple(places.get(name) for name in node.inputs), *numbers)
