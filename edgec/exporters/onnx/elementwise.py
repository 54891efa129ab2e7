"""Functions of each element, normalization over channels and Softmax in ONNX."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from onnx import TensorProto

from edgec.base.dtypes import DType
from edgec.exporters.onnx.codes import (
    Exporter,
    common_layout,
    elementwise,
)
from edgec.exporters.onnx.state import Emitter, Layout
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator import Operator, OperatorTable

EXPORTERS = OperatorTable[Exporter]()


_ARITHMETIC: Mapping[type[Operator], str] = MappingProxyType(
    {
        ops.Add: "Add",
        ops.Sub: "Sub",
        ops.Mul: "Mul",
        ops.Div: "Div",
        ops.Maximum: "Max",
        ops.Minimum: "Min",
    }
)


@EXPORTERS.entry(*_ARITHMETIC)
def _arithmetic(e: Emitter, node: Node) -> None:
    elementwise(e, node, _ARITHMETIC[type(node.attrs)])


@EXPORTERS.entry(ops.SquaredDifference)
def _squared_difference(e: Emitter, node: Node) -> None:
    layout = common_layout(e, node)
    difference = e.emit(node.name, "Sub", [e.fetch(name, layout) for name in node.inputs])
    e.store(node.output, e.emit(node.name, "Mul", [difference, difference]), layout)


@EXPORTERS.entry(ops.Compare)
def _compare(e: Emitter, node: Node) -> None:
    layout = common_layout(e, node)
    inputs = [_as_real(e, node.name, e.fetch(name, layout), name) for name in node.inputs]
    kind = node.attrs_as(ops.Compare).kind
    truth = e.emit(node.name, kind.value, inputs)
    e.store(node.output, e.emit(node.name, "Cast", [truth], to=TensorProto.INT32), layout)


def _as_real(e: Emitter, stem: str, tensor: str, name: str) -> str:
    """Integers as real numbers: opsets differ in which integers they compare."""
    value = e.graph.values.get(name)
    if value is None or value.dtype is not DType.INT32:
        return tensor
    return e.emit(stem, "Cast", [tensor], to=TensorProto.FLOAT)


@EXPORTERS.entry(ops.Clip, ops.Unary)
def _function(e: Emitter, node: Node) -> None:
    layout = common_layout(e, node)
    attrs = node.attrs_as(ops.Clip, ops.Unary)
    e.store(node.output, function(e, node.name, attrs, e.fetch(node.first, layout)), layout)


def function(e: Emitter, stem: str, attrs: ops.Clip | ops.Unary, x: str) -> str:
    """The output of an element function.

    Args:
        e: receives the nodes.
        stem: what their names begin with.
        attrs: the function.
        x: the tensor it is applied to, in any layout.
    """
    if isinstance(attrs, ops.Clip):
        return _clip(e, stem, attrs, x)
    if attrs.kind is ops.UnaryKind.COMPOSED:
        return _steps(e, stem, attrs, x)
    y = _composed_unary(e, stem, attrs, x)
    if y is not None:
        return y
    names = _UNARY_ATTRS.get(attrs.kind, ())
    given = dict(zip(names, (attrs.alpha, attrs.beta), strict=False))
    return e.emit(stem, attrs.kind.value, [x], **given)


def _clip(e: Emitter, stem: str, attrs: ops.Clip, x: str) -> str:
    if attrs.low == 0.0 and math.isinf(attrs.high):
        return e.emit(stem, "Relu", [x])
    low = "" if math.isinf(attrs.low) else e.scalar(f"{stem}_low", attrs.low)
    bounds = [low]
    if not math.isinf(attrs.high):
        bounds.append(e.scalar(f"{stem}_high", attrs.high))
    return e.emit(stem, "Clip", [x, *bounds])


def _steps(e: Emitter, stem: str, attrs: ops.Unary, x: str) -> str:
    """The output of a composition: its steps, one after the other."""
    known = [x]
    for step in attrs.steps:
        if isinstance(step.attrs, ops.Clip | ops.Unary):
            (place,) = step.operands
            known.append(function(e, stem, step.attrs, known[place or 0]))
            continue
        operands = [
            e.scalar(f"{stem}_number", step.number) if at is None else known[at]
            for at in step.operands
        ]
        if isinstance(step.attrs, ops.SquaredDifference):
            difference = e.emit(stem, "Sub", operands)
            known.append(e.emit(stem, "Mul", [difference, difference]))
        else:
            known.append(e.emit(stem, _ARITHMETIC[type(step.attrs)], operands))
    return known[-1]


_UNARY_ATTRS: Mapping[ops.UnaryKind, tuple[str, ...]] = MappingProxyType(
    {
        ops.UnaryKind.LEAKY_RELU: ("alpha",),
        ops.UnaryKind.ELU: ("alpha",),
        ops.UnaryKind.CELU: ("alpha",),
        ops.UnaryKind.THRESHOLDED_RELU: ("alpha",),
        ops.UnaryKind.HARD_SIGMOID: ("alpha", "beta"),
        ops.UnaryKind.SELU: ("alpha", "gamma"),
        ops.UnaryKind.SHRINK: ("lambd", "bias"),
    }
)
"""ONNX's names of the attributes that are `alpha` and `beta` here."""


@EXPORTERS.entry(ops.PRelu)
def _prelu(e: Emitter, node: Node) -> None:
    layout = common_layout(e, node)
    operands = ops.PRelu.Inputs.of(node.inputs)
    x = e.fetch(operands.x, layout)
    slope = e.parameter(operands.slope, layout)
    e.store(node.output, e.emit(node.name, "PRelu", [x, slope]), layout)


@EXPORTERS.entry(ops.BatchNormalization)
def _batch_normalization(e: Emitter, node: Node) -> None:
    attrs = node.attrs_as(ops.BatchNormalization)
    operands = attrs.Inputs.of(node.inputs)
    order = (operands.scale, operands.b, operands.mean, operands.var)
    x, parameters = operands.x, [e.parameter(name) for name in order]
    shape = e.graph.shape(x)
    if len(shape) == 4:
        inputs = [e.fetch(x, Layout.NCHW), *parameters]
        y = e.emit(node.name, "BatchNormalization", inputs, epsilon=attrs.epsilon)
        e.store(node.output, y, Layout.NCHW)
        return
    # ONNX wants channels on axis 1: fold everything else into axis 0.
    rows = e.ints(f"{node.name}_rows", (-1, shape[-1]))
    flat = e.emit(node.name, "Reshape", [e.fetch(x), rows])
    y = e.emit(node.name, "BatchNormalization", [flat, *parameters], epsilon=attrs.epsilon)
    e.store(node.output, e.emit(node.name, "Reshape", [y, e.ints(f"{node.name}_shape", shape)]))


@EXPORTERS.entry(ops.Softmax, ops.LogSoftmax)
def _softmax(e: Emitter, node: Node) -> None:
    attrs, x = node.attrs_as(ops.Softmax, ops.LogSoftmax), e.fetch(node.first)
    if isinstance(attrs, ops.Softmax) and attrs.beta != 1.0:
        x = e.emit(node.name, "Mul", [x, e.scalar(f"{node.name}_beta", attrs.beta)])
    y = e.emit(node.name, node.op, [x], axis=-1)
    e.store(node.output, y)


def _composed_unary(e: Emitter, stem: str, attrs: ops.Unary, x: str) -> str | None:
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
        case ops.UnaryKind.BINARIZE:
            at_least = e.emit(stem, "GreaterOrEqual", [x, e.scalar(f"{stem}_zero", 0.0)])
            ends = e.scalar(f"{stem}_one", 1.0), e.scalar(f"{stem}_less", -1.0)
            return e.emit(stem, "Where", [at_least, *ends])
        case ops.UnaryKind.RSQRT:
            return e.emit(stem, "Reciprocal", [e.emit(stem, "Sqrt", [x])])
        case ops.UnaryKind.MOD:
            return e.emit(stem, "Mod", [x, e.scalar(f"{stem}_divisor", attrs.alpha)], fmod=1)
        case ops.UnaryKind.NOT if attrs.alpha != 0.0:
            real = e.emit(stem, "Cast", [x], to=TensorProto.FLOAT)
            same = e.emit(stem, "Equal", [real, e.scalar(f"{stem}_number", attrs.alpha)])
            return e.emit(stem, "Cast", [same], to=TensorProto.INT32)
        case ops.UnaryKind.NOT:
            truth = e.emit(stem, "Cast", [x], to=TensorProto.BOOL)
            return e.emit(stem, "Cast", [e.emit(stem, "Not", [truth])], to=TensorProto.INT32)
        case _:
            return None
