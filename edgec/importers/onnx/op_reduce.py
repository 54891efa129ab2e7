"""Reductions over axes, ArgMax and BatchNormalization."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.axes import normal_axis
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.ops import ReduceKind


def reduce(ctx: Context, node: OnnxNode) -> Tensor:
    """Axes as attribute or constant input; keepdims, noop_with_empty_axes."""
    kind = ReduceKind(node.op)
    x = node.data_value(0) if kind is ReduceKind.MAX else node.real_value(0)
    rank = len(x.shape)
    given = node.axes_input("axes", 1)
    if not given and node.flag("noop_with_empty_axes", False):
        return x
    axes = sorted({normal_axis(axis, rank) for axis in given or range(rank)})
    if not axes:
        raise UnsupportedError("its input is a single number", "leave the node out")
    return ctx.emit(ops.Reduce(kind, tuple(axes), node.flag("keepdims", True)), x)


def arg_max(ctx: Context, node: OnnxNode) -> Tensor:
    """Any axis; indices are int32 on the target."""
    x = node.data_value(0)
    axis = normal_axis(node.integer("axis", 0), len(x.shape))
    keepdims, last = node.flag("keepdims", True), node.flag("select_last_index", False)
    return ctx.emit(ops.ArgMax(axis, keepdims, last), x, dtype=DType.INT32)


def batch_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Inference mode, constant statistics per channel."""
    if node.flag("training_mode", False) or any(node.is_used(i) for i in range(1, 5)):
        raise UnsupportedError("it is in training mode", "export the model for inference")
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
