"""Outputs of a tile of four rows by two filters: from registers, or from sums in memory."""

from __future__ import annotations

from edgec.base.fixedpoint import INT16_MAX, INT16_MIN
from edgec.kernels.common.interface import LayerFunction

_LEAST_SHIFT = 15
"""From this shift on, what a residual is added to fits int16."""

HIGH_SHIFTS = range(32, 55)
"""With these shifts the high word of a product is enough: `edgec/dense/dense_4x2_high_word.h`."""


class TileOutputs(LayerFunction):
    """The outputs of a kernel.

    Attributes:
        units: filters.
        shift: right shift with a multiplier of 31 bits.
        saturates: the bounds after a multiplier of 31 bits are those of int8.
    """

    __slots__ = ()
    units: int
    shift: int
    saturates: bool

    @property
    def odd(self) -> bool:
        """The last filter has no partner."""
        return self.units % 2 > 0

    @property
    def pairs(self) -> int:
        """Pairs of filters."""
        return -(-self.units // 2)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of y."""
        return self.units * self.out_bytes

    @property
    def lifts(self) -> bool:
        """-127 takes the place of an output of -128."""
        n = self.rescale16
        return n is not None and n.out_bytes == 1 and not n.table and not n.is_saturated

    @property
    def table_origin(self) -> int:
        """Place of the output for a result of 0 in the table."""
        return 0 if self.rescale16 is None else -self.rescale16.output.low

    @property
    def fuses(self) -> bool:
        """Outputs are stored from registers (`edgec/dense/dense_4x2_rescale16.h`)."""
        n = self.rescale16
        if self.tflite31 is not None:
            return self.tflite31.saturates and self.tflite31.stays_in_registers
        if n is None:
            return self.saturates and self.shift in HIGH_SHIFTS
        if self.odd:
            return False
        if n.residual:
            # The sum to add to fits int16 for such shifts; only saturation follows.
            wide = (n.output.low, n.output.high) == (INT16_MIN, INT16_MAX)
            return wide and n.output.shift >= _LEAST_SHIFT
        if n.table:
            return n.saturated_bits == 10
        # One instruction saturates; only bytes are lifted after it.
        return n.saturated_bits in (8, 16) and (n.out_bytes == 1 or n.is_saturated)

    @property
    def store(self) -> str:
        """Kind of the function that stores outputs: end of a macro's name, or "sums" in memory.

        "high", "out", "offset31" and "two_roundings31" are from registers; "sums31" and "sums16"
        after 31 or 16 by 15 bits, "sums_tflite31" in an `Tflite31`.
        """
        if self.tflite31 is not None:
            return self.tflite31.end if self.fuses else "sums_tflite31"
        if self.fuses:
            return "high" if self.rescale16 is None else "out"
        return "sums31" if self.rescale16 is None else "sums16"

    @property
    def store_extra(self) -> tuple[tuple[str, str], ...]:
        """Arguments of functions of sums besides bias and multiplier: C parameter and argument."""
        found = {
            "rescale16_table": (("const int8_t *table", "table"),),
            "rescale16_added": ((f"const {self.y_type} *extra", "added + 2 * pair"),),
        }
        return found.get(self.end, ())

    @property
    def out_kind(self) -> str:
        """Kind of output of a scaled sum: the end of a name in
        `edgec/dense/dense_4x2_rescale16.h`.
        """
        if self.rescale16 is not None and self.rescale16.table:
            return "TABLE"
        if self.rescale16 is not None and self.rescale16.residual:
            return "ADDED"
        return "BYTE" if self.out_bytes == 1 else "WIDE"

    @property
    def number_bytes(self) -> int:
        """Bytes of the numbers of which the outputs of a filter are made."""
        if self.tflite31 is not None:
            return 12 if self.tflite31.has_shifts else 8
        return 4 if self.rescale16 is None else 2

    @property
    def own(self) -> str | None:
        """Meaning of the word of the argument struct that each function uses for itself."""
        if self.store == "high":
            return "offset"
        return self.rescale16.then if self.rescale16 is not None else None
