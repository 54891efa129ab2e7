"""Dense layers of int8 or int16 activations with the DSP extension."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import form_of, is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import PAIRS, interleaved, padded_depth
from edgec.kernels.common.layer_end import has_plain_c
from edgec.kernels.common.overlap import pixel_distance
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    weighted_arguments,
)
from edgec.kernels.common.window import Window, dense_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_PIXELS = 2
"""Pixels whose windows are gathered, and whose sums are computed together."""


@dataclass(frozen=True, slots=True)
class Dense2x2:
    """A convolution of one group, two output pixels by two filters at a time.

    x [height, width, channels], weights int8 in the order of `edgec/dense/dense_2x2_s16_dsp.h`.

    Attributes:
        window: geometry.
        out_channels: filters.
        x, y: element types, INT8 or INT16.
        shift: right shift of the requantization.
    """

    family: ClassVar[str] = "dense_2x2_s16_dsp"
    template: ClassVar[Path] = template_beside(__file__, "dense_2x2_s16_dsp")
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
        """Text about the function, for its comment."""
        w = self.window
        image = describe_image(w.height, w.width, w.channels)
        out = describe_image(w.out_height, w.out_width, self.out_channels)
        kinds = f"{self.x.value} {image} to {self.y.value} {out}"
        return f"Convolution of {kinds}, {describe_window(w)}, two pixels by two filters"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group on a core with the DSP extension, with room for its windows."""
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    return spec(graph, node, target).scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, _target: Target) -> Dense2x2:
    """The specification for a layer that `accepts` accepts."""
    inputs, form = plain_inputs(node), form_of(node.attrs)
    assert isinstance(form, qops.Requant31)
    kinds = graph.tensor(inputs.x).dtype, form.dtype
    filters = graph.shape(inputs.w)[0]
    return Dense2x2(dense_window(graph, node), filters, *kinds, form.shift)


def overlap(spec: Dense2x2) -> Distances:
    """The windows of two output pixels are read before the two are written."""
    w = spec.window
    readers = w.last_readers()
    starts = np.where(readers < 0, -1, readers // _PIXELS * _PIXELS)
    written = spec.out_channels * spec.y.size_bytes
    return (max(pixel_distance(starts, written, w.channels * spec.x.size_bytes), 0),)


def arguments(graph: Graph, node: Node, _spec: Dense2x2, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters two by two, in words whose halves are pairs."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return np.ascontiguousarray(interleaved(weights)[..., PAIRS]), bias, multiplier

    return weighted_arguments(graph, node, pool, pack, folds=False)


def types(graph: Graph, node: Node) -> bool:
    """Layers that read or give int16."""
    requantized = isinstance(form_of(node.attrs), qops.Requant31) and has_plain_c(graph, node)
    return requantized and not is_int8_layer(graph, node)


FAMILY = KernelFamily(
    spec_type=Dense2x2,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=types,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
)
