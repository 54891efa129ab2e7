"""Operators of Larq Compute Engine: layers of signs, 32 signs to a word in the file.

Here signs are real numbers, -1 or 1, until `edgec.passes.pack_signs` packs them again.

Sources: Larq Compute Engine, larq_compute_engine/mlir/ir/lce_ops.cc (attributes),
core/bitpacking/bitpack.h (the order of bits) and core/bconv2d/output_transform.h (how layers end).
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.attributes import Window, activated, image_sizes, window_of
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import PadMode, UnaryKind
from edgec.ir.qops.signs import unpacked, words_of

_AGAIN = "convert the model again"
_SAME, _VALID = 1, 2
"""Numbers of TfLitePadding (TensorFlow Lite, core/c/builtin_op_data.h), not those of the schema."""


def quantize(ctx: Context, node: TfliteNode) -> Tensor:
    """Signs of float32 numbers or codes; 1 at zero."""
    return ctx.emit(ops.Unary(UnaryKind.BINARIZE), node.real(0))


def dequantize(ctx: Context, node: TfliteNode) -> Tensor:
    """Signs as the numbers -1 and 1."""
    return _signs(ctx, node)


def max_pool(ctx: Context, node: TfliteNode) -> Tensor:
    """The largest of signs; any window, stride and padding."""
    x = _signs(ctx, node)
    kernel = node.own("filter_height"), node.own("filter_width")
    window = _window(node, image_sizes(x.shape), kernel)
    return ctx.emit(ops.MaxPool(kernel, window.strides, window.pads, dilations=window.dilations), x)


def convolution(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant weights; any stride, dilation, padding by zeros or ones, activation and groups; ends
    in numbers or in signs.
    """
    x = _signs(ctx, node)
    channels = x.shape[-1]
    if node.own("channels_in") != channels:
        raise UnsupportedError(f"{channels} channels are not those that it names", _AGAIN)
    words = _words(node)
    depth = channels if words.shape[3] == words_of(channels) else words.shape[3] * 32
    if channels % depth:
        raise UnsupportedError(f"{depth} channels do not divide {channels}", _AGAIN)
    signs = unpacked(words, depth).astype(np.float32)
    window = _window(node, image_sizes(x.shape), (signs.shape[1], signs.shape[2]))
    x, pads = _padded(ctx, node, x, window)
    attrs = ops.Conv(window.strides, pads, window.dilations, channels // depth)

    def named(what: str, array: Array) -> Constant:
        return Constant(ctx.fresh(f"{node.outputs[0]}/{what}"), array)

    def layer(weights: Array, bias: Array | None) -> Value:
        b = None if bias is None else named("bias", bias)
        return ctx.emit(attrs, x, named("weights", weights), b)

    if node.has(4):
        if any(pads):
            raise UnsupportedError("it ends in signs, and pads zeros", "pad ones")
        most = _of_filters(node, 4, "threshold", signs, DType.INT32).astype(np.int64)
        products = signs[0].size
        # More than `most` of all products are -1: a sum is odd where products are, and so is what
        # it is compared with; one more keeps it off zero.
        bias = 2 * np.clip(most, -1, products) - products + 1
        return ctx.emit(ops.Unary(UnaryKind.BINARIZE), layer(signs, bias.astype(np.float32)))
    factors = _of_filters(node, 2, "multiplier", signs, DType.FLOAT32)
    bias = _of_filters(node, 3, "bias", signs, DType.FLOAT32)
    kind = node.own("fused_activation_function")
    if not kind and factors.all():
        return layer(signs * factors[:, None, None, None], bias)
    y = activated(ctx, kind, layer(signs, None))
    # As a depthwise layer, for weights and biases of layers have scales of their own.
    each = named("factors", factors.reshape(-1, 1, 1, 1))
    return ctx.emit(ops.Conv(group=len(factors)), y, each, named("bias", bias))


def _signs(ctx: Context, node: TfliteNode) -> Value:
    """Input 0, which another of these operators computes: words in the file, numbers here."""
    x = node.value(0)
    if x.dtype is not DType.FLOAT32 or ctx.file[node.file_number(0)].type != "INT32":
        raise UnsupportedError("its input is no tensor of signs", _AGAIN)
    return x


def _words(node: TfliteNode) -> Array:
    """The packed weights, uint32 [O, KH, KW, words]."""
    weight = node.constant(1, "weight")
    if weight.dtype is not DType.INT32 or len(weight.shape) != 4 or 0 in weight.shape:
        raise UnsupportedError(
            f"its weight is {weight.dtype.value} {list(weight.shape)}, not packed signs", _AGAIN
        )
    return np.ascontiguousarray(weight.array).view(np.uint32)


def _of_filters(node: TfliteNode, index: int, what: str, signs: Array, dtype: DType) -> Array:
    """A number for each filter, [O]."""
    found = node.constant(index, what)
    if found.dtype is not dtype or found.shape != (len(signs),):
        raise UnsupportedError(
            f"its {what} is {found.dtype.value} {list(found.shape)} for {len(signs)} filters",
            _AGAIN,
        )
    return found.array


def _window(node: TfliteNode, sizes: tuple[int, int], kernel: tuple[int, int]) -> Window:
    strides = node.own("stride_height"), node.own("stride_width")
    dilations = node.own("dilation_height_factor", 1), node.own("dilation_width_factor", 1)
    padding = node.own("padding")
    if padding not in (_SAME, _VALID):
        raise UnsupportedError(f"its padding is number {padding}", _AGAIN)
    return window_of(sizes, kernel, strides, dilations, same=padding == _SAME)


def _padded(
    ctx: Context, node: TfliteNode, x: Value, window: Window
) -> tuple[Value, tuple[int, int, int, int]]:
    """X and the padding that is left to its convolution: none where ones are padded."""
    if not node.own("pad_values") or not any(window.pads):
        return x, window.pads
    top, left, bottom, right = window.pads
    pads = ((0, 0), (top, bottom), (left, right), (0, 0))
    return ctx.emit(ops.Pad(pads, PadMode.CONSTANT, 1.0), x), (0, 0, 0, 0)
