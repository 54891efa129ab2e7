"""How a kernel ends in a transformer's arithmetic: requantization by 16 by 15 bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.base.dtypes import DType
from edgec.ir.qops import Rescale16x15

_BITS: Mapping[tuple[int, int], int] = MappingProxyType(
    {(-128, 127): 8, (-127, 127): 8, (-512, 511): 10, (-32768, 32767): 16}
)
"""Bits by bounds: those of one instruction, and -127, which a second one makes of -128."""

_MOST_SHIFT_INTO_INT16 = 16


@dataclass(frozen=True, slots=True)
class Rescale16:
    """The end of a kernel: `ir.qops.Rescale16x15`, then a table or a residual.

    Attributes:
        output: shifts and bounds, which are compiled in.
        table: outputs are looked up.
        residual: int16 is added before the bounds.
    """

    output: Rescale16x15
    table: bool = False
    residual: bool = False

    @property
    def then(self) -> str:
        """What follows the requantization: "table", "added" for a residual, or ""."""
        return "table" if self.table else "added" if self.residual else ""

    @property
    def out_bytes(self) -> int:
        """Bytes of an output."""
        return self.output.dtype.size_bytes

    @property
    def saturated_bits(self) -> int:
        """Bits to which an output is limited before anything else; 0: bounds come later."""
        bounds = (self.output.low, self.output.high)
        return 0 if self.residual else _BITS.get(bounds, 0)

    @property
    def is_saturated(self) -> bool:
        """Saturation to `saturated_bits` gives both bounds."""
        bits = self.saturated_bits
        return bits > 0 and self.output.low == -(1 << (bits - 1))

    @property
    def shifts_into_int16(self) -> bool:
        """One NEON instruction does the last shift and the narrowing to int16.

        Source: Arm A64 ISA, SQRSHRN: shifts of 1 to 16 for 32-bit elements.
        """
        return self.output.shift <= _MOST_SHIFT_INTO_INT16

    @property
    def _limit(self) -> int:
        """2^(bits - 1) of the elements that results become: bytes, or int16 (an index is one)."""
        return 1 << (8 if self.out_bytes == 1 and not self.table else 16) - 1

    @property
    def has_own_low(self) -> bool:
        """The lower bound is above the least of the elements that results become."""
        return self.output.low > -self._limit

    @property
    def has_own_high(self) -> bool:
        """The upper bound is below the largest of the elements that results become."""
        return self.output.high < self._limit - 1

    @property
    def c_type(self) -> str:
        """The C type of an output."""
        return stored_type(self.output.dtype)


def stored_type(dtype: DType) -> str:
    """The C type of elements in the arena."""
    return f"edgec_s{8 * dtype.size_bytes}_t" if dtype is not DType.INT8 else "int8_t"
