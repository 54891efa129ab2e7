"""Specification of the depthwise convolution in bands of six columns of outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.canonical import LATER
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.overlap import by_strips
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import template_beside

PLANES = 4
"""Channels whose planes are made together."""
BAND = 6
"""Columns of outputs whose sums are in registers together."""
LARGEST_WHOLE = 24
"""Most rows of an image of which planes hold all, so that outputs can take its place."""
_STRIP = 4
"""Rows of outputs made from one set of planes, where these do not hold the whole image."""
_WORD_BYTES = 4
_WEIGHTS_BYTES = 12
"""Weights of a channel in the stream of `edgec/bands.h`."""


@dataclass(frozen=True, slots=True)
class DepthwiseBands(LayerFunction):
    """Depthwise convolution of 3x3 taps, one filter a channel: `edgec/bands.h`.

    x int8 [height, width, channels], at least 4 channels; y [out_height, out_width, channels], of
    columns that are bands; the stream of the header.

    Attributes:
        window: 3x3 taps without dilation; strides of 1 with one pixel of padding around the image,
            or of 2 with one column after it and one row below it.
        shift: right shift with a multiplier of 31 bits.
        exact31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
    """

    family: ClassVar[str] = "depthwise_bands"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_bands")
    window: Window
    shift: int
    rescale16: None = None
    residual_shift: None = None
    exact31: Exact31 | None = field(default=None, metadata=LATER)

    @property
    def streams(self) -> bool:
        """The kernel takes all that its filters need in one stream."""
        return True

    @property
    def left(self) -> int:
        """1: windows begin outside the image."""
        return self.window.pad_left

    @property
    def rows(self) -> int:
        """Rows of the planes: the same for all layers of a stride, to share a function."""
        return 2 * _STRIP + 1 if self.window.stride_h > 1 else LARGEST_WHOLE + 2

    @property
    def strip(self) -> int:
        """Rows of outputs made from one set of planes."""
        rows = self.window.out_height
        return rows if self.is_whole else min(_STRIP, rows)

    @property
    def high_shift(self) -> int:
        """The shift after the high word of the product."""
        return self.shift - 32 if self.exact31 is None else self.exact31.shift

    @property
    def is_rounded(self) -> bool:
        """The high word is rounded."""
        return self.exact31 is not None or self.high_shift == 0

    @property
    def has_offsets(self) -> bool:
        """Each channel has an offset of its own."""
        return self.exact31 is not None

    @property
    def numbers_bytes(self) -> int:
        """Bytes of the stream for a channel: weights, bias, multiplier and offset."""
        return _WEIGHTS_BYTES + (3 if self.has_offsets else 2) * _WORD_BYTES

    @property
    def rows_name(self) -> str:
        """The end of the name of the function of all layers that have this form, in C."""
        end = "offsets" if self.has_offsets else "offset"
        return f"{end}_{self.window.stride_h}_{self.high_shift}"

    @property
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""
        return self.window.stride_h == 1

    @property
    def distance(self) -> int:
        """How far outputs lie before the image, if they do not take its place."""
        return max(by_strips(self.window, 1, self.strip, PLANES), 0)

    @property
    def memory_bytes(self) -> int:
        """The planes, and how far outputs lie before the image."""
        return self.scratch_bytes + (0 if self.is_whole else self.distance)

    @property
    def scratch_bytes(self) -> int:
        """The planes."""
        return (self.window.width // 2 + 1) * (PLANES * self.rows + 1) * _WORD_BYTES

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
        return f"Depthwise convolution {x} to {y}, {describe_window(w)}, six sums at a time"
