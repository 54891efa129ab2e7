"""Activation functions that are part of another operator."""

from __future__ import annotations

import math

import tflite

from edgec.importers.common.tensors import UnsupportedError
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Value
from edgec.ir.ops import UnaryKind

_TYPES = tflite.ActivationFunctionType
_BOUNDS = {
    _TYPES.RELU: (0.0, math.inf),
    _TYPES.RELU_N1_TO_1: (-1.0, 1.0),
    _TYPES.RELU6: (0.0, 6.0),
}


def fused(ctx: Context, node: TfliteNode, y: Value) -> Value:
    """Y after the activation function that the operator contains."""
    kind = node.integer("FusedActivationFunction", _TYPES.NONE)
    if kind == _TYPES.NONE:
        return y
    if kind in _BOUNDS:
        return ctx.emit(ops.Clip(*_BOUNDS[kind]), y)
    if kind == _TYPES.TANH:
        return ctx.emit(ops.Unary(UnaryKind.TANH), y)
    raise UnsupportedError(
        f"its activation function is number {kind}", "use Relu, Relu6 or none in the layer"
    )
