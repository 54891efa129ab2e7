"""Reductions over axes, ArgMax, ArgMin, sums along an axis, and BatchNormalization."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common import functions, products
from edgec.importers.common.axes import normal_axis
from edgec.importers.common.tensors import Gathered, Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
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


def lp_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Any axis; p = 1 and p = 2."""
    x, kinds = node.real_value(0), {1: ReduceKind.L1, 2: ReduceKind.L2}
    kind = kinds.get(node.integer("p", 2))
    if kind is None:
        raise UnsupportedError(f"its p is {node.integer('p', 2)}", "use p = 1 or p = 2")
    axis = normal_axis(node.integer("axis", -1), len(x.shape))
    return functions.quotient(ctx, x, ctx.emit(ops.Reduce(kind, (axis,)), x))


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
