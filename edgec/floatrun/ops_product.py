"""Convolutions and matrix products."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import quick_product, quick_product_of, scaled
from edgec.base.portable_functions import exp, log
from edgec.floatrun.convolved import Filters
from edgec.floatrun.operands import Prepare, Rule, aligned
from edgec.ir import ops
from edgec.ir.operator import OperatorTable
from edgec.ir.shapes import Pads2D, Pair

RULES = OperatorTable[Rule]()
PREPARED = OperatorTable[Prepare]()
"""Rules of nodes whose weights [1, O, ...] stay as they are: these are scaled once."""


@RULES.entry(ops.Conv)
def _conv(attrs: ops.Conv, inputs: ops.Conv.Inputs[Array]) -> Array:
    return _convolved(inputs.x, inputs.b, Filters(inputs.w[0], attrs))


@PREPARED.entry(ops.Conv)
def _prepared_conv(attrs: ops.Conv, weight: Array) -> Rule:
    filters = Filters(weight[0], attrs)
    return lambda _attrs, inputs: _convolved(inputs.x, inputs.b, filters)


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
    window = ops.Conv((1, 1), pads, attrs.dilations, attrs.group)
    return _convolved(spread, inputs.b, Filters(turned, window))


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


def _convolved(x: Array, bias: Array | None, filters: Filters) -> Array:
    """Images [S, N, H, W, I] by filters; [S, N, OH, OW, O]."""
    own = None if bias is None else bias[0].reshape(-1)
    y = filters.convolved(x.reshape(-1, *x.shape[2:]), own)
    return y.reshape(*x.shape[:2], *y.shape[1:])


def _with_bias(y: Array, bias: Array | None) -> Array:
    return y if bias is None else y + bias[0].reshape(-1)


@RULES.entry(ops.Gemm)
def _gemm(attrs: ops.Gemm, inputs: ops.Gemm.Inputs[Array]) -> Array:
    return np.asarray(_prepared_gemm(attrs, inputs.w)(attrs, inputs))


@PREPARED.entry(ops.Gemm)
def _prepared_gemm(_attrs: ops.Gemm, weight: Array) -> Rule:
    right = scaled(weight[0].T, -2, weight.shape[-1])

    def rule(_attrs: ops.Gemm, inputs: ops.Gemm.Inputs[Array]) -> Array:
        x = inputs.x
        y = quick_product_of(x.reshape(-1, x.shape[-1]), right)
        return _with_bias(y.reshape(*x.shape[:-1], -1), inputs.b)

    return rule


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
