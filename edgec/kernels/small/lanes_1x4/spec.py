"""Specification of the products of one row by four filters, two filters in a word."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.canonical import LATER
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.short_product import ANY, ShortProduct
from edgec.kernels.family import template_beside

FILTERS = 4
"""Filters whose sums are computed together."""

TURN = 4
"""Activations in one turn of the loop."""

MOST_DEPTH = 1 << 16
"""Activations whose sums of products of 16 bits stay below 2^32."""

_WORD_BYTES = 4
_BATCH = 8
"""Groups of filters whose sums are computed in one call."""


@dataclass(frozen=True, slots=True)
class Lanes1x4(LayerFunction):
    """Product of a vector with constant weights, four filters at a time: `edgec/lanes_1x4.h`.

    x int8 [depth]; weights int8 [ceil(units / 4), padded_depth, 4], with the signs flipped; y
    [units].

    Attributes:
        depth, units: shapes.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: shift of the addition that follows it; None: there is none.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        exact31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        product: how a sum is multiplied by a multiplier of 31 bits.
    """

    family: ClassVar[str] = "lanes_1x4"
    template: ClassVar[Path] = template_beside(__file__, "lanes_1x4")
    depth: int
    units: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    exact31: Exact31 | None = field(default=None, metadata=LATER)
    product: ShortProduct = field(default=ANY, kw_only=True)

    @property
    def padded_depth(self) -> int:
        """Activations and weights of a filter as stored, a multiple of `TURN`."""
        return -(-self.depth // TURN) * TURN

    @property
    def fours(self) -> int:
        """Groups of four filters."""
        return -(-self.units // FILTERS)

    @property
    def batch(self) -> int:
        """Groups of filters whose sums are computed in one call."""
        return min(_BATCH, self.fours)

    @property
    def scratch_bytes(self) -> int:
        """The words of the row, and the sums of a batch."""
        return (self.padded_depth + self.batch * FILTERS) * _WORD_BYTES

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
