"""Depthwise convolution of windows of one pixel in plain C: each channel has its own factor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import accumulator_range
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, has_plain_c, typed_end
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_bytes, with_ending
from edgec.kernels.common.spec import Loop
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.common.window import conv_window, is_depthwise
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_WORD = 32
"""Shift of the upper half of a product, which one instruction gives."""
_LIFTED = ("requant31", "requant31_s8", "requant31_s16")


@dataclass(frozen=True, slots=True)
class ChannelScale(LayerFunction):
    """Product of each channel with its weight.

    x, y int8 or int16 [pixels, channels], weights int8 [channels].

    Attributes:
        pixels, channels: shapes.
        shift: right shift with a multiplier of 31 bits.
        lift: 2^lift times the sum is what is multiplied; `shift` counts that, too.
        variable: the pixels of a run are an argument.
    """

    family: ClassVar[str] = "channel_scale"
    scratch_name: ClassVar[str | None] = None
    template: ClassVar[Path] = template_beside(__file__, "channel_scale")
    pixels: int
    channels: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    typed: TypedEnd | None = field(default=None, metadata=LATER)
    lift: int = 0
    variable: bool = False

    def run_parameters(self) -> tuple[str, ...]:
        """The pixels of a run, where they vary."""
        return ("int32_t pixels",) if self.variable else ()

    @property
    def factor(self) -> int:
        """The factor of a sum."""
        return 1 << self.lift

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.pixels * self.channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements

    def describe(self) -> str:
        """Operator and shape in words, for a comment in C."""
        return f"Factors of channels [{self.pixels}, {self.channels}]"


def accepts(graph: Graph, node: Node, _target: Target) -> bool:
    """A depthwise convolution of one filter a channel, whose windows are the pixels."""
    if not is_depthwise(graph, node):
        return False
    window = conv_window(graph, node)
    one = window.taps == 1 and graph.shape(node.output)[3] == window.channels
    return one and (window.out_height, window.out_width) == (window.height, window.width)


def spec(graph: Graph, node: Node, _target: Target) -> ChannelScale:
    """The specification for a convolution that `accepts` accepts."""
    window = conv_window(graph, node)
    found = ChannelScale(
        window.out_pixels, window.channels, *end_of(graph, node), typed=typed_end(graph, node)
    )
    lift = _WORD - found.shift
    if found.end not in _LIFTED or lift <= 0 or not _has_room(graph, node, lift):
        return found
    return replace(found, shift=_WORD, lift=lift)


def _has_room(graph: Graph, node: Node, lift: int) -> bool:
    """Whether sums with more bits below fit 32 bits."""
    most = max(float(np.abs(end).max()) for end in accumulator_range(graph, node))
    return most * 2.0**lift <= INT32_MAX


def overlap(spec: ChannelScale) -> Distances:
    """Elements are read in the order in which they are written."""
    loops = (Loop(spec.out_elements, (1,)),)
    own = by_bytes(loops, 0, spec.x_dtype.size_bytes, spec.y_dtype.size_bytes)
    return with_ending(spec, own)


def arguments(
    graph: Graph, node: Node, _spec: ChannelScale, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights as the graph has them."""
    return weighted_arguments(graph, node, pool)


FAMILY = KernelFamily(
    spec_type=ChannelScale,
    operators=CONVOLUTIONS,
    types=has_plain_c,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    lengths=Counted("pixels"),
)
