"""Oracle kernels of the operators with weights: convolutions and matrix products.

Sums are taken in float64 matrix products, which are exact: every partial sum is a whole number far
below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import requantize
from edgec.interp.kernels_np_elementwise import add_codes
from edgec.interp.operands import Operand, accumulators, int8_clamped
from edgec.ir import qops, qops_transformer
from edgec.ir.shapes import Pair


def conv(attrs: qops.QConv, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QConv`: x int8 [N, H, W, I]; int8 [N, OH, OW, O]."""
    return conv_of_centred(attrs, inputs[0].centred, inputs[1].array, inputs[2:])


def conv_of_centred(
    attrs: qops.QConv, x: Array, weight: Array, rest: Sequence[Operand], factor: int = 1
) -> Array:
    """A convolution of x int64 [N, H, W, I] whose zeros contribute nothing; int8 [N, OH, OW, O].

    Args:
        attrs: the operator.
        x: centred activations, or responses.
        weight: whole numbers [O, KH, KW, I/group].
        rest: bias, multiplier and, with `attrs.residual`, the residual.
        factor: of the sums, before the bias is added.
    """
    total = conv_sums(attrs, x, weight)
    plain = requantized(attrs, total * factor, rest[0].array, rest[1].array)
    if attrs.residual is None:
        return plain
    # y_zero_point of the attributes belongs to the sum's first operand.
    return add_codes(attrs.residual, plain, rest[2].array)


def conv_sums(attrs: qops.QConv | qops_transformer.QConv16x15, x: Array, weight: Array) -> Array:
    """The sums of products of a convolution; float64 [N, OH, OW, O], whole numbers.

    Args:
        attrs: strides, pads, dilations and group.
        x: int64 [N, H, W, I] whose zeros contribute nothing.
        weight: whole numbers [O, KH, KW, I/group].
    """
    top, left, bottom, right = attrs.pads
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    size = _conv_size(attrs, padded.shape, weight.shape)
    total = np.zeros((x.shape[0], *size, weight.shape[0]))
    for (ky, kx), offset in _taps(weight.shape, attrs.dilations):
        pixels = padded[:, *_every(offset, attrs.strides, size), :]
        total += _channel_product(pixels, weight[:, ky, kx, :], attrs.group)
    return total


def conv_transpose(
    attrs: qops.QConvTranspose, inputs: Sequence[Operand], y_zero_point: int
) -> Array:
    """`qops.QConvTranspose`: x int8 [N, H, W, I]; int8 [N, OH, OW, O]."""
    x, weight, bias = inputs[0].centred, inputs[1].array, inputs[2].array
    n, *size = x.shape[:3]
    reach = [
        (size[i] - 1) * attrs.strides[i]
        + (weight.shape[1 + i] - 1) * attrs.dilations[i]
        + 1
        + attrs.output_padding[i]
        for i in (0, 1)
    ]
    total = np.zeros((n, *reach, weight.shape[0]))
    for (ky, kx), offset in _taps(weight.shape, attrs.dilations):
        product = _channel_product(x, weight[:, ky, kx, :], attrs.group)
        total[:, *_every(offset, attrs.strides, (size[0], size[1])), :] += product
    top, left, bottom, right = attrs.pads
    cropped = total[:, top : reach[0] - bottom, left : reach[1] - right, :]
    return requantized(attrs, cropped, bias, inputs[3].array)


def gemm(attrs: qops.QGemm, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QGemm`: x int8 [..., K]; int8 [..., N]."""
    total = inputs[0].centred.astype(np.float64) @ inputs[1].array.astype(np.float64).T
    return requantized(attrs, total, inputs[2].array, inputs[3].array)


def _conv_size(
    attrs: qops.QConv | qops_transformer.QConv16x15, padded: Sequence[int], weight: Sequence[int]
) -> Pair:
    """(OH, OW) of a convolution over an image that has its padding."""
    height, width = (
        (padded[1 + i] - (weight[1 + i] - 1) * attrs.dilations[i] - 1) // attrs.strides[i] + 1
        for i in (0, 1)
    )
    return height, width


def _taps(weight: Sequence[int], dilations: Pair) -> Iterator[tuple[Pair, Pair]]:
    """Each (ky, kx) of a kernel, with its distance from the first tap in pixels."""
    for ky, kx in np.ndindex(weight[1], weight[2]):
        yield (ky, kx), (ky * dilations[0], kx * dilations[1])


def _every(offset: Pair, strides: Pair, count: Pair) -> tuple[slice, slice]:
    """`count` rows and columns, `strides` apart, from `offset` on."""
    rows, cols = (
        slice(offset[i], offset[i] + (count[i] - 1) * strides[i] + 1, strides[i]) for i in (0, 1)
    )
    return rows, cols


def _channel_product(x: Array, weight: Array, group: int) -> Array:
    """Grouped product over channels of x [N, H, W, I] and weight [O, I/group]; float64."""
    outputs, depth = weight.shape
    x_groups = x.reshape(*x.shape[:3], group, depth).astype(np.float64)
    w_groups = weight.reshape(group, outputs // group, depth).astype(np.float64)
    if depth == 1:
        product = x_groups * w_groups[..., 0]
    else:
        # Groups first, so that each is one matrix product.
        product = np.einsum("nhwgi,goi->nhwgo", x_groups, w_groups, optimize=True)
    return product.reshape(*x.shape[:3], outputs)


def requantized(
    attrs: qops.QConv | qops.QConvTranspose | qops.QGemm,
    total: Array,
    bias: Array,
    multiplier: Array,
) -> Array:
    """clamp(z + requantize(total + bias)), int8."""
    scaled = requantize(accumulators(total + bias), multiplier, attrs.shift)
    return int8_clamped(attrs.y_zero_point + scaled, attrs.act_min, attrs.act_max)
