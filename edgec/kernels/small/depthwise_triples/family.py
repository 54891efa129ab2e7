"""Depthwise convolutions on Cortex-M cores without the DSP extension: three rows in two words."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.geometry import conv_window, is_depthwise
from edgec.kernels.common.layer_end import end_of, ends_in_requant31
from edgec.kernels.common.overlap import by_strips, out_bytes, with_ending
from edgec.kernels.common.params import Params
from edgec.kernels.common.short_product import product_of, with_product
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances, KernelFamily
from edgec.kernels.small.depthwise_triples.parts import parts
from edgec.kernels.small.depthwise_triples.spec import ROWS, DepthwiseTriples
from edgec.target.target import Target

_MOST_TAPS = 25
"""Windows of more taps would take too much code; their sums have room up to 63 taps
(`edgec/triples.h`)."""
_LARGEST_SIZE = 8192
"""Sizes that are no larger, and paddings that windows read, fit `edgec_triples_layer_t`."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution without a residual, one filter a channel, where SIMD is missing."""
    if not target.is_cortex_m or target.has_dsp or target.has_mve or not is_depthwise(graph, node):
        return False
    window, end = conv_window(graph, node), end_of(graph, node)
    if graph.shape(plain_inputs(node).w)[0] != window.channels or not _serves(window):
        return False
    adds = end.residual_shift is not None or (end.rescale16 is not None and end.rescale16.residual)
    return not adds and spec(graph, node, target).scratch_bytes <= target.scratch_limit_bytes


def _serves(window: Window) -> bool:
    some = window.pad_left < window.width + window.pad_left and window.out_height > 1
    reads = window.pad_left < (window.out_width - 1) * window.stride_w + window.kernel_w
    short = max(window.height, window.width, window.out_height, window.channels) <= _LARGEST_SIZE
    fits = 1 < window.taps <= _MOST_TAPS and short
    return window.dilation_w == 1 and fits and some and reads


def spec(graph: Graph, node: Node, target: Target) -> DepthwiseTriples:
    """The specification for a convolution that `accepts` accepts."""
    product = product_of(graph, node, target)
    end = with_product(end_of(graph, node), product)
    return DepthwiseTriples(
        conv_window(graph, node),
        end.shift,
        None,
        end.rescale16,
        end.exact31,
        saturates=ends_in_requant31(node, INT8_MIN, INT8_MAX),
        product=product,
    )


def overlap(spec: DepthwiseTriples) -> Distances:
    """Strips of three rows, in each of them channel by channel."""
    return with_ending(spec, by_strips(spec.window, out_bytes(spec), ROWS, 1))


def arguments(
    graph: Graph, node: Node, _spec: DepthwiseTriples, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights column by column."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        columns = weights.reshape(weights.shape[:3]).transpose(0, 2, 1)
        return np.ascontiguousarray(columns), bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


FAMILY = KernelFamily(
    spec_type=DepthwiseTriples,
    operators=CONVOLUTIONS,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
