"""Remove transposes by choosing the order of axes of every tensor.

Exporters write networks channels-first and the importer puts a `Transpose` on each side of every
channels-last operator.  This pass forgets them all, chooses for each tensor the order of axes in
which it is stored so that the fewest elements have to be transposed (`layout_search`), and writes
the graph anew with the transposes that are still needed.

Rules:
1. keep dims: `Reduce` and `ArgMax` keep their axes, a `Reshape` drops them; operands of `Add`,
   `Sub` and `Mul` get equal ranks by `Reshape`.
2. frame: operators of free layout work in the chosen frame; constants are rearranged at once.
3. input: a graph input is stored in the order its readers want (`Graph.input_layouts`).
4. output: a graph output stays in the order it is computed in (`Graph.output_layouts`).
5. columns: a `Gemm` of a flattened tensor gets its weight columns in the tensor's order, unless
   they come from a weight pool, whose vectors lie along them.
6. unit axes: moving axes of length 1 is a `Reshape`.
7. batch: the first axis of graph inputs and outputs stays the first where its length is 1, which
   costs nothing: samples are stacked along it.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.layout import Perm
from edgec.passes.layout_frames import choose_frames, collect
from edgec.passes.layout_write import write


def layout(graph: Graph) -> Graph:
    """Apply the rules."""
    graph = _equal_ranks(_keep_dims(graph))
    refs = collect(graph)
    frames = choose_frames(refs)
    ends = {name: frames[name] for name in (*graph.inputs, *graph.outputs) if name in frames}
    kept = {name: _batch_first(graph.shape(name), frame) for name, frame in ends.items()}
    return write(graph, refs, frames | kept)


def _batch_first(shape: tuple[int, ...], frame: Perm) -> Perm:
    """A frame of the same order of elements that leaves a first axis of length 1 in its place."""
    if shape[:1] != (1,):
        return frame
    return (0, *(axis for axis in frame if axis != 0))


def transposes(graph: Graph) -> int:
    """Number of `Transpose` nodes."""
    return sum(isinstance(node.attrs, ops.Transpose) for node in graph.nodes)


def _keep_dims(graph: Graph) -> Graph:
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if not isinstance(node.attrs, ops.Reduce | ops.ArgMax) or node.attrs.keepdims:
            continue
        result = graph.values[node.output]
        keeping = replace(node.attrs, keepdims=True)
        shape = keeping.infer_shape(keeping.Inputs(graph.shape(node.input)))
        kept = builder.value(
            replace(result, name=builder.fresh(f"{result.name}/kept"), shape=shape)
        )
        builder.put(replace(node, attrs=keeping, outputs=(kept,)))
        attrs = ops.Reshape(result.shape)
        builder.node(f"{node.name}/drop", attrs, (kept,), (result.name,), node.sources)
    return builder.build()


def _equal_ranks(graph: Graph) -> Graph:
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if not isinstance(node.attrs, ops.Arithmetic):
            continue
        rank = len(graph.shape(node.output))
        inputs = list(node.inputs)
        for index, name in enumerate(inputs):
            value = graph.values.get(name)
            if value is None or len(value.shape) == rank:
                continue
            shape = (1,) * (rank - len(value.shape)) + value.shape
            full = builder.value(replace(value, name=builder.fresh(f"{name}/full"), shape=shape))
            builder.node(full, ops.Reshape(shape), (name,), (full,), node.sources)
            inputs[index] = full
        builder.put(replace(node, inputs=tuple(inputs)))
    return builder.build()
