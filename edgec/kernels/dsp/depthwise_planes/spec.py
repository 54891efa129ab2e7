"""Specification of the depthwise convolution on planes of int16."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.canonical import LATER
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.overlap import by_strips, out_bytes
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.planes import PLANES, PlanesFunction
from edgec.kernels.family import template_beside

_STRIP = 4
"""Most rows of outputs made from one set of planes, where these do not hold the whole image.

Each strip takes two rows of the image apart once more, and keeps the output as far from the input
as it has rows.  It is even, since rows are computed two by two.
"""
_WHOLE_PAIRS = (_STRIP // 2 + 1, 8, 15)
"""Pairs of rows of planes that may hold a whole image: few, so that layers share a function, and no
more than the 255 bytes allow by which a load moves its base on (`edgec/planes_tile.h`)."""
_GROWTH = 8
"""The part of the image that planes of all rows may take beyond what strips need."""
_HIGH_SHIFTS = range(32, 55)
"""With these shifts the high word of a product is enough."""
_PAIR_BYTES = 4
_LARGEST_SIZE = 8192
"""Sizes that are no larger, and paddings that windows read, fit `edgec_planes_layer_t`."""


@dataclass(frozen=True, slots=True)
class DepthwisePlanes(PlanesFunction):
    """Depthwise convolution of 3x3 taps, one filter a channel: `edgec/planes.h`.

    x int8 [height, width, channels], at least 4 channels; weights int8 [channels, 3 columns, 4], in
    the order that the header states; y [out_height, out_width, channels].

    Attributes:
        window: 3x3 taps without dilation; rows a stride of 1 or 2.
        shift: right shift with a multiplier of 31 bits.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        saturates: the bounds after a multiplier of 31 bits are those of int8.
        residual_shift: None: nothing is added at the end.
        exact31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
    """

    family: ClassVar[str] = "depthwise_planes"
    template: ClassVar[Path] = template_beside(__file__, "depthwise_planes")
    manner: ClassVar[str] = ", four channels at a time"
    window: Window
    shift: int
    rescale16: Rescale16 | None = None
    saturates: bool = False
    residual_shift: None = None
    exact31: Exact31 | None = field(default=None, metadata=LATER)

    @property
    def goes_by_two(self) -> bool:
        """Windows go down by two rows."""
        return self.window.stride_h == 2

    @property
    def rows_together(self) -> int:
        """Rows of outputs that read the same pairs of rows."""
        return 1 if self.goes_by_two else 2

    @property
    def columns(self) -> int:
        """Columns that the windows of a row read, padding included."""
        return (self.window.out_width - 1) * self.window.stride_w + self.window.kernel_w

    @property
    def left(self) -> int:
        """Columns of padding before the image."""
        return min(self.window.pad_left, self.columns)

    @property
    def inside(self) -> int:
        """Columns of the image that windows read."""
        return min(self.window.width, self.columns - self.left)

    @property
    def strip_pairs(self) -> int:
        """Pairs of rows in the planes of a strip: the same for all layers, to share a function."""
        return _STRIP + 1 if self.goes_by_two else _STRIP // 2 + 1

    @property
    def whole_pairs(self) -> int | None:
        """Pairs of rows in planes of the whole image, where outputs can take its place.

        They can if they lie as the image does: then the outputs of four channels lie where only
        these four have been.  None: they cannot, or planes would be too large.
        """
        w = self.window
        alike = (w.height, w.width, 1, 1) == (w.out_height, w.out_width, w.stride_h, w.stride_w)
        if not alike or out_bytes(self) > 1:
            return None
        # The rows that an even number of outputs reads.
        needed = (w.out_height + w.out_height % 2 + w.kernel_h - 1) // 2
        pairs = next((n for n in _WHOLE_PAIRS if n >= needed), None)
        return None if pairs is None or self._planes_bytes(pairs) > self.room else pairs

    @property
    def room(self) -> int:
        """Bytes that planes of all rows may take, and the distance of outputs from the image.

        That is what strips need of both, and a part of the image.
        """
        w = self.window
        in_strips = self._planes_bytes(self.strip_pairs) + self.distance
        return in_strips + w.height * w.width * w.channels // _GROWTH

    @property
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""
        return self.whole_pairs is not None

    @property
    def pairs(self) -> int:
        """Pairs of rows in a set of planes."""
        return self.strip_pairs if self.whole_pairs is None else self.whole_pairs

    @property
    def distance(self) -> int:
        """How far outputs made in strips lie before the image."""
        strip = min(_STRIP, self.window.out_height)
        return max(by_strips(self.window, out_bytes(self), strip, PLANES), 0)

    @property
    def tile_kind(self) -> str | None:
        """How `edgec/planes_tile.h` makes codes: with one "offset" or with "offsets", or not."""
        w = self.window
        if w.stride_h != w.stride_w or w.out_width < 2 or self.rescale16 is not None:
            return None
        if max(w.height, w.width, w.channels, w.out_height, w.out_width) > _LARGEST_SIZE:
            return None
        if self.exact31 is not None:
            fits = self.exact31.end == "offset31" and self.exact31.saturates
            return "offsets" if fits else None
        return "offset" if self.saturates and self.shift in _HIGH_SHIFTS else None

    @property
    def offset_step(self) -> int:
        """Bytes from the offset of a channel to the next."""
        return 4 if self.tile_kind == "offsets" else 0

    @property
    def tile_name(self) -> str:
        """The end of the name of the function of all layers that end alike, in C."""
        return f"{self.tile_kind}_{self.window.stride_h}_{self.pairs}_{self.high_shift}"

    @property
    def bounds(self) -> str:
        """The bounds of outputs after a multiplier of 31 bits, in C."""
        return "INT8_MIN, INT8_MAX" if self.saturates else "p.act_min, p.act_max"

    @property
    def strip(self) -> int:
        """Rows of outputs made from one set of planes."""
        rows = self.window.out_height
        return rows if self.is_whole else min(_STRIP, rows)

    @property
    def taps(self) -> tuple[int, ...]:
        """The columns of the window."""
        return tuple(range(self.window.kernel_w))

    @property
    def scratch_bytes(self) -> int:
        """The planes."""
        return self._planes_bytes(self.pairs)

    def _planes_bytes(self, pairs: int) -> int:
        return PLANES * self.columns * pairs * _PAIR_BYTES
