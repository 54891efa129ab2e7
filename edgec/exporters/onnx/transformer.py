"""Exporters of transformer operators and masks to ONNX of opset 20."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from edgec.base.dtypes import DType
from edgec.exporters.onnx.codes import Exporter
from edgec.exporters.onnx.state import Emitter
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator import OperatorTable

EXPORTERS = OperatorTable[Exporter]()


@EXPORTERS.entry(ops.LayerNormalization)
def _layer_normalization(e: Emitter, node: Node) -> None:
    operands = ops.Norm.Inputs.of(node.inputs)
    inputs = [e.fetch(operands.x), e.parameter(operands.gamma)]
    inputs += [e.parameter(operands.beta)] if operands.beta is not None else []
    y = e.emit(node.name, "LayerNormalization", inputs, epsilon=node.attrs_as(ops.Norm).epsilon)
    e.store(node.output, y)


@EXPORTERS.entry(ops.RMSNormalization)
def _rms_normalization(e: Emitter, node: Node) -> None:
    # ONNX has the operator from opset 23 on.
    x, stem = e.fetch(node.first), node.name
    last = e.ints(f"{stem}_axes", (-1,))
    mean = e.emit(stem, "ReduceMean", [e.emit(stem, "Mul", [x, x]), last])
    power = e.emit(
        stem, "Add", [mean, e.scalar(f"{stem}_epsilon", node.attrs_as(ops.Norm).epsilon)]
    )
    y = e.emit(stem, "Div", [x, e.emit(stem, "Sqrt", [power])])
    e.store(
        node.output, e.emit(stem, "Mul", [y, e.parameter(ops.Norm.Inputs.of(node.inputs).gamma)])
    )


@EXPORTERS.entry(ops.MatMul)
def _matmul(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.MatMul)
    flags = (attrs.transpose_a, attrs.transpose_b)
    factors = attrs.Inputs.of(node.inputs)
    operands = []
    for name, transposed in zip((factors.a, factors.b), flags, strict=True):
        tensor, rank = e.fetch(name), len(e.graph.shape(name))
        if transposed:
            perm = (*range(rank - 2), rank - 1, rank - 2)
            tensor = e.emit(node.name, "Transpose", [tensor], perm=perm)
        operands.append(tensor)
    y = e.emit(node.name, "MatMul", operands)
    if attrs.scale != 1.0:
        y = e.emit(node.name, "Mul", [y, e.scalar(f"{node.name}_scale", attrs.scale)])
    e.store(node.output, y)


@EXPORTERS.entry(ops.Attention)
def _attention(e: Emitter, node: Node) -> None:
    attrs, stem = node.attrs_as(ops.Attention), node.name
    inputs = attrs.Inputs.of(node.inputs)
    bias, keys = inputs.bias, inputs.keys
    operands = (inputs.q, inputs.k, inputs.v)
    q, k, v = (_heads(e, stem, name, attrs.heads) for name in operands)
    lead = len(e.graph.shape(node.output)) - 2
    swap = (*range(lead + 1), lead + 2, lead + 1)
    logits = e.emit(stem, "MatMul", [q, e.emit(stem, "Transpose", [k], perm=swap)])
    logits = e.emit(stem, "Mul", [logits, e.scalar(f"{stem}_scale", attrs.scale)])
    if bias:
        logits = e.emit(stem, "Add", [logits, e.fetch(bias)])
    if keys:
        logits = _without_hidden(e, stem, logits, keys)
    y = e.emit(stem, "MatMul", [e.emit(stem, "Softmax", [logits], axis=-1), v])
    perm = (*range(lead), lead + 1, lead, lead + 2)
    joined = e.ints(f"{stem}_shape", e.graph.shape(node.output))
    y = e.emit(stem, "Reshape", [e.emit(stem, "Transpose", [y], perm=perm), joined])
    e.store(node.output, y)


def _heads(e: Emitter, stem: str, name: str, heads: int) -> str:
    """A value [..., L, heads*D] as [..., heads, L, D]."""
    *lead, length, width = e.graph.shape(name)
    split = e.ints(f"{stem}_heads", (*lead, length, heads, width // heads))
    first = len(lead)
    perm = (*range(first), first + 1, first, first + 2)
    return e.emit(stem, "Transpose", [e.emit(stem, "Reshape", [e.fetch(name), split])], perm=perm)


def _without_hidden(e: Emitter, stem: str, logits: str, keys: str) -> str:
    """Logits [..., heads, N, M], the lowest float where `keys` [..., M] is 0."""
    *lead, length = e.graph.shape(keys)
    rows = e.ints(f"{stem}_keys", (*lead, 1, 1, length))
    seen = e.emit(stem, "Reshape", [_boolean(e, stem, keys), rows])
    lowest = e.scalar(f"{stem}_lowest", float(np.finfo(np.float32).min))
    return e.emit(stem, "Where", [seen, logits, lowest])


def _boolean(e: Emitter, stem: str, name: str) -> str:
    return e.emit(stem, "Cast", [e.fetch(name)], to=TensorProto.BOOL)


@EXPORTERS.entry(ops.Embedding)
def _embedding(e: Emitter, node: Node) -> None:
    operands = ops.Embedding.Inputs.of(node.inputs)
    inputs = [e.weight(operands.table, (0, 1)), e.fetch(operands.ids)]
    e.store(node.output, e.emit(node.name, "Gather", inputs))


@EXPORTERS.entry(ops.Where)
def _where(e: Emitter, node: Node) -> None:
    operands = ops.Where.Inputs.of(node.inputs)
    condition = _boolean(e, node.name, operands.condition)
    chosen = [e.fetch(operands.a), e.fetch(operands.b)]
    if e.graph.values[node.output].dtype is not DType.INT32:
        e.store(node.output, e.emit(node.name, "Where", [condition, *chosen]))
        return
    # Constants beside integers are floats.
    real = [e.emit(node.name, "Cast", [name], to=TensorProto.FLOAT) for name in chosen]
    y = e.emit(node.name, "Where", [condition, *real])
    e.store(node.output, e.emit(node.name, "Cast", [y], to=TensorProto.INT32))


@EXPORTERS.entry(ops.Cast)
def _cast(e: Emitter, node: Node) -> None:
    y = e.emit(node.name, "Cast", [e.fetch(node.first)], to=TensorProto.FLOAT)
    e.store(node.output, y)


@EXPORTERS.entry(ops.Expand)
def _expand(e: Emitter, node: Node) -> None:
    shape = e.ints(f"{node.name}_shape", node.attrs_as(ops.Expand).shape)
    e.store(node.output, e.emit(node.name, "Expand", [e.fetch(node.first), shape]))
