"""Products of one row, in int8, with weights of few bits, on cores with NEON."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from edgec.kernels.neon.dense_4x4_s8_neon.tile import Tile
from edgec.kernels.neon.layer import NeonLayer
from edgec.kernels.neon.weights import ROWS

_SPARE_BYTES = 8
"""Four elements that may be loaded after the last residual."""


@dataclass(frozen=True, slots=True)
class LoneRow(NeonLayer):
    """Product of a vector with constant weights of few bits: x int8 [depth]; y [units].

    Attributes:
        depth, units: shapes.
        bits: how many a weight has.
    """

    depth: int
    units: int
    bits: int

    @property
    @abstractmethod
    def added_at(self) -> int:
        """Place of the residual in scratch, after all else; a multiple of 16."""

    @property
    def scratch_bytes(self) -> int:
        """All before the residual, and it."""
        if not self.adds:
            return self.added_at
        return self.added_at + self.units * self.out_bytes + _SPARE_BYTES

    @property
    def rest(self) -> int:
        """Filters after the last four."""
        return self.units % ROWS

    @property
    def tile(self) -> Tile:
        """The one row, for the outputs of its sums."""
        return Tile(1)

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.units

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.units * self.depth

    @property
    def shapes(self) -> str:
        """Shapes and bits in words, for a comment in C."""
        return f"[1, {self.depth}] by [{self.units}, {self.depth}] of {self.bits} bits"
