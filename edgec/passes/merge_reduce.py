"""One reduction in place of two.

Rules:
1. nested: a `Reduce` of a `Reduce` of the same kind, with at most a `Reshape` between that adds or
   drops axes of length 1, reduces over both sets of axes at once.  (tf2onnx writes a mean over
   height and width as two.)
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.edit import sweep


def merge_reduce(graph: Graph) -> Graph:
    """Apply the rule until it does not apply.  Takes reductions that keep their axes."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.Reduce) or not node.attrs.keepdims:
        return None
    between = inner = _unseen_producer(graph, node)
    if inner is not None and isinstance(inner.attrs, ops.Reshape):
        inner = _unseen_producer(graph, inner)
    if between is None or inner is None or not isinstance(inner.attrs, ops.Reduce):
        return None
    if inner.attrs.kind is not node.attrs.kind or not inner.attrs.keepdims:
        return None
    if inner.attrs.kind is ops.ReduceKind.SUM_SQUARE:
        return None  # the outer one squares sums
    before, after = graph.shape(inner.output), graph.shape(node.first)
    kept = [axis for axis, size in enumerate(before) if size != 1]
    seen = [axis for axis, size in enumerate(after) if size != 1]
    if [before[axis] for axis in kept] != [after[axis] for axis in seen]:
        return None
    outer = {kept[seen.index(axis)] for axis in node.attrs.axes if axis in seen}
    axes = tuple(sorted(outer | set(inner.attrs.axes)))
    return _merged(graph, (inner, between, node), axes)


def _unseen_producer(graph: Graph, reader: Node) -> Node | None:
    """Producer of the input of `reader`, if nothing else reads that and it is not quantized."""
    name = reader.first
    producer = graph.producers.get(name)
    if producer is None or graph.sole_consumer(name) is not reader:
        return None
    return producer if graph.values[name].quant is None else None


def _merged(graph: Graph, chain: tuple[Node, Node, Node], axes: tuple[int, ...]) -> Graph:
    """The inner reduction over all axes; the outer one becomes a `Reshape`."""
    inner, between, outer = chain
    builder = GraphBuilder.of(graph)
    builder.remove(between)  # the inner reduction itself, or the reshape after it
    result = graph.values[outer.output]
    source = graph.shape(inner.first)
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(source))
    name = builder.fresh(f"{result.name}/merged")
    builder.value(replace(result, name=name, shape=shape))
    attrs = replace(inner.attrs_as(ops.Reduce), axes=axes)
    sources = (*inner.sources, *outer.sources)
    builder.put(replace(inner, attrs=attrs, outputs=(name,), sources=sources))
    builder.put(replace(outer, attrs=ops.Reshape(result.shape), inputs=(name,)))
    return builder.build()
