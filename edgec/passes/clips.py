"""Activations: moved to where they cost nothing, or written down where a file leaves them out.

Move activations to where they cost nothing: into the clamp of the operator before.

Rules:
1. max: ``MaxPool`` or ``Reduce(MAX)``, then ``Clip`` becomes ``Clip``, then the maximum; a maximum
   of clipped numbers is the clipped maximum.  (PyTorch models often pool first.)
2. move: likewise for ``Reshape`` and ``Transpose``.

Only when the operator before ends in a clamp (`ir.fusion`), nothing else reads what is moved over,
and no quantization is pinned in between.

Write down the activations that a quantized file leaves to its codes.

Quantizers drop a Relu before codes that begin at zero, because codes below it do not exist
(onnxruntime's `quantize_static` does).  The integers are the same with it or without.  The real
network is not: what it computes between those layers would be negative, and every comparison with
it would blame the integers.

Rules:
1. relu: Conv, ConvTranspose, Gemm or Add whose output is pinned to int8 codes that begin at zero:
   ``Clip(0, inf)`` after it.
2. relu6: likewise ``Clip(0, 6)`` where the codes end at 6.

Neither applies where the operator has its Clip already, which reads an output that is not pinned.
"""

from __future__ import annotations

import math
from dataclasses import replace

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.passes.edit import sweep


def hoist_clip(graph: Graph) -> Graph:
    """Apply the rules until none applies; each moves a Clip towards the inputs."""
    return sweep(graph, _hoisted)


def _hoisted(graph: Graph, clip: Node) -> Graph | None:
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


_RELU6 = 6.0


def restore_clip(graph: Graph) -> Graph:
    """Apply the rules to every operator once: what they leave is not pinned."""
    return sweep(graph, _restored)


def _restored(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.Weighted | ops.Add):
        return None
    value = graph.values[node.output]
    clip = None if value.quant is None else _clip_of(value.quant)
    if clip is None:
        return None
    builder = GraphBuilder.of(graph)
    free = builder.value(replace(value, name=builder.fresh(f"{value.name}/unclipped"), quant=None))
    builder.put(replace(node, outputs=(free,)))
    builder.put(Node(builder.fresh(f"{node.name}/clip"), clip, (free,), node.outputs))
    return builder.build()


def _clip_of(quant: QuantParams) -> ops.Clip | None:
    """Clip that codes imply by beginning at zero; None where they begin below it."""
    if quant.axis is not None or quant.dtype is not DType.INT8:
        return None
    if quant.tensor_zero_point != INT8_MIN:
        return None
    last = (INT8_MAX - INT8_MIN) * quant.tensor_scale
    # Files hold scales as float32.
    is_relu6 = math.isclose(last, _RELU6, rel_tol=1e-6)
    return ops.Clip(0.0, _RELU6 if is_relu6 else math.inf)
