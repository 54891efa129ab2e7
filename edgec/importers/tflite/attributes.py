"""Attributes of operators: sliding windows, and activation functions at their end."""

from __future__ import annotations

import math
from dataclasses import dataclass

import tflite

from edgec.importers.common.attributes import same_padding
from edgec.importers.common.tensors import UnsupportedError
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Value
from edgec.ir.ops import UnaryKind
from edgec.ir.shapes import Pads2D, Pair


@dataclass(frozen=True, slots=True)
class Window:
    """Steps and padding of a window of known size."""

    strides: Pair
    pads: Pads2D
    dilations: Pair


def image_sizes(shape: tuple[int, ...]) -> Pair:
    """Height and width of x [N, H, W, C]."""
    if len(shape) != 4:
        raise UnsupportedError(f"the input has {len(shape)} dimensions, not 4", "reshape it")
    return shape[1], shape[2]


def read_window(node: TfliteNode, sizes: Pair, kernel: Pair) -> Window:
    """The window of an operator over an image of `sizes`, vertical before horizontal.

    Source: ComputePaddingHeightWidth of TensorFlow Lite (kernels/padding.h).
    """
    strides = _pair(node, "Stride")
    dilations = _pair(node, "Dilation", "Factor") if "CONV_2D" in node.op else (1, 1)
    return window_of(sizes, kernel, strides, dilations, same=is_same(node))


def window_of(sizes: Pair, kernel: Pair, strides: Pair, dilations: Pair, *, same: bool) -> Window:
    """The window of given size and steps; `same`: padded so that steps of 1 keep the size.

    Raises:
        UnsupportedError: a size or a step is not positive, or above 65536.
    """
    for name, found in (("window", kernel), ("stride", strides), ("dilation", dilations)):
        if min(found) < 1 or max(found) > 1 << 16:
            raise UnsupportedError(f"its {name} is {list(found)}", "correct the model")
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = (0, 0, 0, 0)
    if same:
        before, after = same_padding(sizes, spans, strides)
        pads = (before[0], before[1], after[0], after[1])
    return Window(strides, pads, dilations)


def is_same(node: TfliteNode) -> bool:
    """True for padding SAME, False for VALID."""
    padding = node.integer("Padding", tflite.Padding.SAME)
    if padding not in (tflite.Padding.SAME, tflite.Padding.VALID):
        raise UnsupportedError(f"its padding is number {padding}", "use SAME or VALID")
    return bool(padding == tflite.Padding.SAME)


def _pair(node: TfliteNode, name: str, suffix: str = "") -> Pair:
    return node.integer(f"{name}H{suffix}", 1), node.integer(f"{name}W{suffix}", 1)


_TYPES = tflite.ActivationFunctionType
_BOUNDS = {
    _TYPES.RELU: (0.0, math.inf),
    _TYPES.RELU_N1_TO_1: (-1.0, 1.0),
    _TYPES.RELU6: (0.0, 6.0),
}


def fused(ctx: Context, node: TfliteNode, y: Value) -> Value:
    """Y after the activation function that the operator contains."""
    return activated(ctx, node.integer("FusedActivationFunction", _TYPES.NONE), y)


def activated(ctx: Context, kind: int, y: Value) -> Value:
    """Y after the activation function of a number.

    Raises:
        UnsupportedError: edgec has no such function.
    """
    if kind == _TYPES.NONE:
        return y
    if kind in _BOUNDS:
        return ctx.emit(ops.Clip(*_BOUNDS[kind]), y)
    if kind == _TYPES.TANH:
        return ctx.emit(ops.Unary(UnaryKind.TANH), y)
    raise UnsupportedError(
        f"its activation function is number {kind}", "use Relu, Relu6 or none in the layer"
    )
