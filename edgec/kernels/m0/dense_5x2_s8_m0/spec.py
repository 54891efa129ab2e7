"""Specification of the dense kernel for Cortex-M cores without the DSP extension."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.kernels.common.dense import Dense
from edgec.kernels.common.short_product import ANY, ShortProduct
from edgec.kernels.family import template_beside
from edgec.target.target import Sharing

ROWS = 5
"""Rows of x whose sums are computed together (`edgec/dense/dense_5x2_s8_m0.h`)."""

FILTERS = 2
"""Filters whose sums are computed together."""

WORDS = 3
"""Words that five activations take, or the five sums with one filter."""

_WORDS_BYTES = 4 * WORDS

BATCHES = (32, 16, 8, 4, 2)
"""Most filters whose sums wait in scratch memory, 12 bytes each and segment."""

_MANY_ROWS = 32
"""From here on the last rows are a small part of the layer: not worth the code."""

_TURN = 8
"""Activations in a turn of the loop that may begin after the first of them."""


@dataclass(frozen=True, slots=True)
class SumPart:
    """A part of a sum: weights of a filter after which sums are taken out of their words.

    Attributes:
        words_at: its words of sums, in words from the first part's.
        weights_at: its weights of all filters of a block, in bytes from the first part's.
        packed_at, packed_end: its words of activations, in words from the first part's.
        skip: bytes from its weights of two filters to those of the next ones.
        leave: activations that those after the first one fall short of a multiple of what a turn
            of the loop takes; if there are none, a whole turn.
    """

    words_at: int
    weights_at: int
    packed_at: int
    packed_end: int
    skip: int
    leave: int


@dataclass(frozen=True, slots=True)
class Dense5x2(Dense):
    """Convolution of one group, or matrix product of several rows, five rows at a time.

    x int8 [height, width, channels], weights as `dense_weights.by_column` gives them, y
    [out_height, out_width, out_channels].

    Attributes:
        step: the loop takes multiples of this many activations.
        segment: weights of a filter after which sums are taken out of their words.
        product: how a sum is multiplied by a multiplier of 31 bits.
        saturates: the bounds after a multiplier of 31 bits are those of int8.
        most_filters: how many filters' sums wait in scratch memory at most, an even number.
        sharing: what layers of several shapes share.
    """

    family: ClassVar[str] = "dense_5x2_s8_m0"
    template: ClassVar[Path] = template_beside(__file__, "dense_5x2_s8_m0")
    step: int = field(kw_only=True)
    segment: int = field(kw_only=True)
    product: ShortProduct = field(default=ANY, kw_only=True)
    saturates: bool = field(default=False, kw_only=True)
    most_filters: int = field(default=BATCHES[0], kw_only=True)
    sharing: Sharing = field(default=Sharing.NOTHING, kw_only=True, metadata=LATER)

    @property
    def shares_loops(self) -> bool:
        """Layers share the loops around their sums: `edgec/dense/dense_5x2_layer.h`."""
        return self.shares_functions and self.is_product and not self.variable

    @property
    def shares_functions(self) -> bool:
        """Layers of other shapes call the same functions: at least the one that stores outputs."""
        return self.sharing is not Sharing.NOTHING and self.end == "requant31"

    @property
    def store_name(self) -> str | None:
        """The name of the function that stores outputs where layers share it, in C; else None."""
        if not self.shares_functions:
            return None
        p = self.product
        bounds = "" if self.saturates else "_bounded"
        numbers = f"{self.known_parts}_{p.count}_{p.bits}_{p.split}_{self.shift}"
        return f"edgec_dense_5x2_store_{numbers}{bounds}"

    @property
    def known_parts(self) -> int:
        """Parts of a sum that a function of layers that share it is for; 0: of any number."""
        return 1 if self.segments == 1 else 0

    @property
    def padded_depth(self) -> int:
        """Weights of one filter as stored, a multiple of the step."""
        return -(-self.depth // self.step) * self.step

    @property
    def batch(self) -> int:
        """Filters whose sums are computed before the first of their outputs is stored."""
        return min(-(-self.out_channels // FILTERS) * FILTERS, self.most_filters)

    @property
    def bounds(self) -> str:
        """The bounds of outputs after a multiplier of 31 bits, in C."""
        return "INT8_MIN, INT8_MAX" if self.saturates else "p.act_min, p.act_max"

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return -(-self.out_channels // FILTERS) * FILTERS * self.padded_depth

    @property
    def segments(self) -> int:
        """Parts of a sum."""
        return -(-self.padded_depth // self.segment)

    @property
    def part_words(self) -> int:
        """Words of sums from a part to the next."""
        return WORDS * self.batch

    @property
    def parts(self) -> tuple[SumPart, ...]:
        """Segments of a sum's depth, each with its place in memory."""
        starts = range(0, self.padded_depth, self.segment)
        return tuple(
            self._part(number, first, min(self.segment, self.padded_depth - first))
            for number, first in enumerate(starts)
        )

    def _part(self, number: int, first: int, count: int) -> SumPart:
        return SumPart(
            words_at=number * self.part_words,
            weights_at=first * FILTERS,
            packed_at=WORDS * first,
            packed_end=WORDS * (first + count),
            skip=(self.padded_depth - count) * FILTERS,
            leave=_TURN if count == 1 else (1 - count) % _TURN,
        )

    @property
    def padding_bytes(self) -> int:
        """Bytes of the words of activations that meet the zeros after a filter's weights."""
        return _WORDS_BYTES * (self.padded_depth - self.depth)

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
        return self.padded_depth * _WORDS_BYTES

    @property
    def few_rows(self) -> bool:
        """A run may end with fewer rows than are computed together."""
        return self.variable or self.rows % ROWS > 0

    @property
    def by_three(self) -> bool:
        """The last rows are computed three at a time, where that saves something."""
        few = self.rows < _MANY_ROWS or self.shares_loops
        some = self.rows % ROWS in (1, 2, 3) and few
        return self.variable or some

    @property
    def block_starts(self) -> Array:
        """int64 [out_pixels]: the first row of the block of each row, as many as a run has at most.

        Where the last rows are computed three at a time, the last six are two blocks
        (`edgec_dense_5x2_count`).
        """
        rows = np.arange(self.window.out_pixels, dtype=np.int64)
        starts = rows // ROWS * ROWS
        if self.by_three and len(rows) > ROWS and len(rows) % ROWS == 1:
            starts[-3:] = len(rows) - 3
        return starts

    @property
    def block_at(self) -> int:
        """Place of the residual of five rows, and of outputs that are fewer."""
        return self.words_at + self.segments * self.batch * _WORDS_BYTES

    @property
    def runs_at(self) -> int:
        """Place of the runs of five rows that are partly padding."""
        each = 1 if self.rescale16 is None else self.rescale16.out_bytes
        held = self.adds or self.few_rows
        return self.block_at + (ROWS * self.out_channels * each if held else 0)

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
        bounded = self.tflite31 is None or not self.tflite31.saturates
        return self.rescale16 is None and bounded

    @property
    def store_extras(self) -> tuple[tuple[str, str], ...]:
        """Arguments of the function that stores, besides y: C parameter and argument."""
        added = (f"const {self.y_type} *added", "block + o")
        params = (f"const {self.params_type} *params", "params")
        own = (params,) if self.reads_params else ()
        offset = ("const int32_t *offsets", "params->offset + o")
        shift = ("const int8_t *shifts", "params->shift + o")
        return {
            "requant31": (params,),
            "offset31": (*own, offset),
            "two_roundings31": (*own, offset, shift),
            "two_roundings31_any": (*own, offset, shift),
            "requant31_added": (added, params, ("const edgec_add_params_t *add", "add")),
            "rescale16": (),
            "rescale16_table": (("const int8_t *table", "table"),),
            "rescale16_added": (added,),
        }[self.end]

    @property
    def scratch_bytes(self) -> int:
        """Words of five windows, of sums, a residual and padded runs."""
        return self.runs_at + (ROWS * self.run if self.clipped else 0)

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return self._described("five")
