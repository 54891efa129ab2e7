"""Specification of the depthwise convolution over images of few columns."""

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
_WORD_BYTES = 4
_WEIGHTS_BYTES = 12
"""Weights of a channel in the stream of `edgec/narrow.h`."""


@dataclass(frozen=True, slots=True)
class DepthwiseNarrow(LayerFunction):
    """Depthwise convolution of 3x3 taps, one filter a channel: `edgec/narrow.h`.

    x int8 [height, width, channels], at least 4 channels; y [out_height, out_width, channels], of
    3 to 6 columns; the stream of the header.

    Attributes:
        window: 3x3 taps without dilation; strides of 1 with one pixel of padding around the image,
            or of 2 with one or no column before it and as many rows above it.
        shift: right shift with a multiplier of 31 bits.
        exact31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
    """

    family: ClassVar[str] = "depthwise_narrow"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_narrow")
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
    def outputs(self) -> int:
        """Columns of outputs."""
        return self.window.out_width

    @property
    def words(self) -> int:
        """Pairs of pixels of a row."""
        return -(-self.window.width // 2)

    @property
    def odd(self) -> int:
        """1: the last of these pairs has one pixel."""
        return self.window.width % 2

    @property
    def left(self) -> int:
        """1: windows begin outside the image."""
        return self.window.pad_left

    @property
    def below(self) -> int:
        """1: the last windows end one row below the image."""
        w = self.window
        last = (w.out_height - 1) * w.stride_h - w.pad_top + w.kernel_h - 1
        return int(last >= w.height)

    @property
    def length(self) -> int:
        """Bytes in the planes from where the first windows begin to the last ones."""
        return (self.window.out_height - 1) * self.window.stride_h * self._row_bytes

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
    def take_name(self) -> str:
        """The end of the name of the function that takes images of this width apart, in C."""
        return str(self.window.width)

    @property
    def rows_name(self) -> str:
        """The end of the name of the function of all layers that have this form, in C."""
        w = self.window
        end = "offsets" if self.has_offsets else "offset"
        form = f"{w.stride_h}_{self.left}_{self.outputs}_{self.below}"
        return f"{end}_{form}_{self.high_shift}"

    @property
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""
        return self.window.stride_h == 1

    @property
    def distance(self) -> int:
        """How far outputs lie before the image, if they do not take its place."""
        return max(by_strips(self.window, 1, self.window.out_height, PLANES), 0)

    @property
    def scratch_bytes(self) -> int:
        """The planes."""
        return self.window.height * self._row_bytes

    @property
    def memory_bytes(self) -> int:
        """The planes, and how far outputs lie before the image."""
        return self.scratch_bytes + (0 if self.is_whole else self.distance)

    @property
    def _row_bytes(self) -> int:
        return PLANES * self.words * _WORD_BYTES

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
        return f"Depthwise convolution {x} to {y}, {describe_window(w)}, a row of sums at a time"
