"""Dense layers of int8 or int16 activations with the DSP extension."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import PAIRS, interleaved, padded_depth
from edgec.kernels.common.form_ends import TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, has_plain_c, typed_end
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

_SUM_BITS = 32
_PIXELS = 2
"""Pixels whose windows are gathered, and whose sums are computed together."""


_PART = 504
"""Activations of which sums have 32 bits whatever the weights: 511 products of 16 by 8 bits, and a
multiple of 8."""


_INT16 = TypedEnd(DType.INT16, DType.INT16)


@dataclass(frozen=True, slots=True)
class Dense2x2(LayerFunction):
    """A convolution of one group, two output pixels by two filters at a time.

    x [height, width, channels], weights int8 in the order of `edgec/dense/dense_2x2_s16_dsp.h`.

    Attributes:
        window: geometry.
        out_channels: filters.
        shift: right shift of `qops.Requant31`.
        typed: element types, INT8 or INT16, and end.
    """

    family: ClassVar[str] = "dense_2x2_s16_dsp"
    template: ClassVar[Path] = template_beside(__file__, "dense_2x2_s16_dsp")
    window: Window
    out_channels: int
    shift: int
    typed: TypedEnd = _INT16
    residual_shift: None = None
    rescale16: None = None

    @property
    def depth(self) -> int:
        """Activations of a gathered window, with those that fill up the last words."""
        return padded_depth(self.window.taps * self.window.channels)

    @property
    def clips(self) -> bool:
        """Some windows lie partly outside the image."""
        return self.window.rows_clipped or self.window.cols_clipped

    @property
    def part(self) -> int:
        """Activations that are summed up in 32 bits; of wider sums these are parts."""
        return self.depth if self.typed.sum_bits == _SUM_BITS else min(_PART, self.depth)

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
        kinds = f"{self.typed.x.value} {image} to {self.typed.y.value} {out}"
        return f"Convolution of {kinds}, {describe_window(w)}, two pixels by two filters"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group on a core with the DSP extension, with room for its windows."""
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    return spec(graph, node, target).scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, _target: Target) -> Dense2x2:
    """The specification for a layer that `accepts` accepts."""
    typed, filters = typed_end(graph, node), graph.shape(plain_inputs(node).w)[0]
    assert typed is not None
    return Dense2x2(dense_window(graph, node), filters, end_of(graph, node).shift, typed)


def overlap(spec: Dense2x2) -> Distances:
    """The windows of two output pixels are read before the two are written."""
    w = spec.window
    readers = w.last_readers()
    starts = np.where(readers < 0, -1, readers // _PIXELS * _PIXELS)
    written = spec.out_channels * spec.out_bytes
    return (max(pixel_distance(starts, written, w.channels * spec.x_dtype.size_bytes), 0),)


def arguments(graph: Graph, node: Node, _spec: Dense2x2, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters two by two, in words whose halves are pairs."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return np.ascontiguousarray(interleaved(weights)[..., PAIRS]), bias, multiplier

    return weighted_arguments(graph, node, pool, pack, folds=False)


def types(graph: Graph, node: Node) -> bool:
    """Layers that read or give int16."""
    return typed_end(graph, node) is not None and has_plain_c(graph, node)


FAMILY = KernelFamily(
    spec_type=Dense2x2,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=types,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
)
