"""Edits that several passes share: sweeping rules over a graph, bypassing and inserting nodes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MIN
from edgec.base.limits import SWEEP_WHOLE_NODES
from edgec.ir import ops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.layout import inverse
from edgec.ir.operator import Operator
from edgec.ir.qparams import QuantParams
from edgec.passes.blocks import sweep_blocks

Rule = Callable[[Graph, Node], "Graph | None"]
_NON_NEGATIVE = (ops.UnaryKind.SIGMOID, ops.UnaryKind.HARD_SIGMOID, ops.UnaryKind.ABS)
_KEEPS_SIGN = (
    ops.MaxPool,
    ops.AveragePool,
    ops.Reshape,
    ops.Transpose,
    ops.Slice,
    ops.Concat,
)
"""Operators whose results have no sign that none of their operands has."""


def sweep(graph: Graph, rule: Rule) -> Graph:
    """Apply `rule` to every node, again and again, until it changes nothing.

    Args:
        graph: the graph.
        rule: returns the changed graph, or None where it does not apply.  Each change must make
            the graph smaller by some measure, or this does not end.  Inputs and outputs keep their
            names and what they hold.
    """
    if len(graph.nodes) > SWEEP_WHOLE_NODES and graph.is_straight:
        graph = sweep_blocks(graph, lambda block: _swept(block, rule))
    return _swept(graph, rule)


def pads_ones(node: Node) -> bool:
    """Whether a node puts ones around what it reads."""
    match node.attrs:
        case ops.Pad(mode=ops.PadMode.CONSTANT, value=1.0):
            return True
        case _:
            return False


def unreshaped(graph: Graph, name: str) -> str:
    """The value of which another one is a reshape, through any number of them."""
    node = graph.producers.get(name)
    while node is not None and isinstance(node.attrs, ops.Reshape):
        name = node.input
        node = graph.producers.get(name)
    return name


def below_layout(graph: Graph, name: str) -> Node | None:
    """The node whose result a value is, reshaped and padded by ones any number of times."""
    node = graph.producers.get(name)
    while node is not None and (isinstance(node.attrs, ops.Reshape) or pads_ones(node)):
        node = graph.producers.get(node.input)
    return node


def never_negative(graph: Graph) -> frozenset[str]:
    """Tensors no element of which can be below zero, as far as the operators before them tell.

    Of the whole graph: `sweep` shows rules parts of a large one, in which operators are missing.
    """
    asked = {n for each in graph.nodes if isinstance(each.attrs, _KEEPS_SIGN) for n in each.inputs}
    found = {
        name
        for name, constant in graph.constants.items()
        if name in asked and (constant.real() >= 0.0).all()
    }
    found |= {name for name, value in graph.values.items() if _codes_begin_at_zero(value)}
    for node in graph.nodes:
        keeps = isinstance(node.attrs, _KEEPS_SIGN) and found.issuperset(node.inputs)
        if keeps or _gives_no_negative(node):
            found.update(node.outputs)
    return frozenset(found)


def _codes_begin_at_zero(value: Value) -> bool:
    quant = value.quant
    return quant is not None and quant.axis is None and quant.tensor_zero_point == INT8_MIN


def _gives_no_negative(node: Node) -> bool:
    match node.attrs:
        case ops.Clip(low=low):
            return low >= 0.0
        case ops.Unary(kind=kind):
            return kind in _NON_NEGATIVE
        case _:
            return False


def _swept(graph: Graph, rule: Rule) -> Graph:
    """A graph to which the rule applies no more."""
    changed = True
    while changed:
        changed = False
        visited: set[str] = set()
        while True:
            rewritten = _first_change(graph, rule, visited)
            if rewritten is None:
                break
            graph, changed = rewritten, True
    return graph


def _first_change(graph: Graph, rule: Rule, visited: set[str]) -> Graph | None:
    for node in graph.nodes:
        if node.name in visited:
            continue
        rewritten = rule(graph, node)
        if rewritten is not None:
            return rewritten
        visited.add(node.name)
    return None


def bypass(graph: Graph, node: Node, source: str) -> Graph | None:
    """Let readers of `node`'s output read the value `source` instead, which equals it.

    Names of graph outputs and pinned quantizations survive: where the two values are pinned to
    different parameters the node becomes the requantization `Unary(IDENTITY)`, and of integers of
    the run a `Reshape` to the same shape.

    Returns:
        The new graph, or None when nothing can be gained.
    """
    target = graph.values[node.output]
    builder = GraphBuilder.of(graph)
    pinned = _merged_quant(graph, source, target, node)
    if pinned is _CONFLICT or (target.name in graph.outputs and not _renamable(graph, source)):
        attrs = copy_of(graph.values[source])
        if node.attrs == attrs or graph.values[source].shape != target.shape:
            return None
        builder.put(replace(node, attrs=attrs, inputs=(source,)))
        return builder.build()
    builder.remove(node)
    kept = replace(graph.values[source], quant=pinned)
    if target.name in graph.outputs:
        kept = replace(kept, name=target.name)
        producer = graph.producers[source]
        outputs = tuple(kept.name if out == source else out for out in producer.outputs)
        builder.put(replace(producer, outputs=outputs))
        builder.rewire(source, kept.name)
    else:
        builder.rewire(target.name, source)
    builder.value(kept)
    return builder.build()


def copy_of(source: Value) -> Operator:
    """The operator that gives a value once more."""
    if source.dtype is DType.INT32:
        return ops.Reshape(source.shape)
    return ops.Unary(ops.UnaryKind.IDENTITY)


_CONFLICT = QuantParams((1.0,), (0,))
"""Marker, compared by identity: the two values cannot share one quantization."""


def _merged_quant(graph: Graph, source: str, target: Value, node: Node) -> QuantParams | None:
    """Quantization of the value that stands for both, or `_CONFLICT`."""
    found = graph.values[source].quant
    if target.quant is None or found == target.quant:
        return found
    # Only when nothing else reads the source may it be rounded to the target's codes.
    if found is None and graph.sole_consumer(source) is node and source not in graph.inputs:
        return target.quant
    return _CONFLICT


def _renamable(graph: Graph, source: str) -> bool:
    """Whether a value may take over the name of a graph output."""
    return source in graph.producers and source not in graph.outputs


def on_last_axis(
    builder: GraphBuilder,
    node: Node,
    attrs: Operator,
    x: str,
    axes: tuple[int, ...],
    rest: tuple[str, ...] = (),
) -> None:
    """Put an operator of the last axis in place of `node`, which works along other ones.

    Args:
        builder: holds the graph.
        node: computes what the operator does; its output stays.
        attrs: the operator.
        x: value of the shape of the output.
        axes: non-negative, ascending; what the operator works along, as if they were one axis.
        rest: further operands of the operator.
    """
    value = builder.values[node.output]
    perm = (*(axis for axis in range(len(value.shape)) if axis not in axes), *axes)
    moved = tuple(value.shape[axis] for axis in perm)
    lead = len(perm) - len(axes)
    flat = (*moved[:lead], math.prod(moved[lead:]))
    steps: list[tuple[Operator, tuple[int, ...]]] = [(attrs, flat)]
    if len(axes) > 1:
        steps = [(ops.Reshape(flat), flat), *steps, (ops.Reshape(moved), moved)]
    if perm != tuple(sorted(perm)):
        back = (ops.Transpose(inverse(perm)), value.shape)
        steps = [(ops.Transpose(perm), moved), *steps, back]
    *first, (last, _) = steps
    for number, (step, shape) in enumerate(first):
        name = builder.fresh(f"{value.name}/{'last' if number < len(steps) // 2 else 'along'}")
        builder.value(replace(value, name=name, shape=shape, quant=None))
        builder.node(name, step, (x, *rest) if step is attrs else (x,), (name,), node.sources)
        x = name
    builder.put(replace(node, attrs=last, inputs=(x, *rest) if last is attrs else (x,)))


def replace_node(graph: Graph, node: Node, *removed: Node) -> Graph:
    """The graph with `node` in place of the node of its name, and without `removed`."""
    builder = GraphBuilder.of(graph)
    for other in removed:
        builder.remove(other)
    builder.put(node)
    return builder.build()
