"""Conv and ConvTranspose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant
from edgec.importers.onnx import volumes
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.windows import (
    check_cells,
    explicit_pads,
    four,
    from_nhwc,
    pair,
    per_axis,
    read_window,
    spatial_sizes,
    to_nhwc,
)
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.qparams import QuantParams

_IMAGE = 4
"""Dimensions of a tensor of images."""


def conv(ctx: Context, node: OnnxNode) -> Tensor:
    """1-D and 2-D, small ones in 3-D; weights and bias constant; all attributes."""
    x, weight = node.real_value(0), node.constant(1, "weight")
    if len(x.shape) == len(weight.shape) == 5:
        return volumes.convolved(ctx, node, x)
    sizes = spatial_sizes(x)
    _check_weight(node, weight, len(x.shape))
    window = read_window(node, sizes, weight.shape[2:])
    attrs = ops.Conv(window.strides, window.pads, window.dilations, node.integer("group", 1))
    ohwi = moved_constant(weight, lambda a: _two_dimensional(a).transpose(0, 2, 3, 1))
    if attrs.group == 1:
        ohwi = ctx.pools.weight(ohwi)
    bias = node.constant(2, "bias") if node.has(2) else None
    y = ctx.emit(attrs, to_nhwc(ctx, x), ohwi, bias)
    return from_nhwc(ctx, y, len(x.shape))


def conv_transpose(ctx: Context, node: OnnxNode) -> Tensor:
    """1-D and 2-D; weights and bias constant; group, dilations, output_padding, output_shape."""
    x, weight = node.real_value(0), node.constant(1, "weight")
    sizes = spatial_sizes(x)
    _check_weight(node, weight, len(x.shape))
    group = node.integer("group", 1)
    if group < 1 or weight.shape[0] % group:
        raise UnsupportedError(f"group {group} does not divide the input channels", "correct it")
    bias = node.constant(2, "bias") if node.has(2) else None
    attrs = _transpose_window(node, sizes, weight.shape[2:], group)
    y = ctx.emit(attrs, to_nhwc(ctx, x), _transpose_weight(weight, group), bias)
    return from_nhwc(ctx, y, len(x.shape))


def _check_weight(node: OnnxNode, weight: Constant, rank: int) -> None:
    if len(weight.shape) != rank:
        sizes = "[N, C, L]" if len(weight.shape) < _IMAGE else "[N, C, H, W]"
        raise UnsupportedError(
            f"the weight has {len(weight.shape)} dimensions, the input {rank}",
            f"give it an input {sizes}, e.g. with Unsqueeze where the batch is missing",
        )
    kernel = node.integers("kernel_shape")
    if kernel is not None and kernel != weight.shape[2:]:
        raise UnsupportedError(
            f"kernel_shape {list(kernel)} contradicts the weight", "correct the model"
        )


def _two_dimensional(weight: Array) -> Array:
    """[A, B, L] as [A, B, 1, L]."""
    return weight if weight.ndim == 4 else weight[:, :, np.newaxis, :]


def _transpose_weight(weight: Constant, group: int) -> Constant:
    """[I, O/group, KH, KW] as [O, KH, KW, I/group]."""

    def move(array: Array) -> Array:
        array = _two_dimensional(array)
        i, o, kh, kw = array.shape
        grouped = array.reshape(group, i // group, o, kh, kw)
        return grouped.transpose(0, 2, 3, 4, 1).reshape(group * o, kh, kw, i // group)

    quant = weight.quant
    if quant is not None and quant.axis == 1 and group > 1:
        # The channels of axis 1 recur in every group: name them apart, as they are in the output.
        tiled = QuantParams(quant.scale * group, quant.zero_point * group, quant.dtype, 0)
        plain = Constant(weight.name, move(weight.array))
        return Constant(weight.name, plain.array, tiled)
    return moved_constant(weight, move)


@dataclass(frozen=True, slots=True)
class _Axis:
    """One spatial axis of a transposed convolution."""

    begin: int
    end: int
    output_padding: int


def _transpose_window(
    node: OnnxNode, sizes: tuple[int, ...], kernel: tuple[int, ...], group: int
) -> ops.ConvTranspose:
    """Attributes with output_shape and auto_pad made explicit.

    Source: ONNX operator documentation of ConvTranspose (shape formulas).
    """
    rank = len(sizes)
    strides, dilations = per_axis(node, "strides", rank, 1), per_axis(node, "dilations", rank, 1)
    extra = node.integers("output_padding") or (0,) * rank
    if len(extra) != rank or min(extra) < 0:
        raise UnsupportedError(f"output_padding {list(extra)} is impossible", "correct the model")
    check_cells("output_padding", extra)
    mode = node.text("auto_pad", "NOTSET")
    wanted = node.integers("output_shape")
    if wanted is None and mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = tuple(size * stride for size, stride in zip(sizes, strides, strict=True))
    if wanted is not None and len(wanted) < rank:
        raise UnsupportedError(f"output_shape {list(wanted)} is impossible", "correct the model")
    if wanted is None:
        begins, ends = explicit_pads(node, rank) if mode != "VALID" else ((0,) * rank,) * 2
    else:
        axes = []
        for i in range(rank):
            span = (kernel[i] - 1) * dilations[i] + 1
            full = (sizes[i] - 1) * strides[i] + extra[i] + span
            # Some exporters give all dimensions of the output, not the spatial ones alone.
            axes.append(_fit(full, wanted[-rank:][i], extra[i], mode == "SAME_UPPER"))
        begins, ends = tuple(a.begin for a in axes), tuple(a.end for a in axes)
        extra = tuple(a.output_padding for a in axes)
    return ops.ConvTranspose(
        pair(strides, 1), four(begins + ends), pair(dilations, 1), group, pair(extra, 0)
    )


def _fit(full: int, wanted: int, output_padding: int, upper: bool) -> _Axis:
    """Pads that turn an output of `full` cells into `wanted`; more cells come as output padding."""
    total = full - wanted
    if total < 0:
        return _Axis(0, 0, output_padding - total)
    small, large = total // 2, total - total // 2
    return _Axis(small, large, output_padding) if upper else _Axis(large, small, output_padding)
