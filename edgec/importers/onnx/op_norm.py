"""Normalization over the features of each token."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgec.importers.common.axes import normal_axis
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant


def layer_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Over the axes from `axis` on; constant scale and bias."""
    if node.is_used(1) or node.is_used(2):
        raise UnsupportedError("its statistics are used", "export the model for inference")
    return _normalization(ctx, node, ops.LayerNormalization(node.number("epsilon", 1e-5)))


def rms_normalization(ctx: Context, node: OnnxNode) -> Tensor:
    """Over the axes from `axis` on; constant scale."""
    return _normalization(ctx, node, ops.RMSNormalization(node.number("epsilon", 1e-5)))


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
