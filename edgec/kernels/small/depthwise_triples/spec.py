"""Specification of the depthwise convolution of three rows in two words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from edgec.base.canonical import LATER
from edgec.kernels.common.depthwise import DepthwiseFunction
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.shared import shared_name
from edgec.kernels.common.short_product import ANY, ShortProduct
from edgec.kernels.common.window import Window
from edgec.kernels.family import template_beside

ROWS = 3
"""Rows of outputs that are computed together (`edgec/triples.h`)."""

_HEADER_TAPS = 9
_WORD_BYTES = 4
_PAIR = 2
"""Words that three activations take."""


@dataclass(frozen=True, slots=True)
class DepthwiseTriples(DepthwiseFunction):
    """Depthwise convolution, one filter a channel: `edgec/triples.h`.

    x int8 [height, width, channels]; weights int8 [channels, kernel_w, kernel_h]; y [out_height,
    out_width, channels].

    Attributes:
        window: any, with columns beside each other.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: None: nothing is added at the end.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        exact31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        saturates: the bounds after a multiplier of 31 bits are those of int8.
        product: how a sum is multiplied by a multiplier of 31 bits.
    """

    family: ClassVar[str] = "depthwise_triples"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_triples")
    manner: ClassVar[str] = ", three rows at a time"
    window: Window
    shift: int
    residual_shift: None = None
    rescale16: Rescale16 | None = None
    exact31: Exact31 | None = field(default=None, metadata=LATER)
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
    def function(self) -> str:
        """Name of the C function of all layers that differ in the sizes of images only."""
        sizes = ("height", "width", "channels", "out_height", "out_width", "pad_top", "pad_left")
        window = replace(self.window, **dict.fromkeys(sizes, 0))
        return shared_name("edgec_triples", replace(self, window=window))

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
