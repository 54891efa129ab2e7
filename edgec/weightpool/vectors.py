"""Weights as vectors of a layer's input channels, and the layer they come from.

A weight [O, ..., I] is cut along its last axis into vectors of G; the last one of each tap is
filled up with zeros.  A *position* is a tap and a group of channels: row o of a layer has P
positions, K = P * G elements, in the order of the weight's own axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import WeightPoolError
from edgec.ir import ops
from edgec.ir.graph import Graph, Node

MOST_ELEMENTS = 1 << 25
"""Elements of the inputs of a layer that are looked at; more are sampled."""


@dataclass(frozen=True, slots=True, eq=False)
class PoolLayer:
    """A layer that is to be pooled.

    Attributes:
        node: the Conv or Gemm.
        weight: float64 [O, P, G], missing channels zero.
        taps: (KH, KW, groups), or (groups,).
        channels: input channels, I.
        bias: float64 [O].
        terms: pool vectors that are added up to one of the layer.
    """

    node: Node
    weight: Array
    taps: tuple[int, ...]
    channels: int
    bias: Array
    terms: int = 1

    @property
    def weight_name(self) -> str:
        """Name of the constant that holds the weights."""
        return ops.layer_inputs(self.node).w

    @property
    def outputs(self) -> int:
        """Output channels, O."""
        return int(self.weight.shape[0])

    @property
    def rows(self) -> Array:
        """The weight as float64 [O, K]."""
        return self.weight.reshape(self.outputs, -1)

    @property
    def vectors(self) -> int:
        """Number of vectors, O * P."""
        return self.outputs * math.prod(self.taps)

    @property
    def present(self) -> Array:
        """Bool [K]: False for the elements that only fill a vector up."""
        groups, group = self.taps[-1], self.weight.shape[2]
        real = np.arange(groups * group) < self.channels
        return np.tile(real, math.prod(self.taps[:-1]))


def pool_layer(graph: Graph, node: Node, group: int) -> PoolLayer:
    """The layer of a Conv (one group) or Gemm with constant weights.

    Raises:
        WeightPoolError: the weights or the bias hold NaN or infinite numbers.
    """
    inputs = ops.layer_inputs(node)
    weight, bias_name = graph.constants[inputs.w], inputs.b or ""
    bias = graph.constants[bias_name].real() if bias_name else np.zeros(weight.shape[0])
    real = weight.real().astype(np.float64)
    for name, array in ((weight.name, real), (bias_name, bias)):
        if not np.isfinite(array).all():
            raise WeightPoolError(
                "the weights hold NaN or infinite numbers",
                where=name,
                hint="export the model again from sound weights",
            )
    channels = real.shape[-1]
    groups = -(-channels // group)
    missing = [(0, 0)] * (real.ndim - 1) + [(0, groups * group - channels)]
    cut = np.pad(real, missing).reshape(real.shape[0], -1, group)
    taps = (*real.shape[1:-1], groups)
    flat = frozen(np.asarray(bias, np.float64).reshape(-1))
    return PoolLayer(node, frozen(cut), taps, channels, flat)


def input_rows(layer: PoolLayer, x: Array) -> Array:
    """Rows that a layer's output elements are computed from (im2col): float32 [N * positions, K].

    Args:
        layer: a Conv or Gemm.
        x: float32 [..., H, W, I], or [..., I] of a Gemm.
    """
    group = layer.weight.shape[2]
    spare = layer.taps[-1] * group - layer.channels
    x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, spare)])
    attrs = layer.node.attrs
    if not isinstance(attrs, ops.Conv):
        return x.reshape(-1, x.shape[-1])
    top, left, bottom, right = attrs.pads
    x = x.reshape(-1, *x.shape[-3:])
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    reach = tuple((k - 1) * d + 1 for k, d in zip(layer.taps[:2], attrs.dilations, strict=True))
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(1, 2))
    rows, cols = attrs.strides
    down, right_ = attrs.dilations
    picked = windows[:, ::rows, ::cols, :, ::down, ::right_]  # [N, OH, OW, I, KH, KW]
    return np.ascontiguousarray(picked.transpose(0, 1, 2, 4, 5, 3)).reshape(
        -1, math.prod(layer.taps) * group
    )


def sampled_rows(
    layer: PoolLayer, x: Array, samples: int, rng: np.random.Generator
) -> tuple[Array, Array | slice]:
    """Some of the rows that output elements are computed from, and the numbers of these elements.

    Args:
        layer: the layer.
        x: float32 [N, ...], its input for N of the calibration samples.
        samples: calibration samples in all: they share `MOST_ELEMENTS`.
        rng: picks the elements where there are too many.

    Returns:
        float32 [R, K], and the numbers [R] of the output elements, or all.
    """
    rows = input_rows(layer, x)
    most = max(MOST_ELEMENTS // (rows.shape[1] * samples), 1) * len(x)
    if len(rows) <= most:
        return rows, slice(None)
    picked = np.sort(rng.choice(len(rows), most, replace=False))
    return rows[picked], picked
