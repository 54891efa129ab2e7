"""Specification of the depthwise convolution on planes of int16."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.canonical import LATER
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import template_beside

PLANES = 4
"""Channels whose planes are made together."""

_STRIP = 4
"""Most rows of outputs made from one set of planes.

Each strip takes two rows of the image apart once more, and keeps the output as far from the input
as it has rows.
"""
_PAIR_BYTES = 4


@dataclass(frozen=True, slots=True)
class DepthwisePlanes(LayerFunction):
    """Depthwise convolution of 3x3 taps, one filter a channel: `edgec/planes.h`.

    x int8 [height, width, channels], at least 4 channels; weights int8 [channels, 3, 4], zero
    after each third; y [out_height, out_width, channels].

    Attributes:
        window: 3x3 taps without dilation; columns a stride of 1 or 2.
        shift: right shift with a multiplier of 31 bits.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        saturates: the bounds after a multiplier of 31 bits are those of int8.
        residual_shift: None: nothing is added at the end.
        exact31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
    """

    family: ClassVar[str] = "depthwise_planes"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_planes")
    window: Window
    shift: int
    rescale16: Rescale16 | None = None
    saturates: bool = False
    residual_shift: None = None
    exact31: Exact31 | None = field(default=None, metadata=LATER)

    @property
    def strides_by_two(self) -> bool:
        """Each word of a plane holds the first columns of one window, not of two."""
        return self.window.stride_w == 2

    @property
    def pairs(self) -> int:
        """Pairs of columns in a row of a plane."""
        outputs = self.window.out_width
        return (outputs if self.strides_by_two else -(-outputs // 2)) + 1

    @property
    def row(self) -> str:
        """How a row of outputs is computed.

        Returns:
            "single": one by one; "pairs": two at a time; "pairs_and_last": and one that is left.
        """
        if self.strides_by_two:
            return "single"
        return "pairs_and_last" if self.window.out_width % 2 else "pairs"

    @property
    def bounds(self) -> str:
        """The bounds of outputs after a multiplier of 31 bits, in C."""
        return "INT8_MIN, INT8_MAX" if self.saturates else "p.act_min, p.act_max"

    @property
    def strip(self) -> int:
        """Rows of outputs made from one set of planes."""
        strips = -(-self.window.out_height // _STRIP)
        return -(-self.window.out_height // strips)

    @property
    def strip_rows(self) -> int:
        """Rows of the image in a set of planes."""
        return (self.strip - 1) * self.window.stride_h + self.window.kernel_h

    @property
    def plane_words(self) -> int:
        """Words of a plane."""
        return self.strip_rows * self.pairs

    @property
    def row_step(self) -> int:
        """Words of a plane from the window of an output to that of the next row."""
        return self.window.stride_h * self.pairs

    @property
    def taps(self) -> tuple[int, ...]:
        """The rows of the window."""
        return tuple(range(self.window.kernel_h))

    @property
    def scratch_bytes(self) -> int:
        """The planes."""
        return PLANES * self.plane_words * _PAIR_BYTES

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.window.channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call, those of padding included."""
        return self.out_elements * self.window.taps

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, w.channels)
        return f"Depthwise convolution {x} to {y}, {describe_window(w)}, four channels at a time"
