"""Layers with weights in ONNX: Conv, ConvTranspose, Gemm or MatMul."""

from __future__ import annotations

from edgec.exporters.onnx.common import (
    Exporter,
)
from edgec.exporters.onnx.state import NHWC_TO_NCHW, Emitter, Layout
from edgec.exporters.onnx.weight_pool import weight_tensor
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator_table import OperatorTable

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
