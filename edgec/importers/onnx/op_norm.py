"""Normalization over the features of each token."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgec.base.limits import MAX_WINDOW_CELLS
from edgec.importers.common.axes import inverse, normal_axis
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import UnaryKind


def layer_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Over the axes from `axis` on; constant scale and bias."""
    if node.is_used(1) or node.is_used(2):
        raise UnsupportedError("its statistics are used", "export the model for inference")
    return _normalization(ctx, node, ops.LayerNormalization(node.number("epsilon", 1e-5)))


def rms_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Over the axes from `axis` on; constant scale."""
    return _normalization(ctx, node, ops.RMSNormalization(node.number("epsilon", 1e-5)))


def instance_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Over all axes but batch and channel; constant scale and bias."""
    x = node.real_value(0)
    if len(x.shape) < 3:
        raise UnsupportedError("its input has no axes to normalize over", "correct the model")
    channels = x.shape[1]
    y = _rows(ctx, x, channels, node.number("epsilon", 1e-5))
    return _affine(ctx, y, [_parameter(node, i, w, (channels,)) for i, w in _SCALE_AND_BIAS])


def group_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Over groups of channels and all axes after them; constant scale and bias, a channel each."""
    x, groups = node.real_value(0), node.integer("num_groups", 0)
    channels = x.shape[1] if len(x.shape) > 1 else 0
    if groups < 1 or channels % groups:
        raise UnsupportedError(f"{channels} channels do not make {groups} groups", "correct it")
    y = _rows(ctx, x, groups, node.number("epsilon", 1e-5))
    # Before opset 21 a group had one scale and bias.
    size = groups if node.opset < _PER_CHANNEL else channels
    found = [_parameter(node, i, what, (size,)) for i, what in _SCALE_AND_BIAS]
    return _affine(ctx, y, [_repeated(each, channels) for each in found])


def mean_variance_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant axes."""
    x = node.real_value(0)
    rank = len(x.shape)
    given = node.integers("axes") or (0, 2, 3)
    axes = sorted({normal_axis(axis, rank) for axis in given})
    order = (*(axis for axis in range(rank) if axis not in axes), *axes)
    moved = ctx.transpose(x, order)
    size = math.prod(x.shape[axis] for axis in axes)
    if size < 2:
        raise UnsupportedError("it normalizes single numbers, which gives zeros", "leave it out")
    rows = ctx.reshape(moved, (*moved.shape[: rank - len(axes)], size))
    gamma = Constant(f"{node.outputs[0]}/ones", np.ones(size, np.float32))
    # Source: the function body of the operator in ONNX, which adds 1e-9 to the deviation.
    y = ctx.emit(ops.LayerNormalization(1e-9), rows, gamma, None)
    return ctx.transpose(ctx.reshape(y, moved.shape), inverse(order))


def local_response_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Over a window of neighbouring channels, an odd number of them."""
    x, size = node.real_value(0), node.integer("size", 0)
    rank = len(x.shape)
    if rank < 3 or not 1 <= size <= MAX_WINDOW_CELLS or size % 2 == 0:
        # Of even windows ONNX's reference and its text tell different things.
        raise UnsupportedError(f"its size {size} is not odd, or it has no image", "correct it")
    alpha, beta, bias = (
        node.number(name, default)
        for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    moved = ctx.axis_last(x, 1)
    # A row of pixels is a column of an image, and its channels are the columns.
    n, channels = moved.shape[0], moved.shape[-1]
    image = ctx.reshape(moved, (n, math.prod(moved.shape[1:-1]), channels, 1))
    squares = ctx.emit(ops.Unary(UnaryKind.POW, alpha=2.0), image)
    pads = (0, size // 2, 0, size // 2)
    means = ctx.emit(ops.AveragePool((1, size), (1, 1), pads, (1, 1), True), squares)
    numbers = [np.asarray(number, np.float32) for number in (alpha, bias)]
    factor, summand = (Constant(f"{node.outputs[0]}/{i}", each) for i, each in enumerate(numbers))
    total = ctx.emit(ops.Add(), ctx.emit(ops.Mul(), means, factor), summand)
    divided = ctx.emit(ops.Unary(UnaryKind.POW, alpha=-beta), total)
    y = ctx.emit(ops.Mul(), image, divided)
    return ctx.axis_back(ctx.reshape(y, moved.shape), 1)


_PER_CHANNEL = 21
_SCALE_AND_BIAS = ((1, "scale"), (2, "bias"))


def _rows(ctx: Context, x: Value, rows: int, epsilon: float) -> Tensor:
    """The elements of each of `rows` equal parts of a sample of x normalized together."""
    size = math.prod(x.shape[1:]) // rows
    if size < 2:
        raise UnsupportedError("it normalizes single numbers, which gives zeros", "leave it out")
    gamma = Constant(f"{x.name}/ones", np.ones(size, np.float32))
    flat = ctx.reshape(x, (x.shape[0], rows, size))
    return ctx.reshape(ctx.emit(ops.LayerNormalization(epsilon), flat, gamma, None), x.shape)


def _affine(ctx: Context, x: Tensor, parameters: list[Constant | None]) -> Tensor:
    """X times a factor for each channel (axis 1), and a summand added; ones and zeros left out."""
    for attrs, constant, neutral in zip(
        (ops.Mul(), ops.Add()), parameters, (1.0, 0.0), strict=True
    ):
        if constant is None or np.all(constant.array == neutral):
            continue
        shape = (constant.shape[0], *[1] * (len(x.shape) - 2))
        x = ctx.emit(attrs, x, Constant(constant.name, constant.array.reshape(shape)))
    return x


def _repeated(constant: Constant | None, channels: int) -> Constant | None:
    if constant is None:
        return None
    return Constant(constant.name, np.repeat(constant.array, channels // constant.array.size))


def _normalization(ctx: Context, node: OnnxNode, attrs: Any) -> Tensor:
    x = node.real_value(0)
    axis = normal_axis(node.integer("axis", -1), len(x.shape))
    features = math.prod(x.shape[axis:])
    rows = ctx.reshape(x, (*x.shape[:axis], features))
    parameters = [_parameter(node, 1, "scale", x.shape[axis:])]
    if isinstance(attrs, ops.LayerNormalization):
        has_bias = node.has(2)
        parameters.append(_parameter(node, 2, "bias", x.shape[axis:]) if has_bias else None)
    return ctx.reshape(ctx.emit(attrs, rows, *parameters), x.shape)


def _parameter(node: OnnxNode, index: int, what: str, shape: tuple[int, ...]) -> Constant | None:
    array = node.real_array(index, what)
    try:
        full = np.broadcast_to(array, shape)
    except ValueError as error:
        raise UnsupportedError(
            f"{what} {list(array.shape)} does not fit {list(shape)}", "correct the model"
        ) from error
    return Constant(node.input_name(index), full.reshape(-1))
