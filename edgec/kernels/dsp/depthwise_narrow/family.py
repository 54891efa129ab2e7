"""Depthwise convolutions of 3x3 windows over images of few columns on cores with DSP."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.geometry import conv_window
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import with_ending
from edgec.kernels.common.params import Params
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.depthwise_narrow.spec import DepthwiseNarrow
from edgec.kernels.dsp.depthwise_planes import family as planes
from edgec.kernels.family import Distances, KernelFamily
from edgec.target.target import Target

_TAPS = 3
_ORDER = (0, 1, 1, 2)
"""The columns of a window in the order of `edgec/narrow.h`."""
_OUTPUTS = range(3, 7)
"""Columns of outputs whose sums, with all that they need, fit the registers."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution that `DepthwiseNarrow` computes, on a core with DSP."""
    if target.takes_few_kernels or not planes.accepts(graph, node, target):
        return False
    other = planes.spec(graph, node, target)
    if other.tile_kind is None or not _serves(other.window):
        return False
    return spec(graph, node, target).memory_bytes <= other.room


def _serves(window: Window) -> bool:
    if window.out_width not in _OUTPUTS or window.stride_h != window.stride_w:
        return False
    sizes = (window.height, window.width)
    out = (window.out_height, window.out_width)
    pads = (window.pad_top, window.pad_left)
    if window.stride_h == 1:
        return pads == (1, 1) and out == sizes
    if pads == (0, 0):
        return sizes == (2 * out[0], 2 * out[1])
    return pads == (1, 1) and out == (-(-sizes[0] // 2), -(-sizes[1] // 2))


def spec(graph: Graph, node: Node, _target: Target) -> DepthwiseNarrow:
    """The specification for a convolution that `accepts` accepts."""
    end = end_of(graph, node)
    return DepthwiseNarrow(conv_window(graph, node), end.shift, exact31=end.exact31)


def overlap(spec: DepthwiseNarrow) -> Distances:
    """Four channels of the whole image at a time, in its place where outputs lie as it does."""
    return with_ending(spec, None if spec.is_whole else spec.distance)


def arguments(
    graph: Graph, node: Node, _spec: DepthwiseNarrow, pool: ConstantPool
) -> tuple[Params, ...]:
    """Channels as a stream."""
    return stream_arguments(graph, node, pool)


def stream_arguments(graph: Graph, node: Node, pool: ConstantPool) -> tuple[Params, ...]:
    """Rows of weights as words, in one stream with the numbers of their channel."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        rows = weights.reshape(len(weights), _TAPS, _TAPS)
        return rows[:, :, _ORDER], bias, multiplier

    return weighted_arguments(graph, node, pool, pack, folds=False, stream=streamed)


def streamed(weights: Array, bias: Array, numbers: tuple[Array, ...]) -> Array:
    """Channels as `edgec/narrow.h` reads them.

    Args:
        weights: int8 [channels, 3, 4].
        bias: int32 [channels].
        numbers: int32 [channels] each.

    Returns:
        int8 [channels, bytes].
    """
    words = np.stack([bias, *numbers], axis=1).astype(np.int32)
    rows = np.ascontiguousarray(weights).reshape(len(weights), -1).view(np.int8)
    return np.concatenate([rows, words.view(np.int8)], axis=1)


FAMILY = KernelFamily(
    spec_type=DepthwiseNarrow,
    operators=CONVOLUTIONS,
    spec=spec,
    overlap=overlap,
    in_place=lambda spec: spec.is_whole,
    accepts=accepts,
    arguments=arguments,
)
