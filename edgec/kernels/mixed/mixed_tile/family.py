"""Dense layers of int8 or int16 activations with the DSP extension."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.dense_weights import interleaved, padded_depth
from edgec.kernels.common.geometry import image_window
from edgec.kernels.common.overlap import pixel_distance
from edgec.kernels.common.params import Params
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.mixed.layers import layer_params
from edgec.target.target import Target

_PIXELS = 2
"""Pixels whose windows are gathered, and whose sums are computed together."""
_PAIRS = (0, 2, 1, 3)
"""Order of the weights of a word: `edgec/mixed.h`."""


@dataclass(frozen=True, slots=True)
class MixedTile:
    """A convolution of one group, two output pixels by two filters at a time.

    x [height, width, channels], weights int8 in the order of `edgec/mixed.h`.

    Attributes:
        window: geometry.
        out_channels: filters.
        x, y: element types, INT8 or INT16.
        shift: right shift of the requantization.
    """

    family: ClassVar[str] = "mixed_tile"
    template: ClassVar[Path] = template_beside(__file__, "mixed_tile")
    window: Window
    out_channels: int
    x: DType
    y: DType
    shift: int

    @property
    def depth(self) -> int:
        """Activations of a gathered window, with those that fill up the last words."""
        return padded_depth(self.window.taps * self.window.channels)

    @property
    def clips(self) -> bool:
        """Some windows lie partly outside the image."""
        return self.window.rows_clipped or self.window.cols_clipped

    @property
    def is_wide(self) -> bool:
        """The activations are int16."""
        return self.x is DType.INT16

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return self.x.c_name

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return self.y.c_name

    @property
    def scratch_bytes(self) -> int:
        """The gathered windows."""
        return _PIXELS * self.depth * DType.INT16.size_bytes

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call, those of padding included."""
        w = self.window
        return w.out_pixels * self.out_channels * w.taps * w.channels

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        image = describe_image(w.height, w.width, w.channels)
        out = describe_image(w.out_height, w.out_width, self.out_channels)
        kinds = f"{self.x.value} {image} to {self.y.value} {out}"
        return f"Convolution of {kinds}, {describe_window(w)}, two pixels by two filters"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group on a core with the DSP extension, with room for its windows."""
    if not target.has_dsp or node.attrs_as(qops.QMixedConv).group != 1:
        return False
    return spec(graph, node, target).scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, _target: Target) -> MixedTile:
    """The specification for a QMixedConv that `accepts` accepts."""
    attrs = node.attrs_as(qops.QMixedConv)
    filters, height, width, _ = graph.shape(qops.QMixedConv.Inputs.of(node.inputs).w)
    window = image_window(graph, node, attrs, (height, width))
    kinds = graph.values[node.first].dtype, attrs.output.dtype
    return MixedTile(window, filters, *kinds, attrs.output.shift)


def overlap(spec: MixedTile) -> Distances:
    """The windows of two output pixels are read before the two are written."""
    w = spec.window
    readers = w.last_readers()
    starts = np.where(readers < 0, -1, readers // _PIXELS * _PIXELS)
    written = spec.out_channels * spec.y.size_bytes
    return (max(pixel_distance(starts, written, w.channels * spec.x.size_bytes), 0),)


def arguments(graph: Graph, node: Node, _spec: MixedTile, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters two by two, in words whose halves are pairs."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return np.ascontiguousarray(interleaved(weights)[..., _PAIRS]), bias, multiplier

    return (layer_params(graph, node, pool, pack),)


FAMILY = KernelFamily(
    spec_type=MixedTile,
    operators=(qops.QMixedConv,),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
)
