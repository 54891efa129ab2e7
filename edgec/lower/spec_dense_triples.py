"""Specification of the dense kernel for Cortex-M cores without the DSP extension."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from edgec.lower.spec_base import describe_image, describe_window
from edgec.lower.spec_narrow import Narrow
from edgec.lower.window import Window

PIXELS = 3
"""Pixels whose sums are computed together (`edgec/triples.h`)."""
WORDS_BYTES = 8
"""Of the words of three activations, or of the three sums with one filter."""
STEPS = {2: 4, 4: 8}
"""Weights of a filter in one turn of the loop, by filters that are computed together."""


@dataclass(frozen=True, slots=True)
class DenseTriples:
    """Convolution of one group, or matrix product of several rows, three pixels at a time.

    x int8 [height, width, channels], weights as `dense_weights.by_column` gives them, y
    [out_height, out_width, out_channels].

    Attributes:
        window: geometry; of a matrix product, a 1x1 window over [1, rows, depth].
        out_channels: filters.
        filters: computed together, 2 or 4.
        segment: weights of a filter after which sums are taken out of their words.
        shift: of the requantization.
        residual_shift: of the addition at the end; None: there is no addition.
        narrow: as in `Conv2D`.
        variable: the rows of a run are an argument; only of matrix products.
    """

    family: ClassVar[str] = "dense_triples"
    window: Window
    out_channels: int
    filters: int
    segment: int
    shift: int
    residual_shift: int | None = None
    narrow: Narrow | None = None
    variable: bool = field(default=False, repr=False)

    @property
    def rows(self) -> int:
        """Pixels of y."""
        return self.window.out_pixels

    @property
    def depth(self) -> int:
        """Weights of one filter."""
        return self.window.taps * self.window.channels

    @property
    def padded_depth(self) -> int:
        """Weights of one filter as stored, a multiple of what a turn of the loop takes."""
        step = STEPS[self.filters]
        return -(-self.depth // step) * step

    @property
    def segments(self) -> int:
        """Parts of a sum."""
        return -(-self.padded_depth // self.segment)

    @property
    def is_product(self) -> bool:
        """The window of a pixel is the pixel."""
        return self.window.is_pointwise

    @property
    def run(self) -> int:
        """Activations of a window that lie in one piece: those of a row, or else of a pixel."""
        taps = self.window.kernel_w if self.window.columns_are_runs else 1
        return taps * self.window.channels

    @property
    def words_at(self) -> int:
        """Place of the words of sums in scratch, in bytes, behind those of activations."""
        return self.padded_depth * WORDS_BYTES

    @property
    def added_at(self) -> int:
        """Place of the residual of three pixels."""
        return self.words_at + self.segments * self.filters * WORDS_BYTES

    @property
    def runs_at(self) -> int:
        """Place of the runs of three pixels that are partly padding."""
        if self.narrow is not None and self.narrow.residual:
            return self.added_at + PIXELS * self.out_channels * self.narrow.out_bytes
        return self.added_at + (0 if self.residual_shift is None else PIXELS * self.out_channels)

    @property
    def clipped(self) -> bool:
        """Some window holds padding."""
        return self.window.rows_clipped or self.window.cols_clipped

    @property
    def scratch_bytes(self) -> int:
        """Words of three windows, of sums, a residual and padded runs."""
        return self.runs_at + (PIXELS * self.run if self.clipped else 0)

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.depth

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        return f"Convolution {x} to {y}, {describe_window(w)}, three pixels at a time"
