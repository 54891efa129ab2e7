"""Ends of layers whose outputs are made in vectors of eight or sixteen: `_neon_ends.c.j2`."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.kernels.common.interface import LayerFunction

WIDE = 16
HALF = 8
"""Channels of a vector of int8: sixteen or eight."""
_LEAST_HIGH_SHIFT = 32
"""Least shift after which the high half of a doubled product is enough (Arm A64 ISA, SQDMULH)."""
_NARROWING_SHIFTS = range(1, 17)
"""Shifts of SQRSHRN for 32-bit elements (Arm A64 ISA)."""


@dataclass(frozen=True, slots=True)
class Block:
    """A vector of channels.

    Attributes:
        lanes: 16 or 8.
        count: channels that are stored.
    """

    lanes: int
    count: int

    @property
    def is_full(self) -> bool:
        """All lanes are channels."""
        return self.lanes == self.count

    @property
    def is_wide(self) -> bool:
        """There are sixteen lanes."""
        return self.lanes == WIDE

    @property
    def fours(self) -> range:
        """Vectors of four sums."""
        return range(self.lanes // 4)

    @property
    def eights(self) -> range:
        """Vectors of eight codes."""
        return range(self.lanes // HALF)


class NeonLayer(LayerFunction):
    """A layer with weights that ends in NEON.

    Attributes:
        shift: right shift of the product with a multiplier of 31 bits.
    """

    __slots__ = ()
    shift: int

    @property
    def requantize_macro(self) -> str:
        """C macro of the requantization."""
        near = self.shift < _LEAST_HIGH_SHIFT
        return "EDGEC_NEON_REQUANTIZE_NEAR" if near else "EDGEC_NEON_REQUANTIZE"

    @property
    def saturates(self) -> bool:
        """Outputs need no bounds after the narrowing to their type."""
        return self.rescale16 is not None or (self.tflite31 is not None and self.tflite31.saturates)

    @property
    def narrows(self) -> bool:
        """One instruction does the last shift and the narrowing to int16."""
        return self.shift - _LEAST_HIGH_SHIFT + 1 in _NARROWING_SHIFTS
