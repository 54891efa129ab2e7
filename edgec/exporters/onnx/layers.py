"""Layers with weights in ONNX: Conv, ConvTranspose, Gemm or MatMul.

Weights of a pool as standard ONNX: one pool for the whole model, indices for each layer.

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
from edgec.exporters.onnx.codes import Exporter
from edgec.exporters.onnx.state import NHWC_TO_NCHW, Emitter, Layout
from edgec.ir import ops
from edgec.ir.graph import Constant, Node
from edgec.ir.operator import OperatorTable
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


EXPORTERS = OperatorTable[Exporter]()


@EXPORTERS.entry(ops.Conv)
def _conv(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.Conv)
    operands = attrs.Inputs.of(node.inputs)
    weight = weight_tensor(e, operands.w, NHWC_TO_NCHW)
    inputs = [e.fetch(operands.x, Layout.NCHW), weight]
    if operands.b is not None:
        inputs.append(e.weight(operands.b, (0,)))
    y = e.emit(
        node.name,
        "Conv",
        inputs,
        kernel_shape=e.graph.shape(operands.w)[1:3],
        strides=attrs.strides,
        pads=attrs.pads,
        dilations=attrs.dilations,
        group=attrs.group,
    )
    e.store(node.output, y, Layout.NCHW)


@EXPORTERS.entry(ops.ConvTranspose)
def _conv_transpose(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.ConvTranspose)
    operands = attrs.Inputs.of(node.inputs)
    weight = _transposed_weight(e, operands.w, attrs.group)
    inputs = [e.fetch(operands.x, Layout.NCHW), weight]
    if operands.b is not None:
        inputs.append(e.weight(operands.b, (0,)))
    y = e.emit(
        node.name,
        "ConvTranspose",
        inputs,
        kernel_shape=e.graph.shape(operands.w)[1:3],
        strides=attrs.strides,
        pads=attrs.pads,
        dilations=attrs.dilations,
        group=attrs.group,
        output_padding=attrs.output_padding,
    )
    e.store(node.output, y, Layout.NCHW)


def _transposed_weight(e: Emitter, name: str, group: int) -> str:
    """[O, KH, KW, I/group] as ONNX's [I, O/group, KH, KW]."""
    if group == 1:
        return e.weight(name, (3, 0, 1, 2))
    outputs, height, width, inputs = e.graph.shape(name)
    grouped = (group, outputs // group, inputs, height, width)
    # Per-channel scales run along O, which ONNX's layout splits: dequantize first, then move.
    y = e.emit(name, "Reshape", [e.weight(name, NHWC_TO_NCHW), e.ints(f"{name}_split", grouped)])
    y = e.emit(name, "Transpose", [y], perm=(0, 2, 1, 3, 4))
    merged = (group * inputs, outputs // group, height, width)
    return e.emit(name, "Reshape", [y, e.ints(f"{name}_merged", merged)])


@EXPORTERS.entry(ops.Gemm)
def _gemm(e: Emitter, node: Node) -> None:
    operands = ops.Gemm.Inputs.of(node.inputs)
    x, bias = e.fetch(operands.x), operands.b
    if len(e.graph.shape(operands.x)) == 2:
        inputs = [x, weight_tensor(e, operands.w, (0, 1))]
        if bias:
            inputs.append(e.weight(bias, (0,)))
        y = e.emit(node.name, "Gemm", inputs, transB=1)
    else:
        y = e.emit(node.name, "MatMul", [x, weight_tensor(e, operands.w, (1, 0))])
        if bias:
            y = e.emit(node.name, "Add", [y, e.weight(bias, (0,))])
    e.store(node.output, y)
