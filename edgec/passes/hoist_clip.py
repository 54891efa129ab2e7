"""Move activations to where they cost nothing: into the clamp of the operator before.

Rules:
1. max: ``MaxPool`` or ``Reduce(MAX)``, then ``Clip`` becomes ``Clip``, then the maximum; a maximum
   of clipped numbers is the clipped maximum.  (PyTorch models often pool first.)
2. move: likewise for ``Reshape`` and ``Transpose``.

Only when the operator before ends in a clamp (`ir.fusion`), nothing else reads what is moved over,
and no quantization is pinned in between.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.ir.real import RealOperator
from edgec.passes.edit import sweep


def hoist_clip(graph: Graph) -> Graph:
    """Apply the rules until none applies; each moves a Clip towards the inputs."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, clip: Node) -> Graph | None:
    if not isinstance(clip.attrs, ops.Clip):
        return None
    mover = graph.producers.get(clip.first)
    if mover is None or not _commutes(mover) or not _only_link(graph, mover, clip):
        return None
    source = mover.first
    if not _leads_to_clamp(graph, source, mover):
        return None
    pin = graph.values[clip.output].quant
    builder = GraphBuilder.of(graph)
    value = graph.values[source]
    clipped = builder.value(replace(value, name=builder.fresh(f"{source}/clipped"), quant=pin))
    builder.put(replace(clip, inputs=(source,), outputs=(clipped,)))
    builder.put(replace(mover, inputs=(clipped,), outputs=clip.outputs))
    return builder.build()


def _commutes(node: Node) -> bool:
    if isinstance(node.attrs, ops.Reduce):
        return node.attrs.kind is ops.ReduceKind.MAX
    return isinstance(node.attrs, ops.MaxPool | ops.Reshape | ops.Transpose)


def _only_link(graph: Graph, node: Node, reader: Node) -> bool:
    """Whether nothing but `reader` sees the output of `node`, unrounded."""
    return graph.sole_consumer(node.output) is reader and graph.values[node.output].quant is None


def _leads_to_clamp(graph: Graph, name: str, reader: Node) -> bool:
    """Whether going on before `name` reaches an operator that absorbs a Clip."""
    producer = graph.producers.get(name)
    if producer is None or not _only_link(graph, producer, reader):
        return False
    if producer.attrs_as(RealOperator).ends_in_clamp:
        return True
    return _commutes(producer) and _leads_to_clamp(graph, producer.first, producer)
