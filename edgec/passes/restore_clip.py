"""Write down the activations that a quantized file leaves to its codes.

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
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.ir.qparams import QuantParams
from edgec.passes.edit import sweep

_RELU6 = 6.0


def restore_clip(graph: Graph) -> Graph:
    """Apply the rules to every operator once: what they leave is not pinned."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
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
    """What codes do by beginning at zero; None where they begin below it."""
    if quant.axis is not None or quant.dtype is not DType.INT8:
        return None
    if quant.tensor_zero_point != INT8_MIN:
        return None
    last = (INT8_MAX - INT8_MIN) * quant.tensor_scale
    # Files hold scales as float32.
    is_relu6 = math.isclose(last, _RELU6, rel_tol=1e-6)
    return ops.Clip(0.0, _RELU6 if is_relu6 else math.inf)
