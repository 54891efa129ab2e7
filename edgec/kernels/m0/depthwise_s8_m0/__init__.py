"""Depthwise convolutions on Cortex-M cores without the DSP extension: three rows in two words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.depthwise import DepthwiseFunction
from edgec.kernels.common.form_ends import Rescale16, Tflite31
from edgec.kernels.common.layer_end import end_of, ends_in_requant31
from edgec.kernels.common.overlap import by_strips, with_ending
from edgec.kernels.common.parts import Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.short_product import ANY, ShortProduct, product_of, with_product
from edgec.kernels.common.spec import shared_name
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import Window, conv_window, is_depthwise
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

ROWS = 3
"""Rows of outputs that are computed together (`edgec/depthwise/depthwise_s8_m0.h`)."""

_FIVE_ROWS = 5
_HEADER_TAPS = 9
_WORD_BYTES = 4
_PAIR = 2
"""Words that three activations take."""


@dataclass(frozen=True, slots=True)
class DepthwiseM0(DepthwiseFunction):
    """Depthwise convolution, one filter a channel: `edgec/depthwise/depthwise_s8_m0.h`.

    x int8 [height, width, channels]; weights int8 [channels, kernel_w, kernel_h]; y [out_height,
    out_width, channels].

    Attributes:
        window: any, with columns beside each other.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: None: nothing is added at the end.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        saturates: the bounds after a multiplier of 31 bits are those of int8.
        product: how a sum is multiplied by a multiplier of 31 bits.
    """

    family: ClassVar[str] = "depthwise_s8_m0"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_s8_m0")
    manner: ClassVar[str] = ", three rows at a time"
    window: Window
    shift: int
    residual_shift: None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    saturates: bool = field(default=False, kw_only=True)
    product: ShortProduct = field(default=ANY, kw_only=True)

    @property
    def columns(self) -> int:
        """Columns that the windows of a row read, padding included."""
        return (self.window.out_width - 1) * self.window.stride_w + self.window.kernel_w

    @property
    def inside(self) -> int:
        """Columns of the image that windows read."""
        return min(self.window.width, self.columns - self.window.pad_left)

    @property
    def right(self) -> int:
        """Columns of padding after the image."""
        return self.columns - self.window.pad_left - self.inside

    @property
    def column_words(self) -> int:
        """Words from one column to the next."""
        return _PAIR * self.window.kernel_h

    @property
    def step_words(self) -> int:
        """Words from the window of an output to that of the next one."""
        return self.window.stride_w * self.column_words

    @property
    def five_rows(self) -> bool:
        """Three outputs read five rows, each next to the one before."""
        w = self.window
        return (w.kernel_h, w.stride_h, w.dilation_h) == (3, 1, 1)

    @property
    def whole_strips(self) -> int:
        """Strips of three rows that read five rows, all of them inside the image."""
        if not self.five_rows:
            return 0
        w = self.window
        tops = range(0, w.out_height - ROWS + 1, ROWS)
        return sum(0 <= top - w.pad_top < w.height - _FIVE_ROWS + 1 for top in tops)

    @property
    def function(self) -> str:
        """Name of the C function of all layers that differ in the sizes of images only."""
        sizes = ("height", "width", "channels", "out_height", "out_width", "pad_top", "pad_left")
        window = replace(self.window, **dict.fromkeys(sizes, 0))
        return shared_name("edgec_depthwise_m0", replace(self, window=window))

    @property
    def defines_sums(self) -> bool:
        """The function of products for this number of taps is not in the header."""
        return self.window.taps != _HEADER_TAPS

    @property
    def bounds(self) -> str:
        """The bounds of outputs after a multiplier of 31 bits, in C."""
        return "INT8_MIN, INT8_MAX" if self.saturates else "p.act_min, p.act_max"

    @property
    def scratch_bytes(self) -> int:
        """The words of three rows."""
        return self.columns * self.column_words * _WORD_BYTES


_CODE_BYTES = 900


def parts(spec: DepthwiseM0, _run: Run) -> Parts | None:
    """Counts of a call that ends in a multiplier of 31 bits; None for another end."""
    if spec.rescale16 is not None:
        return None
    w = spec.window
    strips = -(-w.out_height // ROWS)
    planes, five = strips * w.channels, spec.whole_strips * w.channels
    triples, rows = planes * w.out_width, (planes - five) * w.kernel_h
    counts: dict[str, float] = {
        "call": 1,
        "strip": strips,
        "plane": planes,
        "plane of five rows": five,
        "column of five rows": five * spec.inside,
        "three rows": rows,
        "column of three rows": rows * spec.inside,
        "column of padding": planes * w.kernel_h * (spec.columns - spec.inside),
    }
    if spec.defines_sums:
        counts |= {"triple": triples, "tap of a triple": triples * w.taps}
    else:
        counts["triple of 3x3 taps"] = triples
    return Parts(
        counts, _CODE_BYTES, WeightReads(w.channels * w.taps, strips, numbers_of(w.channels))
    )


_MOST_TAPS = 25
"""Windows of more taps would take too much code; their sums have room up to 63 taps
(`edgec/depthwise/depthwise_s8_m0.h`)."""
_LARGEST_SIZE = 8192
"""Sizes that are no larger, and paddings that windows read, fit `edgec_depthwise_m0_layer_t`."""


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


def spec(graph: Graph, node: Node, target: Target) -> DepthwiseM0:
    """The specification for a convolution that `accepts` accepts."""
    product = product_of(graph, node, target)
    end = with_product(end_of(graph, node), product)
    return DepthwiseM0(
        conv_window(graph, node),
        end.shift,
        None,
        end.rescale16,
        end.tflite31,
        saturates=ends_in_requant31(node, INT8_MIN, INT8_MAX),
        product=product,
    )


def overlap(spec: DepthwiseM0) -> Distances:
    """Strips of three rows, in each of them channel by channel."""
    return with_ending(spec, by_strips(spec.window, spec.out_bytes, ROWS, 1))


def arguments(
    graph: Graph, node: Node, _spec: DepthwiseM0, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights column by column."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        columns = weights.reshape(weights.shape[:3]).transpose(0, 2, 1)
        return np.ascontiguousarray(columns), bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


FAMILY = KernelFamily(
    spec_type=DepthwiseM0,
    operators=CONVOLUTIONS,
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
