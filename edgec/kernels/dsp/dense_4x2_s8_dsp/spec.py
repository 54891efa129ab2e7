"""Specification of the register tile of four rows by two filters."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Self

from edgec.base.digests import LATER
from edgec.kernels.common.form_ends import Rescale16, Tflite31
from edgec.kernels.common.parts import WeightReads
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.dense_4x2_s8_dsp.outputs import HIGH_SHIFTS
from edgec.kernels.dsp.dense_4x2_s8_dsp.rows import FEWER, ROWS, TileRows
from edgec.kernels.family import template_beside
from edgec.target.target import Sharing

TILE_BYTES = 32
"""Eight words: four rows of x for a word of weights, or their sums with two filters."""

_MOST_UNROLLED = 16

_MOST_IN_SMALL_CACHES = 4
"""A loop that fits the 1 KB of instruction cache that chips with a Cortex-M4 have, with the code
around it; larger ones wait for flash all the time."""

_CODES = (4, 6, 8, 12, _MOST_UNROLLED)
"""Words of code of the loops that are measured: between those of small and of large caches."""

_BATCH = 8

_SHARED_UNROLLED = 4
"""Words in a turn of the loop of products that layers share."""

_BIAS_BYTES = 4

_READ_AHEAD = 8
"""Bytes after the widened rows that may be read."""


def unrolled(words: int, *, roomy: bool, most_in_small_caches: int = _MOST_IN_SMALL_CACHES) -> int:
    """Number of groups of four weights in one turn of an unrolled loop.

    Those that make no full turn stand before the loop, so what counts is the code of both.

    Args:
        words: groups of four weights that all turns take.
        roomy: for a core with an instruction cache of several KB.
        most_in_small_caches: the most for others.
    """
    return _longest(words, _MOST_UNROLLED if roomy else most_in_small_caches)


def _longest(words: int, most: int) -> int:
    """The largest turn whose code, with that before the loop, is at most `most` words."""
    return max(n for n in range(1, min(most, words) + 1) if n + words % n <= most)


def loops(words: int) -> tuple[int, ...]:
    """Words in a turn of all loops that are worth measuring, by their code.

    Args:
        words: groups of four weights that all turns take.
    """
    return tuple(dict.fromkeys(_longest(words, most) for most in _CODES))


def sums_of(words: str, turn: int | None) -> str:
    """End of the name of a function of sums: loops of other lengths are other functions."""
    return words if turn is None else f"{words}_by_{turn}"


@dataclass(frozen=True, slots=True)
class Dense4x2(TileRows):
    """Matrix product with constant weights, four rows by two filters:
    `edgec/dense/dense_4x2_s8_dsp.h`.

    x int8 [rows, depth], depth a multiple of 4; weights as `dense_weights.flipped_words` gives
    them; y [rows, units].  A row may be the window of an output pixel, gathered first; then x is an
    image, and zeros may follow to make up a multiple of 4.

    Attributes:
        rows, depth, units: shapes.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        dual_issue: the core issues a load together with a product.
        roomy: see `unrolled`.
        window: the window of a convolution that is not pointwise.
        any_code: x may hold any code; the biases hold `dense_weights.odd_sums`.  It is false only
            where these do not fit, and x holds no code -128.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: shift of the addition that follows it; None: there is none.
        saturates: the bounds after a multiplier of 31 bits are those of int8.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        variable: the rows of a run are an argument.
        alone: weights hold nothing else, where outputs are made from registers.
        sharing: what layers of several shapes share.
        saves_code: small code is preferred.
        turn: words in one turn of the loop, where that was measured; None: see `unrolled`.
    """

    family: ClassVar[str] = "dense_4x2_s8_dsp"
    template: ClassVar[Path] = template_beside(__file__, "dense_4x2_s8_dsp")
    flips_signs: ClassVar[bool] = True
    rows: int
    depth: int
    units: int
    rescale16: Rescale16 | None
    dual_issue: bool = False
    roomy: bool = False
    window: Window | None = None
    any_code: bool = False
    shift: int = 0
    residual_shift: int | None = None
    saturates: bool = False
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    variable: bool = False
    alone: bool = field(default=False, metadata=LATER)
    sharing: Sharing = field(default=Sharing.NOTHING, metadata=LATER)
    saves_code: bool = field(default=False, metadata=LATER)
    turn: int | None = field(default=None, metadata=LATER)

    def with_turn(self, turn: int) -> Self:
        """The specification with as many words in a turn of the loop."""
        return replace(self, turn=turn)

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order, or of all that is in their stream."""
        numbers = 2 * (_BIAS_BYTES + self.number_bytes) if self.streams else 0
        return self.pairs * (self.pair_bytes + numbers)

    @property
    def unrolled(self) -> int:
        """Words in one turn of the loop."""
        if self.shares_products:
            return min(self.words, _SHARED_UNROLLED)
        return self.turn or self.usual_turn

    @property
    def usual_turn(self) -> int:
        """Words in one turn of the loop, where nobody measured."""
        return unrolled(self.words, roomy=self.roomy)

    @property
    def sums_name(self) -> str:
        """Name of the function of the products that layers of a depth share; also of its guard."""
        return sums_of(str(self.words), self.turn)

    @property
    def shares_loops(self) -> bool:
        """Layers share the loops around their products: `edgec/dense/dense_4x2_layer.h`."""
        wanted = self.sharing is not Sharing.NOTHING
        kinds = ("high", "offset31", "two_roundings31")
        return wanted and self.takes_rows and self.store in kinds and self.is_plain

    @property
    def shares_functions(self) -> bool:
        """Layers of other shapes call the same functions."""
        return self.shares_loops

    @property
    def shares_products(self) -> bool:
        """Layers share their products, too: `edgec/dense/dense_4x2_shared.h`."""
        return self.shares_loops and self.sharing is Sharing.PRODUCTS and self.store == "high"

    @property
    def is_plain(self) -> bool:
        """The rows are known, and filters are in one stream."""
        return self.streams and not self.variable

    @property
    def left_shift(self) -> int:
        """Right shift that is left after the high word of a product; 0 where nothing needs it."""
        return self.shift - HIGH_SHIFTS.start if self.shares_products else 0

    @property
    def shared_function(self) -> str | None:
        """The name of the function of the products that layers share, in C; None: there is none."""
        if not self.shares_products:
            return None
        kind = "left" if self.left_shift else "rounded"
        odd = "_odd" if self.odd else ""
        return f"edgec_dense_4x2_{kind}{odd}"

    @property
    def shared_offset(self) -> str:
        """C expression of the rounding offset in products of `edgec/dense/dense_4x2_layer.h`."""
        if self.store != "high":
            return "0"
        return f"edgec_dense_4x2_offset(params->y_zero_point, {self.shift})"

    @property
    def pair_bytes(self) -> int:
        """Bytes of the weights of a pair of filters."""
        return 2 * self.depth

    @property
    def batch(self) -> int:
        """Pairs of filters whose sums are computed in one call."""
        return min(_BATCH, self.pairs)

    @property
    def rest_function(self) -> str | None:
        """End of the name of the function that stores a block of fewer rows, if there is one."""
        if self.rescale16 is None or self.fuses:
            return None
        return "rest" if self.variable else str(self.rest) if self.rest else None

    @property
    def streams(self) -> bool:
        """Biases and numbers of which outputs are made lie among the weights."""
        return self.fuses and not self.alone

    def with_weights_alone(self) -> Self:
        """Biases and numbers lie apart."""
        return dataclasses.replace(self, alone=True)

    @property
    def interleaves(self) -> bool:
        """The numbers of a filter lie beside each other, apart from the weights."""
        return self.tflite31 is not None and self.fuses and self.alone

    @property
    def numbers_apart(self) -> str | None:
        """The field of the argument struct that names the numbers, where they lie apart."""
        if self.streams:
            return None
        return "numbers" if self.interleaves else "multiplier"

    @property
    def sums_at(self) -> int:
        """Place of the sums in scratch, in bytes, after the widened rows."""
        return (1 + self.words) * TILE_BYTES

    @property
    def added_at(self) -> int:
        """Place of a block of the residual, or of the results that a residual is added to."""
        return self.sums_at + (_READ_AHEAD if self.fuses else self.batch * TILE_BYTES)

    @property
    def patch_at(self) -> int:
        """Place of a gathered window."""
        added = ROWS * self.row_bytes if self.adds else 0
        return self.added_at + added

    @property
    def scratch_bytes(self) -> int:
        """Four widened rows, sums, the residual of four rows, and a window."""
        return self.patch_at + (self.depth if self.gathers else 0)

    def run_parameters(self) -> tuple[str, ...]:
        """The rows of a run."""
        return ("int32_t rows",) if self.variable else ()

    @property
    def weight_reads(self) -> WeightReads:
        """Each block reads all weights."""
        numbers = () if self.streams else (4 * self.units, 4 * self.units)
        return WeightReads(self.stored_bytes, self.blocks, numbers)

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.rows * self.units

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.out_elements * self.used_depth

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        names = {ROWS: "four", FEWER: "three"}
        rows = f"{' or '.join(names[n] for n in self.heights)} rows"
        if self.window is not None:
            w = self.window
            image = describe_image(w.height, w.width, w.channels)
            y = describe_image(w.out_height, w.out_width, self.units)
            return f"Convolution {image} to {y}, {describe_window(w)}, {rows} at a time"
        shapes = f"[{self.rows}, {self.depth}] by [{self.units}, {self.depth}]"
        return f"Matrix product {shapes}, {rows} at a time"
