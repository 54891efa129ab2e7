"""Convolutions and matrix products."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import quick_product, scaled, whole_product
from edgec.base.portable_functions import exp, log
from edgec.floatrun.operands import Rule, aligned
from edgec.floatrun.windows import gathered, padded, taps
from edgec.ir import ops
from edgec.ir.operator import OperatorTable
from edgec.ir.shapes import Pads2D, Pair

RULES = OperatorTable[Rule]()

_GATHERED_ELEMENTS = 1 << 21
"""Elements of gathered windows that are in memory at a time, unless one sample has more."""


@RULES.entry(ops.Conv)
def _conv(attrs: ops.Conv, inputs: ops.Conv.Inputs[Array]) -> Array:
    weight = inputs.w[0]
    y = _convolved(inputs.x, weight, attrs.strides, attrs.pads, attrs.dilations, attrs.group)
    return _with_bias(y, inputs.b)


@RULES.entry(ops.ConvTranspose)
def _conv_transpose(attrs: ops.ConvTranspose, inputs: ops.ConvTranspose.Inputs[Array]) -> Array:
    """A convolution of the input with zeros between its pixels, the weights turned around."""
    weight = inputs.w[0]
    reach = [(size - 1) * d for size, d in zip(weight.shape[1:3], attrs.dilations, strict=True)]
    top, left, bottom, right = attrs.pads
    extra = attrs.output_padding
    edges = (
        *(reach[0] - top, reach[1] - left),
        *(reach[0] - bottom + extra[0], reach[1] - right + extra[1]),
    )
    spread = _cropped(_spread(inputs.x, attrs.strides), edges)
    pads = tuple(max(edge, 0) for edge in edges)
    turned = weight[:, ::-1, ::-1]
    y = _convolved(spread, turned, (1, 1), pads, attrs.dilations, attrs.group)
    return _with_bias(y, inputs.b)


def _spread(x: Array, strides: Pair) -> Array:
    """Pixels `strides` apart, zeros between them."""
    if strides == (1, 1):
        return x
    samples, batch, height, width, channels = x.shape
    size = ((height - 1) * strides[0] + 1, (width - 1) * strides[1] + 1)
    result = np.zeros((samples, batch, *size, channels))
    result[:, :, :: strides[0], :: strides[1]] = x
    return result


def _cropped(x: Array, edges: Pads2D) -> Array:
    """An image without what negative pads take away."""
    top, left, bottom, right = (max(-edge, 0) for edge in edges)
    return x[:, :, top : x.shape[2] - bottom, left : x.shape[3] - right]


def _convolved(
    x: Array, weight: Array, strides: Pair, pads: Pads2D, dilations: Pair, group: int
) -> Array:
    """Images [S, N, H, W, I] by weight [O, KH, KW, I/group]; [S, N, OH, OW, O]."""
    flat = x.reshape(-1, *x.shape[2:])
    if group > 1 and weight.shape[-1] == 1 and len(weight) == group:
        y = _depthwise(padded(flat, pads), weight, strides, dilations)
    else:
        inputs, outputs = weight.shape[-1], len(weight) // group
        parts = [
            _dense(
                padded(flat[..., g * inputs : (g + 1) * inputs], pads),
                weight[g * outputs : (g + 1) * outputs],
                strides,
                dilations,
            )
            for g in range(group)
        ]
        y = parts[0] if group == 1 else np.concatenate(parts, axis=-1)
    return y.reshape(*x.shape[:2], *y.shape[1:])


def _depthwise(x: Array, weight: Array, strides: Pair, dilations: Pair) -> Array:
    """Each channel by its own filter, a tap at a time."""
    total: Array | None = None
    for part, (row, col) in taps(x, weight.shape[1:3], strides, dilations):
        product = part * weight[:, row, col, 0]
        total = product if total is None else np.add(total, product, out=total)
    return np.asarray(total)


def _dense(x: Array, weight: Array, strides: Pair, dilations: Pair) -> Array:
    """Padded images [N, H, W, I] by weight [O, KH, KW, I]."""
    terms = weight[0].size
    right = scaled(weight.reshape(len(weight), terms).T, -2, terms)
    left = scaled(x, (1, 2, 3), terms)
    kernel = weight.shape[1:3]
    each = left.whole[0].size * kernel[0] * kernel[1] // (strides[0] * strides[1])
    step = max(_GATHERED_ELEMENTS // max(each, 1), 1)
    parts = [
        whole_product(gathered(left.whole[i : i + step], kernel, strides, dilations), right.whole)
        for i in range(0, len(x), step)
    ]
    return np.asarray(np.concatenate(parts) * left.step * right.step)


def _with_bias(y: Array, bias: Array | None) -> Array:
    return y if bias is None else y + bias[0].reshape(-1)


@RULES.entry(ops.Gemm)
def _gemm(_attrs: ops.Gemm, inputs: ops.Gemm.Inputs[Array]) -> Array:
    samples = inputs.x
    flat = samples.reshape(-1, samples.shape[-1])
    y = quick_product(flat, inputs.w[0].T)
    return _with_bias(y.reshape(*samples.shape[:-1], -1), inputs.b)


@RULES.entry(ops.MatMul)
def _matmul(attrs: ops.MatMul, inputs: ops.MatMul.Inputs[Array]) -> Array:
    a, b = aligned(inputs.a, inputs.b)
    a = np.swapaxes(a, -1, -2) if attrs.transpose_a else a
    b = np.swapaxes(b, -1, -2) if attrs.transpose_b else b
    return np.asarray(quick_product(a, b) * attrs.scale)


@RULES.entry(ops.Attention)
def _attention(attrs: ops.Attention, inputs: ops.Attention.Inputs[Array]) -> Array:
    q, k, v = (_heads(x, attrs.heads) for x in (inputs.q, inputs.k, inputs.v))
    logits = quick_product(q, np.swapaxes(k, -1, -2)) * attrs.scale
    if inputs.bias is not None:
        logits = logits + _after_samples(inputs.bias, logits.ndim)
    if inputs.keys is not None:
        seen = _after_samples(inputs.keys, logits.ndim - 2)[..., None, None, :]
        logits = np.where(seen != 0, logits, -np.inf)
    y = np.swapaxes(quick_product(softmax(logits), v), -2, -3)
    return y.reshape(*y.shape[:-2], -1)


def _heads(x: Array, heads: int) -> Array:
    """[..., N, heads * D] as [..., heads, N, D]."""
    return np.swapaxes(x.reshape(*x.shape[:-1], heads, -1), -2, -3)


def _after_samples(array: Array, rank: int) -> Array:
    missing = (1,) * (rank - array.ndim)
    return array.reshape(array.shape[:1] + missing + array.shape[1:])


@RULES.entry(ops.Softmax)
def _softmax(attrs: ops.Softmax, inputs: ops.OneInput.Inputs[Array]) -> Array:
    return softmax(inputs.x if attrs.beta == 1.0 else attrs.beta * inputs.x)


@RULES.entry(ops.LogSoftmax)
def _log_softmax(_attrs: ops.LogSoftmax, inputs: ops.OneInput.Inputs[Array]) -> Array:
    distance = np.ascontiguousarray(inputs.x - inputs.x.max(axis=-1, keepdims=True))
    return np.asarray(distance - log(exp(distance).sum(axis=-1, keepdims=True)))


def softmax(x: Array) -> Array:
    """Over the last axis."""
    grown = exp(np.ascontiguousarray(x - x.max(axis=-1, keepdims=True)))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))
