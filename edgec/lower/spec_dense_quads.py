"""Specification of the fastest matrix product for cores with the DSP extension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.lower.dense_weights import QUAD
from edgec.lower.spec_narrow import Narrow

TOKENS = 4
"""Rows of x whose sums are computed together."""
BLOCK_BYTES = 32
"""Eight words: those of four tokens for a quad, and their sums for two rows (`edgec/quads.h`)."""
_MOST_UNROLLED = 16
_BATCH = 8


def unrolled(quads: int) -> int:
    """How many quads one turn of a loop takes: the most of 1 to 16 that divides `quads`."""
    return max(n for n in range(1, _MOST_UNROLLED + 1) if quads % n == 0)


@dataclass(frozen=True, slots=True)
class DenseQuads:
    """Matrix product with constant weights, four rows by two filters at a time: `edgec/quads.h`.

    x int8 [rows, depth] without the code -128, depth a multiple of 4; weights as
    `dense_weights.flipped_quads` gives them; y [rows, units].

    Attributes:
        rows, depth, units: shapes.
        narrow: how a sum is stored.
        dual_issue: the core issues a load together with a product.
    """

    family: ClassVar[str] = "dense_quads"
    rows: int
    depth: int
    units: int
    narrow: Narrow
    dual_issue: bool = False

    @property
    def quads(self) -> int:
        """Words of weights of one filter."""
        return self.depth // QUAD

    @property
    def unrolled(self) -> int:
        """Words in one turn of the loop."""
        return unrolled(self.quads)

    @property
    def pairs(self) -> int:
        """Pairs of filters."""
        return -(-self.units // 2)

    @property
    def batch(self) -> int:
        """Pairs of filters whose sums are computed in one call."""
        return min(_BATCH, self.pairs)

    @property
    def rest(self) -> int:
        """Rows in the last block, if it is not full."""
        return self.rows % TOKENS

    @property
    def sums_at(self) -> int:
        """Place of the sums in scratch, in bytes, behind the widened rows."""
        return (1 + self.quads) * BLOCK_BYTES

    @property
    def added_at(self) -> int:
        """Place of a block of the residual."""
        return self.sums_at + self.batch * BLOCK_BYTES

    @property
    def scratch_bytes(self) -> int:
        """Four widened rows, sums, and the residual of four rows."""
        added = TOKENS * self.units * self.narrow.out_bytes if self.narrow.residual else 0
        return self.added_at + added

    @property
    def residual_shift(self) -> None:
        """None: a residual is in `narrow`."""
        return None

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.rows * self.units

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.depth

    def describe(self) -> str:
        """What the function computes, in words."""
        shapes = f"[{self.rows}, {self.depth}] by [{self.units}, {self.depth}]"
        return f"Matrix product {shapes}, four rows at a time"
