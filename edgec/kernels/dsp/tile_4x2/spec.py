"""Specification of the register tile of four rows by two filters."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

from edgec.base.canonical import LATER
from edgec.base.fixedpoint import INT16_MAX, INT16_MIN
from edgec.kernels.common.dense_weights import WORD
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.weight_reads import WeightReads
from edgec.kernels.common.window import Window
from edgec.kernels.family import template_beside
from edgec.target.target import Sharing

ROWS = 4
"""Rows of x whose sums are computed together."""

_FEWER = 3
"""Rows of a block of fewer: `edgec/tile_4x2_words.h`."""

_IDLE = 50
"""Blocks of fewer rows are worth their code where more than one row in fifty would be computed for
nothing: images of 5x5, 7x7 and 25x5 pixels get them, 197 tokens do not."""

_IDLE_IN_SMALL_CODE = 20
"""As `_IDLE`, where small code is preferred: 25x5 pixels do not get such blocks."""

TILE_BYTES = 32
"""Eight words: four rows of x for a word of weights, or their sums with two filters."""

_MOST_UNROLLED = 16

_MOST_IN_SMALL_CACHES = 4
"""A loop that fits the 1 KB of instruction cache that chips with a Cortex-M4 have, with the code
around it; larger ones wait for flash all the time."""

_BATCH = 8

_LEAST_SHIFT = 15

_SHARED_UNROLLED = 4
"""Words in a turn of the loop of products that layers share."""

_HIGH_SHIFTS = range(32, 55)
"""With these shifts the high word of a product is enough: `edgec/tile_4x2_high.h`."""

_INTERLEAVED = "EDGEC_TILE_4X2_INTERLEAVED"

_LARGEST_STEP = 4095 // (ROWS - 1)
"""Bytes from row to row that a store reaches all rows with (Arm v7-M architecture reference manual,
A7.7.162)."""

_BIAS_BYTES = 4

_READ_AHEAD = 8
"""Bytes after the widened rows that may be read."""


def unrolled(words: int, *, roomy: bool, most_in_small_caches: int = _MOST_IN_SMALL_CACHES) -> int:
    """How many groups of four weights one turn of a loop takes.

    Those that make no full turn stand before the loop, so what counts is the code of both.

    Args:
        words: groups of four weights that all turns take.
        roomy: for a core with an instruction cache of several KB.
        most_in_small_caches: the most for others.
    """
    most = _MOST_UNROLLED if roomy else most_in_small_caches
    return max(n for n in range(1, min(most, words) + 1) if n + words % n <= most)


@dataclass(frozen=True, slots=True)
class Tile4x2(LayerFunction):
    """Matrix product with constant weights, four rows by two filters: `edgec/tile_4x2.h`.

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
        exact31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        variable: the rows of a run are an argument.
        alone: weights hold nothing else, where outputs are made from registers.
        sharing: what layers of several shapes share.
        saves_code: small code is preferred.
    """

    family: ClassVar[str] = "tile_4x2"
    template: ClassVar[Path] = template_beside(__file__, "tile_4x2")
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
    exact31: Exact31 | None = field(default=None, metadata=LATER)
    variable: bool = False
    alone: bool = field(default=False, metadata=LATER)
    sharing: Sharing = field(default=Sharing.NOTHING, metadata=LATER)
    saves_code: bool = field(default=False, metadata=LATER)

    @property
    def used_depth(self) -> int:
        """Weights of one filter without the zeros after them."""
        return self.depth if self.window is None else self.window.taps * self.window.channels

    @property
    def words(self) -> int:
        """Words of weights of one filter."""
        return self.depth // WORD

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
        return unrolled(self.words, roomy=self.roomy)

    @property
    def shares_loops(self) -> bool:
        """Layers share the loops around their products: `edgec/tile_4x2_layer.h`."""
        wanted = self.sharing is not Sharing.NOTHING
        kinds = ("high", "offset31", "twice31")
        return wanted and self.takes_rows and self.store in kinds and self.is_plain

    @property
    def shares_functions(self) -> bool:
        """Layers of other shapes call the same functions."""
        return self.shares_loops

    @property
    def shares_products(self) -> bool:
        """Layers share their products, too: `edgec/tile_4x2_shared.h`."""
        return self.shares_loops and self.sharing is Sharing.PRODUCTS and self.store == "high"

    @property
    def takes_rows(self) -> bool:
        """Rows of x, one after the other, are read in blocks, filled up to words or not."""
        return self.row_source in ("block", "filled")

    @property
    def is_plain(self) -> bool:
        """The rows are known, and filters are in one stream."""
        return self.streams and not self.variable

    @property
    def left_shift(self) -> int:
        """What is left of the shift after the high word of a product; 0 where nothing asks."""
        return self.shift - _HIGH_SHIFTS.start if self.shares_products else 0

    @property
    def shared_function(self) -> str | None:
        """The name of the function of the products that layers share, in C; None: there is none."""
        if not self.shares_products:
            return None
        kind = "left" if self.left_shift else "rounded"
        odd = "_odd" if self.odd else ""
        return f"edgec_tile_4x2_{kind}{odd}"

    @property
    def shared_offset(self) -> str:
        """What `edgec/tile_4x2_layer.h` gives the function of the products for itself, in C."""
        if self.store != "high":
            return "0"
        return f"edgec_tile_4x2_offset(params->y_zero_point, {self.shift})"

    @property
    def mixes(self) -> bool:
        """There are blocks of four rows, and then blocks of three."""
        return len(self.heights) > 1

    @property
    def heights(self) -> tuple[int, ...]:
        """The numbers of rows that blocks have: 4, 3 or both."""
        fours, threes = self.blocks - self.threes, self.threes
        return tuple(n for n, blocks in ((ROWS, fours), (_FEWER, threes)) if blocks)

    @property
    def threes(self) -> int:
        """Blocks of three rows, so that few rows are computed for nothing."""
        idle = -self.rows % ROWS
        few = idle * (_IDLE_IN_SMALL_CODE if self.saves_code else _IDLE) <= self.rows
        if few or self.variable or not self.has_blocks_of_fewer:
            return 0
        return min(idle, -(-self.rows // _FEWER))

    @property
    def has_blocks_of_fewer(self) -> bool:
        """There is a function for blocks of three rows."""
        return self.store in ("high", "offset31", "twice31")

    @property
    def rows_by_four(self) -> int:
        """Rows in blocks of four, which come first."""
        return max(self.rows - _FEWER * self.threes, 0)

    @property
    def next(self) -> str:
        """Rows from the block that begins with row `first` to the next one, in C."""
        names = {ROWS: "EDGEC_TILE_4X2_ROWS", _FEWER: "EDGEC_TILE_4X2_FEWER"}
        if self.mixes:
            return f"(first < {self.rows_by_four}) ? {names[ROWS]} : {names[_FEWER]}"
        return names[self.heights[0]]

    @property
    def tall(self) -> str:
        """Rows of a block, in C."""
        return "tall" if self.mixes else self.next

    @property
    def first_rows(self) -> tuple[int, ...]:
        """The first row of each block."""
        threes = range(self.rows_by_four, self.rows, _FEWER) if self.threes else ()
        return (*range(0, self.rows_by_four, ROWS), *threes)

    @property
    def idle(self) -> int:
        """Rows that are computed for nothing."""
        return ROWS * (self.blocks - self.threes) + _FEWER * self.threes - self.rows

    @property
    def pairs(self) -> int:
        """Pairs of filters."""
        return -(-self.units // 2)

    @property
    def odd(self) -> bool:
        """The last filter has no partner."""
        return self.units % 2 > 0

    @property
    def widens_runs(self) -> bool:
        """Rows of a window are widened where they lie; else they are gathered first."""
        w = self.window
        return w is not None and w.channels % WORD == 0 and w.columns_are_runs

    @property
    def gathers(self) -> bool:
        """Some rows are put together in scratch memory before they are widened."""
        return self.row_source in ("patch", "filled")

    @property
    def row_source(self) -> str:
        """What becomes a row.

        It is one of the "rows" of x, which a call may widen as a "block", the last of them "filled"
        up to words, or pixels of x that are "strided", or "runs" of a window where they lie, or a
        "patch".  Only functions that store from registers know how a block repeats rows.
        """
        if self.window is None:
            return "block" if self.any_code and (self.fuses or self.fills_blocks) else "rows"
        if self.window.is_pointwise and self.any_code and (self.fuses or self.fills_blocks):
            return "filled"
        if self._is_strided:
            return "strided"
        return "runs" if self.widens_runs else "patch"

    @property
    def _is_strided(self) -> bool:
        """Rows are pixels of x, and those of a block are as far from each other."""
        w = self.window
        if w is None or w.taps > 1 or w.rows_clipped or w.cols_clipped or self.padding:
            return False
        return self.any_code and self.heights == (ROWS,) and w.out_width % ROWS == 0

    @property
    def block_step(self) -> str:
        """Bytes from row 0 of a block to row 1, in C."""
        return "DEPTH" if self.fills_blocks else "(count < 3) ? 0 : DEPTH"

    @property
    def rows_of_places(self) -> tuple[str, ...]:
        """The rows whose places rows 1 to 3 of a block have, in C, where the run says them.

        Of a "block", two rows are row 0 three times and row 1, three are the rows 0, 1, 2 and 2.
        """
        if self.fills_blocks and not self.mixes:
            return ()
        last = "count - 1"
        if self.row_source in ("block", "filled"):
            # No two constants of a choice: gcc would load the pair through a register of the FPU.
            return f"({last}) >> 1", f"({last}) & 2", last
        return f"edgec_min_s32(1, {last})", f"edgec_min_s32(2, {last})", last

    @property
    def last_row(self) -> str:
        """Bytes from row 0 of a block to row 3, in C."""
        count = self.tall if self.fills_blocks else "count"
        return f"({count} - 1) * DEPTH"

    @property
    def fills(self) -> bool:
        """Runs of padding are widened, too."""
        w = self.window
        return w is not None and self.widens_runs and (w.rows_clipped or w.cols_clipped)

    @property
    def widen_function(self) -> str:
        """C function that widens a row."""
        return "edgec_widen4_any" if self.any_code else "edgec_widen4"

    @property
    def padding(self) -> int:
        """Zeros after the weights of a filter."""
        return self.depth - self.used_depth

    @property
    def pair_bytes(self) -> int:
        """Bytes of the weights of a pair of filters."""
        return 2 * self.depth

    @property
    def out_bytes(self) -> int:
        """Bytes of an output."""
        return 1 if self.rescale16 is None else self.rescale16.out_bytes

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
    def batch(self) -> int:
        """Pairs of filters whose sums are computed in one call."""
        return min(_BATCH, self.pairs)

    @property
    def rest(self) -> int:
        """Rows in the last block, if it is not full."""
        return self.heights[-1] - self.idle if self.idle else 0

    @property
    def end_row(self) -> str:
        """The rows of a run, in C."""
        return "rows" if self.variable else "ROWS"

    @property
    def count(self) -> str | None:
        """How many rows a block has, in C; None where no code for a block asks."""
        if self.variable or self.rest:
            return f"edgec_min_s32({self.end_row} - first, {self.tall})"
        from_sums = self.rescale16 is None and not self.fuses
        asks = self.row_source == "rows" or from_sums or self.adds or self.rows_of_places
        return self.tall if asks else None

    @property
    def rest_function(self) -> str | None:
        """End of the name of the function that stores a block of fewer rows, if there is one."""
        if self.rescale16 is None or self.fuses:
            return None
        return "rest" if self.variable else str(self.rest) if self.rest else None

    @property
    def fuses(self) -> bool:
        """Outputs are stored from registers (`edgec/tile_4x2_out.h`)."""
        n = self.rescale16
        if self.exact31 is not None:
            return self.exact31.saturates and self.exact31.stays_in_registers
        if n is None:
            return self.saturates and self.shift in _HIGH_SHIFTS
        if self.odd:
            return False
        if n.residual:
            # What is added to fits int16 for such shifts, and saturation is all that comes after.
            wide = (n.output.low, n.output.high) == (INT16_MIN, INT16_MAX)
            return wide and n.output.shift >= _LEAST_SHIFT
        if n.table:
            return n.saturated_bits == 10
        # One instruction saturates; only bytes are lifted after it.
        return n.saturated_bits in (8, 16) and (n.out_bytes == 1 or n.is_saturated)

    @property
    def store(self) -> str:
        """Where outputs are made: the end of the name of a macro, or of sums in memory.

        "high", "out", "offset31" and "twice31" are from registers; "sums31" and "sums16" after 31
        or 16 by 15 bits, "sums_exact31" in an `Exact31`.
        """
        if self.exact31 is not None:
            return self.exact31.end if self.fuses else "sums_exact31"
        if self.fuses:
            return "high" if self.rescale16 is None else "out"
        return "sums31" if self.rescale16 is None else "sums16"

    @property
    def row_distance(self) -> str:
        """Bytes from a widened row to the next, in C."""
        return _INTERLEAVED

    @property
    def fills_blocks(self) -> bool:
        """Every block is full, and its rows of outputs follow each other."""
        return not self.variable and self.idle == 0

    @property
    def out_step(self) -> int:
        """Bytes from a row of outputs to the next where a constant may say it; else 0."""
        return self.row_bytes if self.fills_blocks and self.row_bytes <= _LARGEST_STEP else 0

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
        return self.exact31 is not None and self.fuses and self.alone

    @property
    def numbers_apart(self) -> str | None:
        """The field of the argument struct that names the numbers, where they lie apart."""
        if self.streams:
            return None
        return "numbers" if self.interleaves else "multiplier"

    @property
    def own(self) -> str | None:
        """What the word of the struct is that functions have for themselves."""
        if self.store == "high":
            return "offset"
        return self.rescale16.then if self.rescale16 is not None else None

    @property
    def number_bytes(self) -> int:
        """Bytes of the numbers of which the outputs of a filter are made."""
        if self.exact31 is not None:
            return 12 if self.exact31.has_shifts else 8
        return 4 if self.rescale16 is None else 2

    @property
    def store_extra(self) -> tuple[tuple[str, str], ...]:
        """What functions of sums need beside bias and multiplier: C parameter and argument."""
        found = {
            "rescale16_table": (("const int8_t *table", "table"),),
            "rescale16_added": ((f"const {self.y_type} *extra", "added + 2 * pair"),),
        }
        return found.get(self.end, ())

    @property
    def out_kind(self) -> str:
        """What becomes of a scaled sum: the end of a name in `edgec/tile_4x2_out.h`."""
        if self.rescale16 is not None and self.rescale16.table:
            return "TABLE"
        if self.rescale16 is not None and self.rescale16.residual:
            return "ADDED"
        return "BYTE" if self.out_bytes == 1 else "WIDE"

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
    def blocks(self) -> int:
        """Blocks of rows."""
        return -(-self.rows_by_four // ROWS) + self.threes

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
        """What the function computes, in words."""
        names = {ROWS: "four", _FEWER: "three"}
        rows = f"{' or '.join(names[n] for n in self.heights)} rows"
        if self.window is not None:
            w = self.window
            image = describe_image(w.height, w.width, w.channels)
            y = describe_image(w.out_height, w.out_width, self.units)
            return f"Convolution {image} to {y}, {describe_window(w)}, {rows} at a time"
        shapes = f"[{self.rows}, {self.depth}] by [{self.units}, {self.depth}]"
        return f"Matrix product {shapes}, {rows} at a time"
