"""Families of depthwise convolutions whose channels are a stream
(`edgec/depthwise/by_channel_s8_dsp.h`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window, conv_window
from edgec.kernels.dsp import depthwise_3x3_s8_dsp as planes
from edgec.kernels.dsp.depthwise import DepthwiseByChannel, overlap
from edgec.kernels.family import KernelFamily
from edgec.target.target import Target

_TAPS = 3
_ORDER = (0, 1, 1, 2)
"""The columns of a window in the order of the stream."""
S = TypeVar("S", bound=DepthwiseByChannel)


def depthwise_family(
    spec_type: type[S], serves: Callable[[Window], bool], parts: Callable[[S, Run], Parts]
) -> KernelFamily[S]:
    """The record of a family whose channels are a stream.

    Args:
        spec_type: the class of its specifications.
        serves: whether its functions compute windows of this geometry, if planes of two by two
            outputs (`depthwise_3x3_s8_dsp`) do.
        parts: what runs in a call.
    """

    def spec(graph: Graph, node: Node, _target: Target) -> S:
        end = end_of(graph, node)
        return spec_type(conv_window(graph, node), end.shift, tflite31=end.tflite31)

    def accepts(graph: Graph, node: Node, target: Target) -> bool:
        if target.takes_few_kernels or not planes.accepts(graph, node, target):
            return False
        other = planes.spec(graph, node, target)
        if other.tile_kind is None or other.window.stride_h != other.window.stride_w:
            return False
        return serves(other.window) and spec(graph, node, target).memory_bytes <= other.room

    return KernelFamily(
        spec_type=spec_type,
        operators=CONVOLUTIONS,
        types=is_int8_layer,
        spec=spec,
        overlap=overlap,
        in_place=lambda spec: spec.is_whole,
        accepts=accepts,
        arguments=_arguments,
        parts=parts,
    )


def is_padded_by_one(window: Window) -> bool:
    """Stride 1 with one pixel of padding on every side: the output has the size of the image."""
    return (
        window.stride_h == 1
        and (window.pad_top, window.pad_left) == (1, 1)
        and (window.out_height, window.out_width) == (window.height, window.width)
    )


def is_halved(window: Window) -> bool:
    """Stride 2 without padding at top and left, on an image of even height and width."""
    return (
        window.stride_h == 2
        and (window.pad_top, window.pad_left) == (0, 0)
        and (window.height, window.width) == (2 * window.out_height, 2 * window.out_width)
    )


def _arguments(
    graph: Graph, node: Node, _spec: DepthwiseByChannel, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights of each channel, a word for each row, then the bias and multiplier of the channel."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        rows = weights.reshape(len(weights), _TAPS, _TAPS)
        return rows[:, :, _ORDER], bias, multiplier

    return weighted_arguments(graph, node, pool, pack, folds=False, stream=_streamed)


def _streamed(weights: Array, bias: Array, numbers: tuple[Array, ...]) -> Array:
    """Channels as `edgec/depthwise/by_channel_s8_dsp.h` reads them.

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
