"""Depthwise convolutions of int16 of windows of any size on cores with the DSP extension.

The function is that of `edgec.kernels.dsp.depthwise_s8_dsp`, whose planes hold int16 as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import form_of
from edgec.kernels.common.form_ends import TypedEnd
from edgec.kernels.common.layer_end import end_of, typed_end
from edgec.kernels.common.weighted import CONVOLUTIONS
from edgec.kernels.common.window import conv_window, is_depthwise
from edgec.kernels.dsp.depthwise import HIGH_SHIFTS
from edgec.kernels.dsp.depthwise_s8_dsp import (
    DepthwiseDsp,
    arguments,
    filters_of,
    overlap,
    parts,
    serves,
)
from edgec.kernels.family import KernelFamily
from edgec.target.target import Target

_LOWS: Mapping[int, str] = MappingProxyType({0: "0", -INT16_MAX: "even", INT16_MIN: "all"})
"""Least codes of which the function has an end, and their names in C; the largest is 32767."""
_WORD_BITS = 32
_LEAST_MACS = 64
"""Multiply-accumulates of a channel from which on its planes are worth making: they take about 200
cycles, and plain C five to eight cycles for each product."""
_INT16 = TypedEnd(DType.INT16, DType.INT16)


@dataclass(frozen=True, slots=True)
class DepthwiseS16(DepthwiseDsp):
    """Depthwise convolution of any window: `edgec/depthwise/depthwise_s8_dsp.h`.

    x int16 [height, width, channels], at least 4 channels; y int16 [out_height, out_width,
    channels * filters]; sums have 32 bits.

    Attributes:
        window: with strides of 1 or 2 and no dilation along the rows of `laid`.
        shift: right shift with a multiplier of 31 bits.
        typed: element types and end, one multiplier of 31 bits or the high word of `qops.Once15`.
        low: the least code of outputs, one of 0, -32767 and -32768.
    """

    family: ClassVar[str] = "depthwise_s16_dsp"
    element_bytes: ClassVar[int] = 2
    unpack: ClassVar[str] = "edgec_depthwise_dsp_unpack_s16"
    typed: TypedEnd = field(default=_INT16, metadata=LATER)
    low: int = field(default=-INT16_MAX, metadata=LATER)

    @property
    def kind(self) -> str:
        """Numbers of outputs: one "offset", or "once", with shifts, by channel."""
        return "once" if self.typed.has_shifts else "offset"

    @property
    def high_shift(self) -> int:
        """The shift after the high word of the product, the last one of shifts by channel."""
        return 1 if self.typed.has_shifts else self.shift - _WORD_BITS

    @property
    def type_name(self) -> str:
        """End of C names that says which codes the outputs are."""
        return f"_s16_{_LOWS[self.low]}"


def types(graph: Graph, node: Node) -> bool:
    """Layers that read and give int16 with sums of 32 bits, in a form that a high word serves."""
    form, typed = form_of(node.attrs), typed_end(graph, node)
    wide = typed is not None and (typed.x, typed.y, typed.sum_bits) == (
        DType.INT16,
        DType.INT16,
        32,
    )
    return wide and (isinstance(form, qops.Requant31) or (typed is not None and typed.from_high))


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A depthwise convolution that `DepthwiseS16` computes, on a core with DSP."""
    if not target.has_dsp or target.takes_few_kernels or not is_depthwise(graph, node):
        return False
    window, form = conv_window(graph, node), form_of(node.attrs)
    assert isinstance(form, qops.Requant31 | qops.Once15)
    ends = form.low in _LOWS and form.high == INT16_MAX
    ends = ends and (isinstance(form, qops.Once15) or form.shift in HIGH_SHIFTS)
    many = window.out_pixels * window.taps * filters_of(graph, node) >= _LEAST_MACS
    if not (ends and many and serves(window)):
        return False
    return spec(graph, node, target).scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, _target: Target) -> DepthwiseS16:
    """The specification for a convolution that `accepts` accepts."""
    form, typed = form_of(node.attrs), typed_end(graph, node)
    assert typed is not None
    assert isinstance(form, qops.Requant31 | qops.Once15)
    window, filters = conv_window(graph, node), filters_of(graph, node)
    shift = end_of(graph, node).shift
    return DepthwiseS16(window, shift, filters=filters, typed=typed, low=form.low)


FAMILY = KernelFamily(
    spec_type=DepthwiseS16,
    operators=CONVOLUTIONS,
    types=types,
    spec=spec,
    overlap=overlap,
    in_place=lambda spec: spec.is_whole,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
