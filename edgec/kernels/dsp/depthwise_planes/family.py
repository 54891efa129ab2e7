"""Depthwise convolutions of 3x3 windows on cores with the DSP extension: planes of int16."""

from __future__ import annotations

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.geometry import conv_window, is_depthwise
from edgec.kernels.common.layer_end import end_of, ends_in_requant31
from edgec.kernels.common.params import Params
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.depthwise_planes.parts import parts
from edgec.kernels.dsp.depthwise_planes.spec import DepthwisePlanes
from edgec.kernels.dsp.planes import PLANES, overlap
from edgec.kernels.family import KernelFamily
from edgec.target.target import Target

_TAPS = 3
_STRIDES = (1, 2)
_BY_ONE = (0, 1, 1, 2)
_BY_TWO = (0, 2, 1, 2)
"""The rows of a window in the order of `edgec/planes.h`."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution that `DepthwisePlanes` computes, on a core with DSP."""
    if not target.has_dsp or not is_depthwise(graph, node):
        return False
    window = conv_window(graph, node)
    one_filter = graph.shape(plain_inputs(node).w)[0] == window.channels
    found = spec(graph, node, target)
    small = found.scratch_bytes <= target.scratch_limit_bytes
    return one_filter and _serves(window) and small and not _adds(graph, node)


def _serves(window: Window) -> bool:
    square = (window.kernel_h, window.kernel_w) == (_TAPS, _TAPS)
    dense = (window.dilation_h, window.dilation_w) == (1, 1)
    return square and dense and window.stride_h in _STRIDES and window.channels >= PLANES


def _adds(graph: Graph, node: Node) -> bool:
    """A residual is read in the order of memory, outputs are not written so."""
    end = end_of(graph, node)
    return end.residual_shift is not None or (end.rescale16 is not None and end.rescale16.residual)


def spec(graph: Graph, node: Node, _target: Target) -> DepthwisePlanes:
    """The specification for a convolution that `accepts` accepts."""
    end = end_of(graph, node)
    return DepthwisePlanes(
        conv_window(graph, node),
        end.shift,
        end.rescale16,
        ends_in_requant31(node, INT8_MIN, INT8_MAX),
        exact31=end.exact31,
    )


def arguments(
    graph: Graph, node: Node, spec: DepthwisePlanes, pool: ConstantPool
) -> tuple[Params, ...]:
    """Columns of weights as words."""
    order = _BY_TWO if spec.goes_by_two else _BY_ONE

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        columns = weights.reshape(len(weights), _TAPS, _TAPS).swapaxes(1, 2)
        words = columns[:, :, order].copy()
        if spec.goes_by_two:
            # The third rows of the first two columns are one pair of a register.
            words[:, 0, 3] = columns[:, 1, 2]
        return words, bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


FAMILY = KernelFamily(
    spec_type=DepthwisePlanes,
    operators=CONVOLUTIONS,
    spec=spec,
    overlap=overlap,
    in_place=lambda spec: spec.is_whole,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
