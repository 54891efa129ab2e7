"""Remove operators that do nothing, and compute at compile time what is constant.

Rules:
1. identity: `Unary(IDENTITY)` goes, unless it requantizes between two pinned quantizations.
2. reshape: a `Reshape` to the shape it has goes; a `Reshape` of a `Reshape` reads its input.
3. transpose: a `Transpose` that moves no axis goes.
4. pad: a `Pad` by nothing goes.
5. slice: a `Slice` of everything goes; a `Slice` of a `Slice` reads its input.
6. concat: a `Concat` of one value goes.
7. clip: a `Clip` without bounds goes; a `Clip` of a `Clip` that nothing else reads becomes one.
8. constant: an operator whose inputs are all constants becomes a constant.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.real import RealOperator
from edgec.passes.edit import bypass, replace_node, sweep


def simplify(graph: Graph) -> Graph:
    """Apply all rules until none applies."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if all(graph.is_constant(name) for name in node.inputs if name):
        return _fold(graph, node)
    if _is_noop(graph, node):
        source = next(name for name in node.inputs if not graph.is_constant(name))
        return bypass(graph, node, source)
    if isinstance(node.attrs, ops.Reshape):
        return _merge_reshapes(graph, node)
    if isinstance(node.attrs, ops.Slice):
        return _merge_slices(graph, node)
    if isinstance(node.attrs, ops.Clip):
        return _merge_clips(graph, node)
    return None


def _is_noop(graph: Graph, node: Node) -> bool:
    attrs = node.attrs
    match attrs:
        case ops.Unary():
            return attrs.kind is ops.UnaryKind.IDENTITY
        case ops.Reshape():
            return attrs.shape == graph.shape(node.first)
        case ops.Transpose():
            return attrs.perm == tuple(range(len(attrs.perm)))
        case ops.Pad():
            return not any(before or after for before, after in attrs.pads)
        case ops.Slice():
            ahead = all(step == 1 for step in attrs.steps)
            return ahead and attrs.sizes == graph.shape(node.first)
        case ops.Concat():
            return len(node.inputs) == 1
        case ops.Clip():
            return attrs == ops.Clip()
        case _:
            return False


def _merge_reshapes(graph: Graph, node: Node) -> Graph | None:
    inner = graph.producers.get(node.first)
    if inner is None or not isinstance(inner.attrs, ops.Reshape):
        return None
    if graph.values[inner.first].quant != graph.values[inner.output].quant:
        return None
    return replace_node(graph, replace(node, inputs=inner.inputs))


def _merge_slices(graph: Graph, node: Node) -> Graph | None:
    inner = graph.producers.get(node.first)
    if inner is None or not isinstance(inner.attrs, ops.Slice):
        return None
    if graph.values[inner.first].quant != graph.values[inner.output].quant:
        return None
    own, first = node.attrs_as(ops.Slice), inner.attrs
    starts = zip(first.starts, first.steps, own.starts, strict=True)
    merged = ops.Slice(
        tuple(start + step * more for start, step, more in starts),
        tuple(step * more for step, more in zip(first.steps, own.steps, strict=True)),
        own.sizes,
    )
    return replace_node(graph, replace(node, attrs=merged, inputs=inner.inputs))


def _merge_clips(graph: Graph, node: Node) -> Graph | None:
    inner = graph.producers.get(node.first)
    if inner is None or not isinstance(inner.attrs, ops.Clip):
        return None
    between, after = graph.values[inner.output], graph.values[node.output]
    if graph.sole_consumer(between.name) is not node or between.quant not in (None, after.quant):
        return None
    outer = node.attrs_as(ops.Clip)
    low, high = (
        min(max(bound, outer.low), outer.high) for bound in (inner.attrs.low, inner.attrs.high)
    )
    sources = (*inner.sources, *node.sources)
    merged = replace(node, attrs=ops.Clip(low, high), inputs=inner.inputs, sources=sources)
    return replace_node(graph, merged)


def _fold(graph: Graph, node: Node) -> Graph | None:
    target = graph.values[node.output]
    # A graph output must stay a value; a pinned result must keep its rounding.
    if target.name in graph.outputs or target.quant is not None:
        return None
    arrays = [graph.constants[name].real() if name else None for name in node.inputs]
    attrs = node.attrs_as(RealOperator)
    array = attrs.evaluate(attrs.Inputs.of(arrays))
    if array is None:
        return None
    builder = GraphBuilder.of(graph)
    builder.remove(node)
    del builder.values[target.name]
    builder.constant(target.name, array, keep_name=True)
    return builder.build()
