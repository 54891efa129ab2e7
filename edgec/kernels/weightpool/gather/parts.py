"""The parts of a call of the kernel that builds responses and adds them up (`PooledConv`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.kernels.common.layer_end import KernelForm
from edgec.kernels.common.parts import WORD_BYTES, Parts, Run, TableReads
from edgec.kernels.weightpool.events import Event
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.tables import ResponseBuilder, ResponseKind, part_channels
from edgec.kernels.weightpool.unrolled import spilled_rows

_NEAR_STORE_BYTES = 256
"""A store can move its address on by less than this."""
_NEAR_STORES_BYTES = 1364
"""Four stores at multiples of up to this many bytes need no other address."""
_ADD_BYTES = 4096
"""An addition to an address takes a number below this."""


def parts(spec: PooledConv, run: Run) -> Parts:
    """Counts of a call."""
    form = run.form
    pixels = BuiltPixels.of(spec, form)
    found = _of_sums(spec) | _of_calls(spec, pixels, form)
    if spec.decodes:
        entries = spec.out_channels * spec.filter_entries
        # Places are added to two entries at a time if a filter has an even number of them.
        is_even = spec.chunk_places % 2 == 0
        found |= {Event.ENTRY: entries, Event.PLACE: entries / (2 if is_even else 1)}
    if spec.builder is ResponseKind.MULTIPLY:
        found |= _of_products(spec, pixels, form)
    else:
        found |= _of_planes(spec, pixels, run.bits, form)
    if spec.residual_shift is not None:
        found[Event.LANE_RESIDUAL] = spec.out_elements
    return Parts(found, table=_table(spec, run.bits, pixels))


def _table(spec: PooledConv, bits: int, pixels: BuiltPixels) -> TableReads:
    """Reads of the pool or the look-up table that responses are built from."""
    size = WORD_BYTES * spec.builder_words
    if spec.tables_in_ram or spec.responses.packs:
        return TableReads(1, spec.builder_words, foretold=True, copied=True)
    if spec.builder is ResponseKind.MULTIPLY:
        return TableReads(pixels.every, spec.builder_words, size, foretold=True)
    parts = spec.group / part_channels(spec.builder, spec.group)
    return TableReads(
        pixels.singles(spec.lanes) * bits * parts, -(-spec.pool_size // WORD_BYTES), size
    )


@dataclass(frozen=True, slots=True)
class BuiltPixels:
    """Pixels, or pairs of them, whose responses one call of a kernel builds, times groups.

    Attributes:
        pairs: those with something in every lane, or for which the kernel takes no short way.
        lone: those with something in at most one of two lanes.
    """

    pairs: int
    lone: int

    @classmethod
    def of(cls, spec: PooledConv, form: KernelForm) -> BuiltPixels:
        """The pixels that a kernel builds responses of."""
        window, builder = spec.window, spec.responses
        tops = [pair * window.stride_h - window.pad_top for pair in range(spec.out_pairs)]
        rows = {row for top in tops for row in range(top, top + spec.reach_h)}
        whole = [row for row in rows if row >= 0 and row + spec.lane_rows < window.height]
        short = len(rows) - len(whole) if builder.lone_columns else 0
        counts = [max(run.end - run.first, 0) for run in spec.column_runs]
        pairs = (len(rows) - short) * _in_steps(counts, builder.columns) * spec.groups
        lone = short * _in_steps(counts, builder.lone_columns or 1) * spec.groups
        return cls(pairs, lone) if _lone_columns(builder, form) else cls(pairs + lone, 0)

    @property
    def every(self) -> int:
        """All of them."""
        return self.pairs + self.lone

    def singles(self, lanes: int) -> int:
        """Single pixels."""
        return self.pairs * lanes + self.lone


def _in_steps(counts: Sequence[int], step: int) -> int:
    """Columns that are built `step` at a time; the last ones may be built twice."""
    return sum(-(-count // step) * step for count in counts)


def _columns(builder: ResponseBuilder, form: KernelForm) -> int:
    """Columns that one call of a builder's function really builds together."""
    return builder.columns if form.has_dsp else 1


def _lone_columns(builder: ResponseBuilder, form: KernelForm) -> int:
    """Columns in a call of the function for rows with a lane of padding; 0: it is no shorter."""
    is_short = builder.kind is not ResponseKind.MULTIPLY or _has_product_loop(builder, form)
    return builder.lone_columns if is_short else 0


def _has_product_loop(builder: ResponseBuilder, form: KernelForm) -> bool:
    """Products are computed by assembly."""
    return builder.has_product_loop if form.has_dsp else builder.has_pair_loop and form.is_thumb2


def _of_calls(spec: PooledConv, pixels: BuiltPixels, form: KernelForm) -> dict[str, float]:
    builder = spec.responses
    calls = pixels.pairs / _columns(builder, form)
    calls += pixels.lone / (_lone_columns(builder, form) or 1)
    return {
        Event.BUILD: calls,
        Event.PIXEL: calls / spec.groups * spec.chunks,
        Event.CODES: pixels.singles(spec.lanes) * spec.group / 4,
    }


# ---- Products ----


def _of_products(spec: PooledConv, pixels: BuiltPixels, form: KernelForm) -> dict[str, float]:
    builder = spec.responses
    size = spec.pool_size
    if not _has_product_loop(builder, form):
        vectors = pixels.pairs * size
        return {
            Event.PLAIN_VECTOR: vectors,
            Event.PLAIN_WEIGHT: vectors * spec.group,
            Event.PLAIN_SHIFT: vectors * (spec.lanes - 1),
        }
    packs = builder.packs and form.has_dsp
    pairs = pixels.pairs * size / _columns(builder, form)
    lone = pixels.lone * size / 2
    shifts = _product_shifts(builder, packs, form) * pairs + 2 * (builder.shift > 0) * lone
    pair, alone = (
        (Event.PAIR_VECTOR_DSP, Event.LONE_VECTOR_DSP)
        if form.has_dsp
        else (Event.PAIR_VECTOR, Event.LONE_VECTOR)
    )
    return {
        Event.PACKED_VECTOR if packs else pair: pairs,
        alone: lone,
        Event.PRODUCT_TURN: pairs / builder.unrolled + lone / builder.least_unrolled,
        Event.PACK: 8 * pairs / size if packs else 0,
        Event.SHIFT: shifts,
        Event.FAR_STORE: (pairs + lone) * _moves(builder, _NEAR_STORE_BYTES),
    }


def _product_shifts(builder: ResponseBuilder, packs: bool, form: KernelForm) -> int:
    """Instructions that shift the sums of a vector's products."""
    if packs:
        return 2 * (builder.right > 4) + 2 * (builder.left > 0)
    return (1 if form.has_dsp else 3) * (builder.shift > 0)


def _moves(builder: ResponseBuilder, near: int) -> int:
    """Instructions that move the address to the word of the next vector, beside the store."""
    step = 4 * builder.row_words
    return (step >= near) + (step >= max(near, _ADD_BYTES))


# ---- Bit planes ----


def _of_planes(
    spec: PooledConv, pixels: BuiltPixels, bits: int, form: KernelForm
) -> dict[str, float]:
    builder = spec.responses
    singles = pixels.singles(spec.lanes)
    found: dict[str, float] = {
        Event.PLANES: singles * -(-spec.group // 8),
        Event.ROW: singles * builder.planes * builder.parts,
        Event.FREE_WORD: singles * builder.words if spec.bits is None else 0,
        Event.ZERO_WORD: 0 if spec.zero_is_code_min else singles * builder.words,
    }
    if form.is_thumb2 and builder.has_blocks:
        found[Event.BLOCK] = singles * bits * builder.words / 4
        if builder.has_writer:
            return found | _of_writer(builder, pixels)
        found[Event.SUM_BLOCK] = singles * builder.words / 4
    else:
        found[Event.PLANE_WORD] = singles * bits * builder.words
        found[Event.PART_WORD] = singles * bits * (builder.parts - 1) * builder.words
        found[Event.RELOAD] = singles * spilled_rows(bits * builder.parts) * builder.words
    found[Event.LANE_WORD] = singles * builder.words
    found[Event.TABLE_WORD] = pixels.every * spec.pool_size
    return found


def _of_writer(builder: ResponseBuilder, pixels: BuiltPixels) -> dict[str, float]:
    """Table words written by assembly, sixteen vectors at a time."""
    blocks = builder.words / 4
    shifts = (builder.right > 0) + (builder.left > 0)
    return {
        Event.PAIR_BLOCK: pixels.pairs * blocks,
        Event.LONE_BLOCK: pixels.lone * blocks,
        Event.SHIFT: (16 * pixels.pairs + 8 * pixels.lone) * blocks * shifts,
        Event.FAR_STORE: 16 * pixels.every * blocks * _moves(builder, _NEAR_STORES_BYTES + 1),
    }


# ---- Sums ----


def _of_sums(spec: PooledConv) -> dict[str, float]:
    """Gathering and storing."""
    wide = spec.blocks.count(8)
    short = len(spec.blocks) - wide
    runs = spec.out_channels * spec.out_pairs * spec.chunks
    look_ups = spec.out_channels * spec.out_pairs * spec.filter_entries
    return {
        Event.LOOK_UP_8: look_ups * wide,
        Event.LOOK_UP_4: look_ups * short,
        Event.ROUND: look_ups * len(spec.blocks) / spec.unroll,
        Event.BASE: runs * len(spec.blocks) * spec.segments,
        Event.FILTER_8: runs * wide,
        Event.FILTER_4: runs * short,
        Event.GATHER: spec.out_pairs * spec.chunks * len(spec.blocks),
        Event.START: spec.out_pairs * spec.out_channels * spec.padded_width / 4,
        Event.OUTPUT_ROW: spec.out_channels * spec.out_pairs,
        Event.OUTPUT_TURN: spec.out_elements / spec.lanes / spec.stored_columns,
        Event.OUTPUT: spec.out_elements,
    }
