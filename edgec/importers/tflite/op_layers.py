"""Operators with weights, and products of two computed tensors."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX
from edgec.base.names import shown
from edgec.importers.common.attributes import matrices_swapped, same_padding
from edgec.importers.common.stacked import stacked_product
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant
from edgec.importers.tflite.attributes import fused, image_sizes, is_same, read_window
from edgec.importers.tflite.context import Context, bias_params
from edgec.importers.tflite.node import TfliteNode
from edgec.importers.tflite.notes import BIAS_SCALES, NARROW_BIASES, ZERO_POINTS
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.metadata import record_note


def conv_2d(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant weights and bias; any stride, dilation and padding; groups."""
    x, weight = node.real(0), _weight(ctx, node, 0, 4)
    sizes = image_sizes(x.shape)
    channels, depth = x.shape[3], weight.shape[3]
    if channels % depth:
        raise UnsupportedError(f"{depth} channels do not divide {channels}", "correct the model")
    window = read_window(node, sizes, (weight.shape[1], weight.shape[2]))
    attrs = ops.Conv(window.strides, window.pads, window.dilations, channels // depth)
    return fused(ctx, node, ctx.emit(attrs, x, weight, bias_of(ctx, node, 0, weight, 2)))


def depthwise_conv_2d(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant weights and bias; any stride, dilation, padding and depth multiplier."""
    x, weight = node.real(0), _weight(ctx, node, 0, 4)
    sizes = image_sizes(x.shape)
    if weight.shape[0] != 1 or weight.shape[3] % x.shape[3]:
        raise UnsupportedError(
            f"the weight {list(weight.shape)} does not fit {x.shape[3]} channels", "correct it"
        )
    window = read_window(node, sizes, (weight.shape[1], weight.shape[2]))
    ohwi = moved_constant(weight, lambda array: array.transpose(3, 1, 2, 0))
    attrs = ops.Conv(window.strides, window.pads, window.dilations, x.shape[3])
    return fused(ctx, node, ctx.emit(attrs, x, ohwi, bias_of(ctx, node, 0, ohwi, 2)))


def transpose_conv(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant weights, bias and output shape; any stride and padding."""
    wanted, weight, x = node.whole(0, "output shape"), _weight(ctx, node, 2, 4), node.real(2)
    sizes = image_sizes(x.shape)
    if len(wanted) != 4 or min(wanted[1:]) < 1:
        raise UnsupportedError(f"its output shape is {list(wanted)}", "correct the model")
    kernel = (weight.shape[1], weight.shape[2])
    strides = read_window(node, sizes, kernel).strides
    before, _ = same_padding(wanted[1:3], kernel, strides) if is_same(node) else ((0, 0), (0, 0))
    # Cells of the whole result: what lies before the wanted part is cut off, so is what is after.
    full = [(s - 1) * step + k for s, step, k in zip(sizes, strides, kernel, strict=True)]
    rest = [f - b - w for f, b, w in zip(full, before, wanted[1:3], strict=True)]
    pads = (before[0], before[1], max(rest[0], 0), max(rest[1], 0))
    extra = (max(-rest[0], 0), max(-rest[1], 0))
    attrs = ops.ConvTranspose(strides, pads, (1, 1), 1, extra)
    return fused(ctx, node, ctx.emit(attrs, x, weight, bias_of(ctx, node, 2, weight, 3)))


def fully_connected(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant weights and bias; keep_num_dims; weights in the default order."""
    x, weight = node.real(0), _weight(ctx, node, 0, 2)
    _check_bias_scale(ctx, node, weight)
    if node.integer("WeightsFormat"):
        raise UnsupportedError("its weights are shuffled", "convert the model without shuffling")
    if not node.integer("KeepNumDims") or not x.shape:
        if math.prod(x.shape) % weight.shape[1]:
            raise UnsupportedError(
                f"{list(x.shape)} is not made of rows of {weight.shape[1]}", "correct the model"
            )
        rows = ctx.reshape(x, (math.prod(x.shape) // weight.shape[1], weight.shape[1]))
    else:
        rows = x
    return fused(ctx, node, ctx.emit(ops.Gemm(), rows, weight, bias_of(ctx, node, 0, weight, 2)))


def batch_matmul(ctx: Context, node: TfliteNode) -> Tensor:
    """Two computed tensors, or one and a constant matrix on the right; both may be transposed."""
    a, b = node.real(0), node.operand(1)
    if min(len(a.shape), len(b.shape)) < 2:
        raise UnsupportedError("an operand is no matrix", "correct the model")
    left = ctx.transpose(a, matrices_swapped(len(a.shape))) if node.integer("AdjX") else a
    if isinstance(b, Value) or (b.quant is not None and b.quant.dtype is DType.INT16):
        right = ctx.transpose(b, matrices_swapped(len(b.shape))) if node.integer("AdjY") else b
        return ctx.emit(ops.MatMul(), left, right)
    if node.tensor(0).dtype is DType.INT16:
        raise UnsupportedError(
            f"it multiplies int16 by {b.dtype.value}, which TensorFlow Lite Micro refuses",
            "convert it again",
        )
    if math.prod(b.shape[:-2]) != 1:
        several = ctx.transpose(b, matrices_swapped(len(b.shape))) if node.integer("AdjY") else b
        return stacked_product(ctx, left, _as_input(node, 0, several))
    weight = ctx.reshape(b, b.shape[-2:])
    if not node.integer("AdjY"):
        weight = ctx.transpose(weight, (1, 0))
    return ctx.emit(ops.Gemm(), left, _as_input(node, 0, weight), None)


_ZERO_POINTS_SAID = (
    "its layers have int8 weights with a zero point other than 0, which LiteRT refuses in CONV_2D "
    "and TensorFlow Lite Micro takes for 0: edgec computes with it"
)


def _weight(ctx: Context, node: TfliteNode, x: int, rank: int) -> Constant:
    """The weights of an operator, input 1: codes if input `x` holds codes, else real numbers."""
    weight = node.constant(1, "weight")
    if len(weight.shape) != rank or 0 in weight.shape:
        raise UnsupportedError(f"the weight has the shape {list(weight.shape)}", "correct it")
    if weight.quant is None and weight.dtype is not DType.FLOAT32:
        raise UnsupportedError(
            f"its weight holds {weight.dtype.value} numbers without a scale", "convert it again"
        )
    quant = weight.quant if node.input_params(x) is not None else None
    # A fully connected layer with one scale is the only one with a zero point.
    alone = node.op == "FULLY_CONNECTED" and quant is not None and len(quant.scale) == 1
    if quant is not None and quant.dtype is DType.INT8 and any(quant.zero_point) and not alone:
        record_note(ctx.builder.metadata, ZERO_POINTS, _ZERO_POINTS_SAID)
    return _as_input(node, x, weight)


def _as_input(node: TfliteNode, x: int, weight: Tensor) -> Constant:
    """Weights as a layer of `x` takes them: a float layer computes with what codes mean."""
    if not isinstance(weight, Constant):
        raise UnsupportedError("its weight is computed at run time", "use BATCH_MATMUL")
    if weight.quant is not None and node.input_params(x) is None:
        return Constant(weight.name, weight.real())
    _check_centred(weight)
    return weight


def _check_centred(weight: Constant) -> None:
    """Refuse codes of weights that are no int8 codes around zero.

    Raises:
        UnsupportedError: some are not, as in most uint8 files of TensorFlow 1.
    """
    quant = weight.quant
    if quant is None or quant.axis is not None:
        return
    codes = weight.array.astype(np.int64) - quant.tensor_zero_point
    if codes.min() < INT8_MIN or codes.max() > INT8_MAX:
        raise UnsupportedError(
            f"its {weight.dtype.value} weights reach from {codes.min()} to {codes.max()} around "
            f"their zero point {quant.tensor_zero_point}: that does not fit int8",
            "convert the float model again, to full-integer int8 or to float32",
        )


_NARROW_BIASES_SAID = (
    "its layers have 16-bit activations and biases of int32, which TensorFlow Lite Micro rounds in "
    "another way or reads as int64: edgec computes what it does with the same biases in int64"
)


_LARGEST_BIAS_GAP = 0.02


def _check_bias_scale(ctx: Context, node: TfliteNode, weight: Constant) -> None:
    """Tell of a bias that TensorFlow Lite takes for no sum of products, or refuse it beside int16.

    Raises:
        UnsupportedError: the activations are int16, which have the rules of TensorFlow Lite alone.

    Source: TensorFlow Lite, kernels/kernel_util.cc (GetQuantizedConvolutionMultipler).
    """
    x, quant = node.input_params(0), weight.quant
    if x is None or quant is None or len(quant.scale) > 1 or not node.has(2):
        return
    product = float(np.float32(x.tensor_scale) * np.float32(quant.scale[0]))
    found = node.input_scale(2)
    if node.output_scale <= 0.0 or abs(product - found) / node.output_scale <= _LARGEST_BIAS_GAP:
        return
    what = (
        f"the scale of its bias is {found:.4g}, not {product:.4g}, that of input times weights, "
        "for which TensorFlow Lite Micro refuses the file"
    )
    if x.dtype is DType.INT16:
        raise UnsupportedError(what, "convert the model again")
    name = shown(node.outputs[0])
    record_note(ctx.builder.metadata, BIAS_SCALES, f"{name}: {what}: edgec takes the latter")


def bias_of(
    ctx: Context, node: TfliteNode, x: int, weight: Constant, index: int
) -> Constant | None:
    """The bias of a layer; whole numbers are in steps of input `x` times the weights.

    Args:
        ctx: the graph under construction.
        node: the operator.
        x: place of what the weights multiply.
        weight: the weights.
        index: place of the bias.

    Raises:
        UnsupportedError: its numbers are none that edgec adds.
    """
    if not node.has(index):
        return None
    bias = node.constant(index, "bias")
    if bias.dtype is DType.FLOAT32:
        return bias
    if bias.dtype not in (DType.INT32, DType.INT64) or len(bias.shape) != 1:
        raise UnsupportedError(
            f"its bias holds {bias.dtype.value} numbers",
            "convert the model to float32 or full-integer int8",
        )
    if np.abs(bias.array.astype(np.float64)).max(initial=0) > INT32_MAX:
        raise UnsupportedError("its bias does not fit 32 bits", "convert the model again")
    if bias.dtype is DType.INT32 and node.tensor(x).dtype is DType.INT16:
        record_note(ctx.builder.metadata, NARROW_BIASES, _NARROW_BIASES_SAID)
    quant = bias_params(node.input_params(x), weight.quant, bias.shape[0])
    return Constant(bias.name, bias.array.astype(np.int32), quant)
