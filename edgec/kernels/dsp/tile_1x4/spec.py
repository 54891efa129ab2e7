"""Specification of the register tile of one row by four filters."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.canonical import LATER
from edgec.kernels.common.dense_weights import WORD
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.dsp.tile_4x2.spec import unrolled
from edgec.kernels.family import template_beside

FILTERS = 4
"""Filters whose sums are computed together."""

WIDENED_BYTES = 8
"""Two words: four values of x for four words of weights."""

_BATCH = 8
_SUM_BYTES = 4
_START_BYTES = 8
"""A word, and what keeps the memory after it at multiples of eight bytes."""

_MOST_IN_SMALL_CACHES = 8
"""Words in a turn of the loop, 66 bytes each, where 1 KB of cache holds a turn: each turn may wait
for a prefetch of what follows it before it reads weights from flash: few long ones are better."""
_MOST_OF_SHORT = 4
_LONG = 32
"""Words of a filter from which on the longer code is worth its bytes."""


@dataclass(frozen=True, slots=True)
class Tile1x4(LayerFunction):
    """Product of a vector with constant weights, four filters at a time: `edgec/tile_1x4.h`.

    x int8 [depth]; weights as `dense_weights.flipped_words` gives them for four filters, biases
    with `dense_weights.odd_sums`; y [units].

    Attributes:
        depth, units: shapes.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: shift of the addition that follows it; None: there is none.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        dual_issue: the core issues a load together with a product.
        roomy: see `tile_4x2.spec.unrolled`.
    """

    family: ClassVar[str] = "tile_1x4"
    template: ClassVar[Path] = template_beside(__file__, "tile_1x4")
    flips_signs: ClassVar[bool] = True
    depth: int
    units: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    exact31: Exact31 | None = field(default=None, metadata=LATER)
    dual_issue: bool = False
    roomy: bool = False

    @property
    def words(self) -> int:
        """Words of weights of one filter."""
        return -(-self.depth // WORD)

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return self.fours * self.four_bytes

    @property
    def full_words(self) -> int:
        """Words of x, without the one that is not full."""
        return self.depth // WORD

    @property
    def rest(self) -> int:
        """Values of x after its last full word."""
        return self.depth % WORD

    @property
    def unrolled(self) -> int:
        """Words in one turn of the loop."""
        most = _MOST_IN_SMALL_CACHES if self.words >= _LONG else _MOST_OF_SHORT
        return unrolled(self.words, roomy=self.roomy, most_in_small_caches=most)

    @property
    def fours(self) -> int:
        """Groups of four filters."""
        return -(-self.units // FILTERS)

    @property
    def four_bytes(self) -> int:
        """Bytes of the weights of four filters."""
        return FILTERS * WORD * self.words

    @property
    def batch(self) -> int:
        """Groups of filters whose sums are computed in one call."""
        return min(_BATCH, self.fours)

    @property
    def sums_at(self) -> int:
        """Place of the sums in scratch, in bytes, after the widened row."""
        return _START_BYTES + self.words * WIDENED_BYTES

    @property
    def scratch_bytes(self) -> int:
        """The widened row, and the sums of a batch."""
        return self.sums_at + self.batch * FILTERS * _SUM_BYTES

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.units

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.units * self.depth

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Matrix product [1, {self.depth}] by [{self.units}, {self.depth}], four at a time"
