"""What the operators of transformers, and masks, become in ONNX of opset 20."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from onnx import TensorProto

from edgec.exporters.onnx.state import Emitter
from edgec.ir import ops
from edgec.ir.graph import Node


def _layer_normalization(e: Emitter, node: Node) -> None:
    operands = ops.Norm.Inputs.of(node.inputs)
    inputs = [e.fetch(operands.x), e.parameter(operands.gamma)]
    inputs += [e.parameter(operands.beta)] if operands.beta is not None else []
    y = e.emit(node.name, "LayerNormalization", inputs, epsilon=node.attrs_as(ops.Norm).epsilon)
    e.store(node.output, y)


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


def _matmul(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.MatMul)
    flags = (attrs.transpose_a, attrs.transpose_b)
    operands = []
    for name, transposed in zip(node.inputs, flags, strict=True):
        tensor, rank = e.fetch(name), len(e.graph.shape(name))
        if transposed:
            perm = (*range(rank - 2), rank - 1, rank - 2)
            tensor = e.emit(node.name, "Transpose", [tensor], perm=perm)
        operands.append(tensor)
    y = e.emit(node.name, "MatMul", operands)
    if attrs.scale != 1.0:
        y = e.emit(node.name, "Mul", [y, e.scalar(f"{node.name}_scale", attrs.scale)])
    e.store(node.output, y)


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


def _embedding(e: Emitter, node: Node) -> None:
    operands = ops.Embedding.Inputs.of(node.inputs)
    inputs = [e.weight(operands.table, (0, 1)), e.fetch(operands.ids)]
    e.store(node.output, e.emit(node.name, "Gather", inputs))


def _where(e: Emitter, node: Node) -> None:
    operands = ops.Where.Inputs.of(node.inputs)
    condition = _boolean(e, node.name, operands.condition)
    inputs = [condition, e.fetch(operands.a), e.fetch(operands.b)]
    e.store(node.output, e.emit(node.name, "Where", inputs))


def _cast(e: Emitter, node: Node) -> None:
    y = e.emit(node.name, "Cast", [e.fetch(node.first)], to=TensorProto.FLOAT)
    e.store(node.output, y)


def _expand(e: Emitter, node: Node) -> None:
    shape = e.ints(f"{node.name}_shape", node.attrs_as(ops.Expand).shape)
    e.store(node.output, e.emit(node.name, "Expand", [e.fetch(node.first), shape]))


EMITTERS: Mapping[type, Callable[[Emitter, Node], None]] = MappingProxyType(
    {
        ops.LayerNormalization: _layer_normalization,
        ops.RMSNormalization: _rms_normalization,
        ops.MatMul: _matmul,
        ops.Attention: _attention,
        ops.Embedding: _embedding,
        ops.Where: _where,
        ops.Cast: _cast,
        ops.Expand: _expand,
    }
)


def composed_unary(e: Emitter, stem: str, attrs: ops.Unary, x: str) -> str | None:
    """The output of an element function that opset 20 has no operator of its own for, else None.

    Args:
        e: receives the nodes.
        stem: what their names begin with.
        attrs: the function.
        x: the tensor it is applied to, in any layout.
    """
    match attrs.kind:
        case ops.UnaryKind.GELU_TANH:
            return e.emit(stem, "Gelu", [x], approximate="tanh")
        case ops.UnaryKind.SWISH:
            scaled = e.emit(stem, "Mul", [x, e.scalar(f"{stem}_alpha", attrs.alpha)])
            return e.emit(stem, "Mul", [x, e.emit(stem, "Sigmoid", [scaled])])
        case ops.UnaryKind.POW:
            return e.emit(stem, "Pow", [x, e.scalar(f"{stem}_exponent", attrs.alpha)])
        case ops.UnaryKind.NOT if attrs.alpha != 0.0:
            real = e.emit(stem, "Cast", [x], to=TensorProto.FLOAT)
            same = e.emit(stem, "Equal", [real, e.scalar(f"{stem}_number", attrs.alpha)])
            return e.emit(stem, "Cast", [same], to=TensorProto.INT32)
        case ops.UnaryKind.NOT:
            truth = e.emit(stem, "Cast", [x], to=TensorProto.BOOL)
            return e.emit(stem, "Cast", [e.emit(stem, "Not", [truth])], to=TensorProto.INT32)
        case _:
            return None
