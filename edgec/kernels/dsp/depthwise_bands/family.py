"""Depthwise convolutions of 3x3 windows over images of many columns on cores with DSP."""

from __future__ import annotations

from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.geometry import conv_window
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import with_ending
from edgec.kernels.common.params import Params
from edgec.kernels.common.weighted import CONVOLUTIONS
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.depthwise_bands.spec import BAND, LARGEST_WHOLE, DepthwiseBands
from edgec.kernels.dsp.depthwise_narrow import family as narrow
from edgec.kernels.dsp.depthwise_planes import family as planes
from edgec.kernels.family import Distances, KernelFamily
from edgec.target.target import Target

_LEAST_BANDS = 2


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution that `DepthwiseBands` computes, on a core with DSP."""
    if target.takes_few_kernels or not planes.accepts(graph, node, target):
        return False
    other = planes.spec(graph, node, target)
    if other.tile_kind is None or not _serves(other.window):
        return False
    return spec(graph, node, target).memory_bytes <= other.room


def _serves(window: Window) -> bool:
    bands, rest = divmod(window.out_width, BAND)
    if rest or bands < _LEAST_BANDS or window.stride_h != window.stride_w:
        return False
    sizes = (window.height, window.width)
    out = (window.out_height, window.out_width)
    pads = (window.pad_top, window.pad_left)
    if window.stride_h == 1:
        return pads == (1, 1) and out == sizes and window.height <= LARGEST_WHOLE
    return pads == (0, 0) and sizes == (2 * out[0], 2 * out[1])


def spec(graph: Graph, node: Node, _target: Target) -> DepthwiseBands:
    """The specification for a convolution that `accepts` accepts."""
    end = end_of(graph, node)
    return DepthwiseBands(conv_window(graph, node), end.shift, exact31=end.exact31)


def overlap(spec: DepthwiseBands) -> Distances:
    """Strips of rows, in each of them four channels at a time; or the whole image in place."""
    return with_ending(spec, None if spec.is_whole else spec.distance)


def arguments(
    graph: Graph, node: Node, _spec: DepthwiseBands, pool: ConstantPool
) -> tuple[Params, ...]:
    """The stream that narrow images have."""
    return narrow.stream_arguments(graph, node, pool)


FAMILY = KernelFamily(
    spec_type=DepthwiseBands,
    operators=CONVOLUTIONS,
    spec=spec,
    overlap=overlap,
    in_place=lambda spec: spec.is_whole,
    accepts=accepts,
    arguments=arguments,
)
