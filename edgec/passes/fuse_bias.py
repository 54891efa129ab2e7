"""Make an added constant the bias of the convolution or dense layer before it.

`fold_batch_norm` does this for float weights; here it is done for weights that a QDQ model pinned
to integers, which may get a bias but must not change.

Rules:
1. add: Conv, ConvTranspose or Gemm without bias, then ``Add`` of a constant per channel: the
   constant becomes the bias.
2. codes: an int32 constant stays int32 with its scale (the quantizer takes it over exactly when the
   scale is input scale times weight scale); any other becomes real numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.passes.edit import sweep
from edgec.passes.linear import (
    channel_constant,
    either_way,
    fused,
    per_channel,
    unpinned_linear_before,
)


def fuse_bias(graph: Graph) -> Graph:
    """Apply the rules until none applies."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.Add):
        return None
    for other, name in either_way(node):
        constant = channel_constant(graph, node, other, name)
        if constant is None:
            continue
        linear = unpinned_linear_before(graph, node, other)
        if linear is not None and ops.layer_inputs(linear).b is None:
            bias = _as_bias(constant, graph.shape(node.output)[-1])
            return fused(graph, linear, node, None, bias)
    return None


def _as_bias(constant: Constant, channels: int) -> Constant:
    quant = constant.quant
    if quant is None or constant.dtype is not DType.INT32:
        return Constant(constant.name, per_channel(constant, channels).astype(np.float32))
    codes = np.broadcast_to(constant.array.reshape(-1), (channels,))
    if quant.axis is not None:
        quant = replace(quant, axis=0) if len(quant.scale) == channels else quant
    return Constant(constant.name, codes, quant)
