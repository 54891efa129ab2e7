"""Specification of the pooled convolution that gathers *responses* (`ir.qops.PoolRounding`).

The table.  Responses of two input rows r and r + D (D = `lane_rows`) are the two 16-bit lanes of
one word, ``low + 65536 * high`` modulo 2^32, so that plain additions sum up both lanes.  The table
holds them as words [chunk_groups, pool_size, ring_rows, pitch]: for one group and one vector some
*pair rows*, each a row of `pitch` columns, padding included as zeros.  Every filter then only adds
up runs of words, each found through one 16-bit entry of a list that the indices are turned into.

Columns lie by their remainder modulo the stride, so that what neighbouring output columns read is
adjacent.  A row's padding at the right may be the next row's padding at the left.

`columns`, `rows` and `groups` say how the table is laid out and how indices are stored; here are
the fields, the builder of responses and the places in scratch memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.kernels.common.interface import c_parameters, end_kind
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import template_beside
from edgec.kernels.weightpool.gather.groups import TableGroups
from edgec.kernels.weightpool.gather.layout import WORD_BYTES, ColumnLoop, TableRows
from edgec.kernels.weightpool.plain import describe_terms
from edgec.kernels.weightpool.tables import ResponseBuilder, ResponseKind, table_words

_WORD_RANGE = 2**32

_ENTRY_LIMIT = 2**16
"""Entries are byte offsets into the table."""

_UNROLLED = 6
"""Look-ups written out in the loop of the gathering, at most, unless one row of taps is longer."""

_MOST_UNROLLED = 32
"""Look-ups written out, at most: an Armv6-M load reaches no entry further away."""


@dataclass(frozen=True, slots=True)
class PooledConv(TableRows, TableGroups):
    """Pooled convolution: builds responses, then every filter gathers and adds.

    x int8 [height, width, channels], indices of [out_channels, kernel_h, kernel_w, groups *
    terms] in the order of `stored_indices`, y int8 [out_height, out_width, out_channels].

    Attributes:
        window: geometry; that of a matrix product is any factorization of its rows.
        out_channels: filters.
        pool_size: vectors of the pool, S.
        group: weights of a vector, G.
        chunk_groups: groups of channels whose responses are in the table at a time.
        lanes: output rows that a word serves: 2, or 1 for sums of 32 bits.
        response_shift: k of `PoolRounding`; 0 if there is one lane or the sums fit 16 bits anyway.
        shift: right shift of the requantization.
        builder: how the responses are built.
        index_bits: bits of a stored index, see `PoolKernelConfig`.
        bits: width of activations; None: an argument of the kernel.
        saturates: outputs are clamped to the codes of int8 and no further.
        zero_is_code_min: the zero point of x is -128 (activations after a rectifier).
        keep_rows: the table holds all pair rows.
        tables_in_ram: the pool or its look-up table is copied to scratch memory first.
        residual_shift: right shift of the addition at the end; None: there is no addition.
        short: biases and multipliers have 16 bits each (`short_numbers`).
        terms: vectors of the pool that are added up to a vector of the layer.
    """

    family: ClassVar[str] = "pooled_conv"
    template: ClassVar[Path] = template_beside(__file__, "pooled_conv")
    window: Window
    out_channels: int
    pool_size: int
    group: int
    chunk_groups: int
    lanes: int
    response_shift: int
    shift: int
    builder: ResponseKind
    index_bits: int
    bits: int | None
    saturates: bool
    zero_is_code_min: bool
    keep_rows: bool = False
    tables_in_ram: bool = False
    residual_shift: int | None = None
    short: bool = False
    terms: int = field(default=1, kw_only=True)

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""
        return "edgec_pool_short_params_t" if self.short else "edgec_pool_params_t"

    @property
    def runtime_bits(self) -> bool:
        """The width of activations is an argument of the kernel."""
        return self.bits is None

    @property
    def end(self) -> str:
        """Kind of the end, from sums to outputs: see `end_kind`."""
        return end_kind(None, self.residual_shift)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The C parameters after x."""
        own = ("int8_t *y", "int8_t *scratch", f"const {self.params_type} *params")
        bits = ("int32_t bits",) if self.runtime_bits else ()
        return c_parameters(self.end, "int8_t", (own, bits))

    # ---- Builder of responses ----

    @property
    def responses(self) -> ResponseBuilder:
        """The function that builds the responses of a pair of pixels."""
        return ResponseBuilder(
            kind=self.builder,
            size=self.pool_size,
            group=self.group,
            shift=self.response_shift,
            bits=self.bits,
            lanes=self.lanes,
            row_words=self.vector_bytes // WORD_BYTES,
            zero_is_min=self.zero_is_code_min,
            row_columns=min(run.end - run.first for run in self.column_runs),
            has_lone_rows=self.has_lone_rows,
        )

    @property
    def packs(self) -> bool:
        """The builder reads the pool in another form, which is made in scratch memory."""
        return self.responses.packs

    @property
    def sum_start(self) -> int:
        """First value of a sum of words, so that it ends without their bias."""
        return -self.filter_entries * self.responses.word_bias % _WORD_RANGE

    @property
    def needs_sums(self) -> bool:
        """The builder reads the sums of the pool's vectors as well; they are after its table."""
        return self.builder is not ResponseKind.MULTIPLY and not self.zero_is_code_min

    @property
    def builder_words(self) -> int:
        """Words of the builder's table."""
        return table_words(self.builder, self.pool_size, self.group)

    @property
    def all_builder_words(self) -> int:
        """Words of the builder's table and of the sums after it."""
        sums = 2 * -(-self.pool_size // WORD_BYTES)
        return self.builder_words + (sums if self.needs_sums else 0)

    @property
    def column_loops(self) -> tuple[ColumnLoop, ...]:
        """The loops of the builder over the columns of a row."""
        return tuple(ColumnLoop(run, self.responses.columns) for run in self.column_runs)

    @property
    def lone_column_loops(self) -> tuple[ColumnLoop, ...]:
        """The loops of the builder of rows with one lane, if there is one."""
        step = self.responses.lone_columns
        return tuple(ColumnLoop(run, step) for run in self.column_runs) if step else ()

    # ---- Sums ----

    @property
    def unroll(self) -> int:
        """Look-ups written out in the loop of the gathering; divides every segment."""
        length = self.group_entries // self.segments
        length *= math.gcd(self.chunk_groups, self.last_groups)
        longest = max(_UNROLLED, min(self.window.kernel_w, _MOST_UNROLLED))
        return max(n for n in range(1, longest + 1) if length % n == 0)

    @property
    def entry_column_bytes(self) -> tuple[int, ...]:
        """`entry_columns` in bytes."""
        return tuple(WORD_BYTES * column for column in self.entry_columns)

    # ---- Memory ----

    @property
    def table_rows(self) -> int:
        """Rows of the table."""
        return self.chunk_groups * self.pool_size * self.ring_rows

    @property
    def vector_bytes(self) -> int:
        """Bytes of the table for one group and one vector: what an index is multiplied with."""
        return self.ring_rows * self.pitch * WORD_BYTES

    @property
    def group_bytes(self) -> int:
        """Bytes of the table for one group."""
        return self.pool_size * self.vector_bytes

    @property
    def fits_entries(self) -> bool:
        """Every offset into the table fits 16 bits; a specification without it is illegal."""
        return self.chunk_groups * self.group_bytes <= _ENTRY_LIMIT

    @property
    def table_bytes(self) -> int:
        """The table, and what the last block reads after it."""
        beyond = self.shared_columns + self.padded_width - self.window.out_width
        return self.chunk_groups * self.group_bytes + beyond * WORD_BYTES

    @property
    def sum_rows(self) -> int:
        """Output pair rows whose sums are kept: all, if there are several chunks."""
        return self.out_pairs if self.chunks > 1 else 1

    @property
    def sums_bytes(self) -> int:
        """Sums as words [sum_rows, out_channels, padded_width]."""
        return self.sum_rows * self.out_channels * self.padded_width * WORD_BYTES

    @property
    def sum_words(self) -> int:
        """Words of the sums."""
        return self.sums_bytes // WORD_BYTES

    @property
    def list_start(self) -> int:
        """Place of the list in scratch memory, in bytes; the table comes first."""
        return self.table_bytes

    @property
    def sums_start(self) -> int:
        """Place of the sums in scratch memory, in bytes."""
        return self.list_start + self.list_bytes

    @property
    def copy_start(self) -> int:
        """Place of the copied pool or look-up table in scratch memory, in bytes."""
        return self.sums_start + self.sums_bytes

    @property
    def copy_bytes(self) -> int:
        """The copied pool or look-up table, or the pool as a builder that packs reads it."""
        if self.packs:
            return self.responses.packed_words * WORD_BYTES
        return self.all_builder_words * WORD_BYTES if self.tables_in_ram else 0

    @property
    def scratch_bytes(self) -> int:
        """Table, list, sums and copy."""
        return self.copy_start + self.copy_bytes

    # ---- Order of writing ----

    @property
    def writes_at_end(self) -> bool:
        """All of x has been read before the first element of y is written."""
        return self.chunks > 1 or self.out_pairs == 1

    # ---- For reports ----

    @property
    def look_ups(self) -> int:
        """Runs of words that one call adds up."""
        per_block = self.out_channels * self.filter_entries
        return self.out_pairs * len(self.blocks) * per_block

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the convolution that one call stands for."""
        return self.out_elements * self.window.taps * self.window.channels

    def describe(self) -> str:
        """Operator, shapes and pool in words, for a comment in C."""
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        pool = f"{describe_terms(self.terms)}pool [{self.pool_size}, {self.group}]"
        return f"Pooled convolution {x} to {y}, {describe_window(w)}, {pool}"
