"""Weights of a pool as standard ONNX: one pool for the whole model, indices for each layer.

    indices uint8 or uint16 [O, KH, KW, N] -> Cast -> Gather of pool int8 [S, G] along axis 0
    -> Reshape [O, KH, KW, N * G] -> Slice to the input channels, where some are left over
    -> Transpose to the axes of Conv or MatMul -> DequantizeLinear, one scale an output channel

Where vectors are sums of a few of the pool, the terms of a sum are added up as float32, of which no
sum of integers of 8 bits is rounded:

    indices [O, KH, KW, N * terms] -> Cast -> Gather -> Cast to float32
    -> Reshape [O, KH, KW, N, terms, G] -> ReduceSum over the terms
    -> Reshape [O, KH, KW, N * G] -> Slice -> Transpose -> Mul with the scales

Every runtime that folds constants sees plain int8 weights; `weight_pool_lookup` and
`weight_pools` of `importers.onnx` read the chain back.
"""

from __future__ import annotations

import numpy as np
import onnx

from edgec.base.errors import InternalError
from edgec.exporters.onnx.state import Emitter
from edgec.ir.graph import Constant
from edgec.ir.weight_pool import PooledWeights

_BYTE = 256
"""Pools of at most this many vectors have indices of one byte."""


def weight_tensor(e: Emitter, name: str, perm: tuple[int, ...]) -> str:
    """The tensor of a weight with its axes permuted, looked up in its pool if it has one."""
    constant = e.graph.constants[name]
    if constant.pooled is None:
        return e.weight(name, perm)
    pooled = constant.pooled
    return e.once((name, perm), lambda: _pooled_weight(e, constant, pooled, perm))


def _pooled_weight(
    e: Emitter, constant: Constant, pooled: PooledWeights, perm: tuple[int, ...]
) -> str:
    name, quant = constant.name, constant.quant
    if quant is None or quant.axis != 0 or any(quant.zero_point):
        raise InternalError("pooled weights are not symmetric per output channel", where=name)
    tensor = _codes(e, name, pooled, constant.shape[-1])
    if perm != tuple(range(len(perm))):
        tensor = e.emit(name, "Transpose", [tensor], perm=perm)
    scale = np.asarray(quant.scale, np.float32)
    if pooled.terms > 1:
        place = [1] * len(perm)
        place[perm.index(0)] = -1
        factor = e.initializer(f"{name}_scale", scale.reshape(place))
        return e.emit(name, "Mul", [tensor, factor])
    # Without a zero point it is 0.
    stored = e.initializer(f"{name}_scale", scale)
    return e.emit(name, "DequantizeLinear", [tensor, stored], axis=perm.index(0))


def _codes(e: Emitter, name: str, pooled: PooledWeights, channels: int) -> str:
    """The codes [..., channels] that the indices stand for: int8, or float32 if they are sums."""
    narrow = np.uint8 if pooled.pool.size <= _BYTE else np.uint16
    stored = e.initializer(f"{name}_indices", pooled.indices.astype(narrow))
    # The importer folds the Cast and names the weight after its output.
    indices = e.emit_as(name, "Cast", [stored], to=onnx.TensorProto.INT32)
    vectors = e.shared("weight_pool", pooled.pool.vectors)
    tensor = e.emit(name, "Gather", [vectors, indices], axis=0)
    rank = pooled.indices.ndim
    if pooled.terms > 1:
        tensor = _added_up(e, name, tensor, pooled)
    # 0 keeps a dimension, -1 is what is left: the same for all layers of a rank.
    joined = e.shared(f"pooled_rank{rank}", np.asarray([0] * (rank - 1) + [-1], np.int64))
    tensor = e.emit(name, "Reshape", [tensor, joined])
    if channels == pooled.indices.shape[-1] // pooled.terms * pooled.pool.group:
        return tensor
    bounds = [
        e.shared(f"pooled_{stem}{value}", np.asarray([value], np.int64))
        for stem, value in (("start", 0), ("end", channels), ("axis", -1))
    ]
    return e.emit(name, "Slice", [tensor, *bounds])


def _added_up(e: Emitter, name: str, vectors: str, pooled: PooledWeights) -> str:
    """Sums of neighbouring vectors, float32 [..., N, G] out of int8 [..., N * terms, G]."""
    real = e.emit(name, "Cast", [vectors], to=onnx.TensorProto.FLOAT)
    rank, terms, group = pooled.indices.ndim, pooled.terms, pooled.pool.group
    split = np.asarray([0] * (rank - 1) + [-1, terms, group], np.int64)
    shape = e.shared(f"pooled_rank{rank}_terms{terms}_group{group}", split)
    apart = e.emit(name, "Reshape", [real, shape])
    axis = e.shared(f"pooled_axis{rank}", np.asarray([rank], np.int64))
    return e.emit(name, "ReduceSum", [apart, axis], keepdims=0)
