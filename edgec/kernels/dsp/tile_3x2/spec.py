"""Specification of the register tile of three rows by two filters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.kernels.common.dense import Dense
from edgec.kernels.common.dense_weights import FILTERS, WORD, padded_depth
from edgec.kernels.family import template_beside

ROWS = 3
"""Rows of x whose sums are computed together."""

_PAIR_BYTES = 4


@dataclass(frozen=True, slots=True)
class Tile3x2(Dense):
    """Convolution of one group, or matrix product of several rows, three rows at a time.

    x int8 [height, width, channels], weights as `dense_weights.interleaved` gives them, y int8
    [out_height, out_width, out_channels].
    """

    family: ClassVar[str] = "tile_3x2"
    template: ClassVar[Path] = template_beside(__file__, "tile_3x2")

    @property
    def words(self) -> int:
        """Words of weights of one filter, an even number."""
        return padded_depth(self.depth) // WORD

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return -(-self.out_channels // FILTERS) * FILTERS * WORD * self.words

    @property
    def widens_runs(self) -> bool:
        """Rows of the window are widened where they lie; else they are gathered first."""
        return self.window.channels % WORD == 0 and self.window.columns_are_runs

    @property
    def fills(self) -> bool:
        """Windows may hold padding."""
        return self.window.rows_clipped or self.window.cols_clipped

    @property
    def pads_depth(self) -> bool:
        """The last words hold more than weights."""
        return self.words * WORD != self.depth

    @property
    def odd(self) -> bool:
        """The last filter has no partner."""
        return self.out_channels % FILTERS == 1

    @property
    def codes_at(self) -> int:
        """Place in scratch of the results that a residual is added to, or of the residual."""
        widened = self.words * ROWS * 2 * _PAIR_BYTES
        return widened + (0 if self.widens_runs else self.words * WORD)

    @property
    def scratch_bytes(self) -> int:
        """Three widened windows, one that is not, and three rows of results or residual."""
        codes = ROWS * self.out_channels
        if self.rescale16 is not None and self.rescale16.residual:
            return self.codes_at + codes * self.rescale16.out_bytes
        return self.codes_at + (0 if self.residual_shift is None else codes)

    def describe(self) -> str:
        """What the function computes, in words."""
        return self._described("three")
