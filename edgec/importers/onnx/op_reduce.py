"""Reductions over axes, ArgMax, ArgMin, sums along an axis, and BatchNormalization.

Normalization over the features of each token.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.limits import MAX_WINDOW_CELLS
from edgec.importers.common import functions
from edgec.importers.common import functions as products
from edgec.importers.common.attributes import inverse, normal_axis
from edgec.importers.common.tensors import Gathered, Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.weight_pools import terms_added
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import ReduceKind, UnaryKind


def reduce(ctx: Context, node: OnnxNode) -> Tensor:
    """Axes as attribute or constant input; keepdims, noop_with_empty_axes."""
    kind = ReduceKind(node.op)
    weights = _added_weights(node) if kind is ReduceKind.SUM else None
    if weights is not None:
        return weights
    x = node.data_value(0) if kind.selects else node.real_value(0)
    axes = _axes(node, x)
    if not axes:
        return functions.of_single_elements(ctx, kind, x)
    return ctx.emit(ops.Reduce(kind, axes, node.flag("keepdims", True)), x)


def _added_weights(node: OnnxNode) -> Gathered | None:
    """The sum of vectors of a weight pool along one axis; None if the node adds up other things."""
    x = node.tensor(0)
    if not isinstance(x, Gathered):
        return None
    axes = node.axes_input("axes", 1) or ()
    if len(axes) != 1 or node.flag("keepdims", True):
        return None
    return terms_added(x, normal_axis(axes[0], len(x.shape)))


def reduce_product(ctx: Context, node: OnnxNode) -> Tensor:
    """Axes as attribute or constant input; keepdims, noop_with_empty_axes."""
    x = node.real_value(0)
    axes = _axes(node, x)
    return products.product_over(ctx, x, axes, node.flag("keepdims", True)) if axes else x


def reduce_log_sum(ctx: Context, node: OnnxNode) -> Tensor:
    """Axes as attribute or constant input; keepdims, noop_with_empty_axes."""
    x = node.real_value(0)
    axes = _axes(node, x)
    total: Value = x
    if axes:
        total = ctx.emit(ops.Reduce(ReduceKind.SUM, axes, node.flag("keepdims", True)), x)
    return ctx.emit(ops.Unary(UnaryKind.LOG), total)


def reduce_log_sum_exp(ctx: Context, node: OnnxNode) -> Tensor:
    """Axes as attribute or constant input; keepdims, noop_with_empty_axes."""
    x = node.real_value(0)
    axes = _axes(node, x)
    return functions.log_sum_exp(ctx, x, axes, node.flag("keepdims", True)) if axes else x


def _axes(node: OnnxNode, x: Value) -> tuple[int, ...]:
    """The axes that a reduction is over; none where it leaves its input as it is."""
    rank, given = len(x.shape), node.axes_input("axes", 1)
    if not given and node.flag("noop_with_empty_axes", False):
        return ()
    axes = sorted({normal_axis(axis, rank) for axis in given or range(rank)})
    if not axes:
        raise UnsupportedError("its input is a single number", "leave the node out")
    return tuple(axes)


_LEAST_LENGTH = float(np.finfo(np.float32).tiny)


def lp_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Any axis; p = 1 and p = 2."""
    x, kinds = node.real_value(0), {1: ReduceKind.L1, 2: ReduceKind.L2}
    kind = kinds.get(node.integer("p", 2))
    if kind is None:
        raise UnsupportedError(f"its p is {node.integer('p', 2)}", "use p = 1 or p = 2")
    axis = normal_axis(node.integer("axis", -1), len(x.shape))
    length = ctx.emit(ops.Reduce(kind, (axis,)), x)
    # Zeros stay zeros: no length of others is below the least float.
    return functions.quotient(ctx, x, ctx.emit(ops.Clip(_LEAST_LENGTH, math.inf), length))


def cumulative_sum(ctx: Context, node: OnnxNode) -> Tensor:
    """Real numbers along a constant axis of 512 elements at most; exclusive, reverse."""
    x = node.value(0)
    if x.dtype is not DType.FLOAT32:
        raise UnsupportedError(
            "positions are not counted at run time",
            "export the model with the positions (position_ids) as an input",
        )
    axis = normal_axis(_one_axis(node.ints_input(1, "axis")), len(x.shape))
    exclusive, backward = node.flag("exclusive", False), node.flag("reverse", False)
    return functions.cumulative_sum(ctx, x, axis, exclusive, backward, f"{node.outputs[0]}/ones")


def cumulative_product(ctx: Context, node: OnnxNode) -> Tensor:
    """Real numbers along a constant axis; exclusive, reverse."""
    x = node.real_value(0)
    axis = normal_axis(_one_axis(node.ints_input(1, "axis")), len(x.shape))
    exclusive, backward = node.flag("exclusive", False), node.flag("reverse", False)
    return products.cumulative_product(ctx, x, axis, exclusive, backward)


def _one_axis(axes: tuple[int, ...]) -> int:
    if len(axes) != 1:
        raise UnsupportedError(f"it has {len(axes)} axes", "use one axis")
    return axes[0]


def arg_max(ctx: Context, node: OnnxNode) -> Tensor:
    """Any axis; indices are int32 on the target."""
    x = node.data_value(0)
    axis = normal_axis(node.integer("axis", 0), len(x.shape))
    keepdims, last = node.flag("keepdims", True), node.flag("select_last_index", False)
    attrs = ops.ArgMax(axis, keepdims, last, smallest=node.op == "ArgMin")
    return ctx.emit(attrs, x, dtype=DType.INT32)


def top_k(ctx: Context, node: OnnxNode) -> tuple[Tensor, Tensor]:
    """Constant k; any axis; values and indices, in order."""
    x, axis = node.data_value(0), node.integer("axis", -1)
    numbers = node.ints_input(1, "k") if node.opset >= 10 else (node.integer("k", 0),)
    if len(numbers) != 1:
        raise UnsupportedError(f"it has {len(numbers)} numbers k", "use one")
    largest = node.flag("largest", True)
    return functions.top_k(ctx, x, normal_axis(axis, len(x.shape)), numbers[0], largest)


def _normalized_weight(node: OnnxNode) -> Constant:
    """A constant less its mean, by channel, divided by its own deviation.

    PyTorch standardizes weights with a batch norm in training mode (`ScaledStdConv2d` of timm).
    """
    array = node.real_array(0, "input")
    if array.ndim < 2:
        raise UnsupportedError("the input has no channel axis", "correct the model")
    rest = tuple(axis for axis in range(array.ndim) if axis != 1)
    along = (-1, *(1,) * (array.ndim - 2))
    scale, bias = (node.real_array(i, name) for i, name in ((1, "scale"), (2, "bias")))
    if not scale.shape == bias.shape == (array.shape[1],):
        raise UnsupportedError("scale and bias do not fit the channels", "correct the model")
    mean = array.mean(rest, np.float64, keepdims=True)
    deviation = np.sqrt(array.var(rest, np.float64, keepdims=True) + node.number("epsilon", 1e-5))
    normal = (array - mean) / deviation
    found = normal * scale.reshape(along) + bias.reshape(along)
    return Constant(node.outputs[0], found.astype(np.float32))


def batch_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Inference mode, constant statistics per channel; of a constant also in training mode."""
    is_training = node.flag("training_mode", False)
    if any(node.is_used(i) for i in range(1, 5)) or (
        is_training and not isinstance(node.tensor(0), Constant)
    ):
        raise UnsupportedError("it is in training mode", "export the model for inference")
    if is_training:
        return _normalized_weight(node)
    if not node.flag("spatial", True):
        raise UnsupportedError(
            "spatial = 0 has statistics per pixel", "export with opset 9 or later"
        )
    x = node.real_value(0)
    if len(x.shape) < 2:
        raise UnsupportedError("the input has no channel axis", "correct the model")
    names = ("scale", "bias", "mean", "variance")
    arrays = [node.real_array(i, name) for i, name in enumerate(names, start=1)]
    epsilon = node.number("epsilon", 1e-5)
    if arrays[3].size and not float(np.min(arrays[3])) + epsilon > 0.0:
        raise UnsupportedError("a variance is negative", "correct the model")
    parameters = [Constant(node.input_name(i), a) for i, a in enumerate(arrays, start=1)]
    y = ctx.emit(ops.BatchNormalization(epsilon), ctx.axis_last(x, 1), *parameters)
    return ctx.axis_back(y, 1)


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
