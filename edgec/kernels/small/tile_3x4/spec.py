"""Specification of the dense kernel for Cortex-M cores without the DSP extension."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.kernels.common.dense import Dense
from edgec.kernels.common.short_product import ANY, ShortProduct
from edgec.kernels.family import template_beside

ROWS = 3
"""Rows of x whose sums are computed together (`edgec/tile_3x4.h`)."""

WORDS_BYTES = 8
"""Bytes that three activations take, or the three sums with one filter."""

_PAIR = 2
"""Words that three activations take, or three sums."""

_BATCH = 32
"""Most filters whose sums wait in scratch memory, 8 bytes each and segment."""

STEPS = {2: 4, 4: 8}
"""Weights of a filter in one turn of the loop, by filters that are computed together."""


@dataclass(frozen=True, slots=True)
class SumPart:
    """A part of a sum: weights of a filter after which sums are taken out of their words.

    Attributes:
        words_at: its words of sums, in words from the first part's.
        weights_at: its weights of all filters of a block, in bytes from the first part's.
        packed_at, packed_end: its words of activations, in words from the first part's.
        skip: bytes from its weights of some filters to those of the next ones.
    """

    words_at: int
    weights_at: int
    packed_at: int
    packed_end: int
    skip: int


@dataclass(frozen=True, slots=True)
class Tile3x4(Dense):
    """Convolution of one group, or matrix product of several rows, three rows at a time.

    x int8 [height, width, channels], weights as `dense_weights.by_column` gives them, y
    [out_height, out_width, out_channels].

    Attributes:
        filters: computed together, 2 or 4.
        segment: weights of a filter after which sums are taken out of their words.
        product: how a sum is multiplied by a multiplier of 31 bits.
        saturates: the bounds after a multiplier of 31 bits are those of int8.
    """

    family: ClassVar[str] = "tile_3x4"
    template: ClassVar[Path] = template_beside(__file__, "tile_3x4")
    filters: int = field(kw_only=True)
    segment: int = field(kw_only=True)
    product: ShortProduct = field(default=ANY, kw_only=True)
    saturates: bool = field(default=False, kw_only=True)

    @property
    def padded_depth(self) -> int:
        """Weights of one filter as stored, a multiple of what a turn of the loop takes."""
        step = STEPS[self.filters]
        return -(-self.depth // step) * step

    @property
    def batch(self) -> int:
        """Filters whose sums are computed before the first of their outputs is stored."""
        blocks = -(-self.out_channels // self.filters)
        return min(blocks * self.filters, _BATCH)

    @property
    def bounds(self) -> str:
        """The bounds of outputs after a multiplier of 31 bits, in C."""
        return "INT8_MIN, INT8_MAX" if self.saturates else "p.act_min, p.act_max"

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return -(-self.out_channels // self.filters) * self.filters * self.padded_depth

    @property
    def segments(self) -> int:
        """Parts of a sum."""
        return -(-self.padded_depth // self.segment)

    @property
    def parts(self) -> tuple[SumPart, ...]:
        """Where each part of a sum lies."""
        return tuple(
            SumPart(
                words_at=_PAIR * number * self.batch,
                weights_at=first * self.filters,
                packed_at=_PAIR * first,
                packed_end=_PAIR * min(self.padded_depth, first + self.segment),
                skip=(self.padded_depth - min(self.segment, self.padded_depth - first))
                * self.filters,
            )
            for number, first in enumerate(range(0, self.padded_depth, self.segment))
        )

    @property
    def padding_bytes(self) -> int:
        """Bytes of the words of activations that meet the zeros after a filter's weights."""
        return WORDS_BYTES * (self.padded_depth - self.depth)

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
        """Place of the words of sums in scratch, in bytes, after those of activations."""
        return self.padded_depth * WORDS_BYTES

    @property
    def added_at(self) -> int:
        """Place of the residual of three rows."""
        return self.words_at + self.segments * self.batch * WORDS_BYTES

    @property
    def runs_at(self) -> int:
        """Place of the runs of three rows that are partly padding."""
        if self.rescale16 is not None and self.rescale16.residual:
            return self.added_at + ROWS * self.out_channels * self.rescale16.out_bytes
        added = 0 if self.residual_shift is None else ROWS * self.out_channels
        return self.added_at + added

    @property
    def clipped(self) -> bool:
        """Some window holds padding."""
        return self.window.rows_clipped or self.window.cols_clipped

    @property
    def clips_runs(self) -> bool:
        """A run may be cut by the left or right edge of the image."""
        return self.window.columns_are_runs and self.window.cols_clipped

    @property
    def reads_params(self) -> bool:
        """The function that stores takes a zero point or bounds from the argument struct."""
        bounded = self.exact31 is None or not self.exact31.saturates
        return self.rescale16 is None and bounded

    @property
    def store_extras(self) -> tuple[tuple[str, str], ...]:
        """What the function that stores needs beside y: C parameter and argument."""
        added = (f"const {self.y_type} *added", "added + o")
        params = (f"const {self.params_type} *params", "params")
        own = (params,) if self.reads_params else ()
        offset = ("const int32_t *offset", "params->offset + o")
        shift = ("const int8_t *shift", "params->shift + o")
        return {
            "requant31": (params,),
            "offset31": (*own, offset),
            "twice31": (*own, offset, shift),
            "twice31_any": (*own, offset, shift),
            "requant31_added": (added, params, ("const edgec_add_params_t *add", "add")),
            "rescale16": (),
            "rescale16_table": (("const int8_t *table", "table"),),
            "rescale16_added": (added,),
        }[self.end]

    @property
    def scratch_bytes(self) -> int:
        """Words of three windows, of sums, a residual and padded runs."""
        return self.runs_at + (ROWS * self.run if self.clipped else 0)

    def describe(self) -> str:
        """What the function computes, in words."""
        return self._described("three")
