"""Keep the rows of a sequence in one shape: move reshapes after operators on rows.

Exporters flatten [1, N, C] to [N, C] before a dense layer and restore it afterwards, which hides
that the layers between belong together.

Rules:
1. sink: ``Reshape`` of [1, N, C] to [N, C], N > 1, then an operator that works on each row or
   element by itself becomes that operator, then the ``Reshape``.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.passes.edit import sweep

_ON_ROWS = (
    *(ops.Gemm, ops.Unary, ops.Clip, ops.Softmax),
    *(ops.LayerNormalization, ops.RMSNormalization, ops.BatchNormalization),
)


def sink_reshape(graph: Graph) -> Graph:
    """Apply the rule until it does not apply; reshapes move towards the outputs."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, _ON_ROWS):
        return None
    flat = node.first
    reshape = graph.producers.get(flat)
    if reshape is None or not isinstance(reshape.attrs, ops.Reshape):
        return None
    source, shape = reshape.first, graph.shape(flat)
    if graph.shape(source) != (1, *shape) or len(shape) != 2 or shape[0] == 1:
        return None
    if graph.values[source].quant != graph.values[flat].quant:
        return None
    result = graph.values[node.output]
    builder = GraphBuilder.of(graph)
    name = builder.fresh(f"{result.name}/rows")
    builder.value(replace(result, name=name, shape=(1, *result.shape)))
    inputs = replace(node.attrs.Inputs.of(node.inputs), x=source)
    builder.put(replace(node, inputs=inputs.names(), outputs=(name,)))
    builder.node(f"{node.name}/flat", ops.Reshape(result.shape), (name,), (result.name,))
    return builder.build()
