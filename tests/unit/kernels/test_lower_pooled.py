"""Lowering of pooled convolutions: geometry of the table, lists, the proof of the lanes."""

import dataclasses

import numpy as np
import pytest
from kernel_records import distances
from pooled_layer import pooled_layer, worst_images
from random_pools import random_indices, random_vectors

from edgec.base.errors import LoweringError
from edgec.base.fixedpoint import rshr
from edgec.ir import Graph, qops
from edgec.ir.qops.pooled import responses_of, round_codes
from edgec.ir.weight_pool import WeightPool
from edgec.kernels.common.window import Window
from edgec.kernels.weightpool.bounds import least_response_shift, sums_fit_lanes
from edgec.kernels.weightpool.decision import READY_INDEX_BITS, PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.gather.family import builder_table, pooled_conv
from edgec.kernels.weightpool.gather.indices import index_bytes, stored_indices
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.tables import ResponseKind
from edgec.kernels.weightpool.unrolled import packed_indices

CONFIG = PoolKernelConfig(PoolFamily.RESPONSES)
RNG_SEED = 11


def spec_of(window: Window, **changes: object) -> PooledConv:
    spec = PooledConv(
        window=window,
        out_channels=3,
        pool_size=5,
        group=4,
        chunk_groups=2,
        lanes=2,
        response_shift=0,
        shift=32,
        builder=ResponseKind.MULTIPLY,
        index_bits=8,
        bits=8,
        saturates=True,
        zero_is_code_min=True,
    )
    return dataclasses.replace(spec, **changes)  # type: ignore[arg-type]


def random_window(rng: np.random.Generator) -> Window:
    kernel, stride, dilation = (rng.integers(1, n, 2, endpoint=True) for n in (4, 3, 2))
    reach = (kernel - 1) * dilation + 1
    before, after = rng.integers(0, 3, 2), rng.integers(0, 3, 2)
    size = np.maximum(rng.integers(1, 12, 2), reach - before - after)
    out = (size + before + after - reach) // stride + 1
    numbers = (*size, int(rng.integers(1, 20)), *out, *kernel, *stride, *before, *dilation)
    return Window(*(int(n) for n in numbers))


# ---- The table ----


@pytest.mark.parametrize("seed", range(60))
def test_adjacent_outputs_read_adjacent_columns(seed: int):
    w = random_window(np.random.default_rng(seed))
    spec = spec_of(w)
    held = {
        run.start + c: run.image_start + c * w.stride_w
        for run in spec.column_runs
        for c in range(run.count)
    }
    for kx, first in enumerate(spec.tap_columns):
        for ox in range(w.out_width):
            assert held[first + ox] == ox * w.stride_w - w.pad_left + kx * w.dilation_w
    zeros = {at for at, column in held.items() if not 0 <= column < w.width}
    assert set(spec.zero_words) == zeros
    # Zeros that two rows share are zeros in both.
    shared = range(spec.shared_columns)
    assert all(at in zeros and spec.pitch + at in zeros for at in shared)


@pytest.mark.parametrize("seed", range(40))
def test_rows_of_a_window_are_in_the_ring_together(seed: int):
    w = random_window(np.random.default_rng(seed))
    spec = spec_of(w, lanes=1 + seed % 2, keep_rows=seed % 3 == 0)
    assert spec.out_pairs * spec.lanes >= w.out_height > (spec.out_pairs - 1) * spec.lanes
    for pair in range(spec.out_pairs):
        rows = [pair * w.stride_h + ky * w.dilation_h for ky in range(w.kernel_h)]
        assert rows[-1] < spec.pair_rows
        assert len({row % spec.ring_rows for row in rows}) == w.kernel_h
        if spec.is_flat and w.kernel_h > 1:
            assert rows[-1] < spec.ring_rows


@pytest.mark.parametrize("seed", range(40))
def test_rows_with_one_lane_are_found(seed: int):
    w = random_window(np.random.default_rng(seed))
    spec = spec_of(w, lanes=1 + seed % 2)
    image = range(w.height)
    lanes = [
        [row + lane * spec.lane_rows - w.pad_top in image for lane in range(2)]
        for row in range(spec.pair_rows)
    ]
    is_lone = [True, False] in lanes or [False, True] in lanes
    assert spec.has_lone_rows == (is_lone and spec.lanes == 2)


@pytest.mark.parametrize(("shift", "terms"), [(0, 1), (3, 2), (15, 1)])
def test_sums_end_without_the_bias_of_their_words(shift: int, terms: int):
    w = Window(7, 6, 18, 7, 6, 3, 2, 1, 1, 1, 0, 1, 1)
    spec = spec_of(w, response_shift=shift, terms=terms)
    words = 3 * 2 * 5 * terms
    assert (spec.sum_start + words * spec.responses.word_bias) % 2**32 == 0
    assert spec_of(w, lanes=1).sum_start == 0


@pytest.mark.parametrize("seed", range(40))
def test_every_segment_is_whole_rounds(seed: int):
    w = random_window(np.random.default_rng(seed))
    terms = 1 + seed // 5 % 4
    spec = spec_of(w, chunk_groups=min(1 + seed % 5, -(-w.channels // 4)), terms=terms)
    taps = w.taps // spec.segments
    assert 1 <= spec.unroll <= 8
    for groups in (spec.chunk_groups, spec.last_groups):
        assert groups * taps * terms % spec.unroll == 0


def test_parts_of_the_scratch_memory_do_not_overlap():
    spec = spec_of(Window(9, 9, 24, 9, 9, 3, 3, 1, 1, 1, 1, 1, 1), tables_in_ram=True)
    sizes = (spec.table_bytes, spec.list_bytes, spec.sums_bytes, spec.copy_bytes)
    starts = (0, spec.list_start, spec.sums_start, spec.copy_start)
    assert [sum(sizes[:n]) for n in range(4)] == list(starts)
    assert all(start % 4 == 0 for start in starts) and spec.scratch_bytes == sum(sizes)


@pytest.mark.parametrize("kind", ResponseKind)
@pytest.mark.parametrize("zero_is_min", [True, False])
@pytest.mark.parametrize("group", [4, 8, 16])
def test_builders_read_as_many_words_as_the_specification_says(
    kind: ResponseKind, zero_is_min: bool, group: int
):
    pool = WeightPool(random_vectors(np.random.default_rng(0), 10, group))
    window = Window(4, 4, 16, 4, 4, 1, 1, 1, 1, 0, 0, 1, 1)
    spec = spec_of(window, pool_size=10, group=group, builder=kind, zero_is_code_min=zero_is_min)
    assert builder_table(spec, pool).shape == (spec.all_builder_words,)


# ---- Indices ----


@pytest.mark.parametrize("bits", [1, 3, 6, 8, 10, 16])
def test_packed_is_a_little_endian_stream(bits: int):
    numbers = np.random.default_rng(1).integers(0, 2**bits, (3, 7)).astype(np.uint16)
    stream = int.from_bytes(packed_indices(numbers, bits).tobytes(), "little")
    read = [(stream >> (n * bits)) & (2**bits - 1) for n in range(numbers.size)]
    assert read == numbers.ravel().tolist()


@pytest.mark.parametrize("terms", [1, 3])
@pytest.mark.parametrize("keep_rows", [False, True])
def test_lists_lead_to_the_responses_that_filters_sum_up(keep_rows: bool, terms: int):
    w = Window(7, 6, 18, 7, 6, 3, 2, 1, 1, 1, 0, 1, 1)
    spec = spec_of(w, index_bits=READY_INDEX_BITS, keep_rows=keep_rows, chunk_groups=3, terms=terms)
    indices = np.random.default_rng(2).integers(0, 5, (3, 3, 2, 5 * terms)).astype(np.uint16)
    entries = iter(stored_indices(spec, indices).tolist())
    for chunk in (range(3), range(3, 5)):
        for o, ky, number, kx, term in np.ndindex(3, 3, len(chunk), 2, terms):
            g = chunk[number]
            index = int(indices[o, ky, kx, g * terms + term])
            row = (number * 5 + index) * spec.ring_rows + (ky if keep_rows else 0)
            is_last_here = g == chunk[-1] and kx == 1 and term == terms - 1
            last = is_last_here and (ky == 2 or not keep_rows)
            assert next(entries) == 4 * (row * spec.pitch + spec.tap_columns[kx]) + last
    assert list(entries) == [0], "the kernel reads one entry behind the last one"


@pytest.mark.parametrize("terms", [1, 2])
def test_bytes_of_stored_indices(terms: int):
    w = Window(5, 5, 18, 5, 5, 3, 3, 1, 1, 1, 1, 1, 1)
    indices = np.zeros((3, 3, 3, 5 * terms), np.uint16)
    for bits in (3, 8, READY_INDEX_BITS):
        spec = spec_of(w, index_bits=bits, terms=terms)
        assert stored_indices(spec, indices).nbytes == index_bytes(spec)


# ---- The proof that sums fit their lanes ----


def sums(pool: np.ndarray, indices: np.ndarray, pixels: np.ndarray, zero: int, k: int, bits: int):
    """Sum of responses of one filter [KH, KW, groups * terms] to pixels int8 [KH, KW, I]."""
    rounded = round_codes(pixels, bits) - round_codes(np.asarray(zero), bits)
    groups = -(-pixels.shape[-1] // pool.shape[1])
    responses = responses_of(rounded, pool, k).reshape(*indices.shape[:-1], groups, len(pool))
    picked = indices.reshape(*indices.shape[:-1], groups, -1).astype(np.int64)
    return int(np.take_along_axis(responses, picked, -1).sum())


@pytest.mark.parametrize("zero", [-128, 0, 127, -37])
@pytest.mark.parametrize("kind", ["any", "extremes", "positive"])
@pytest.mark.parametrize("channels", [32, 29])
def test_least_shift_is_enough_and_no_less_is(zero: int, kind: str, channels: int):
    rng = np.random.default_rng(RNG_SEED)
    pool = random_vectors(rng, 12, 8, kind)
    indices = random_indices(rng, pool, (4, 3, 3, channels))
    k = least_response_shift(pool, indices, zero, 8, channels)
    assert k > 0
    high, low = worst_images(pool, indices, (3, 3, channels))
    reached = []
    for shift in (k, k - 1):
        ends = [
            sums(pool, index, pixels, zero, shift, 8)
            for index, pair in zip(indices, zip(high, low, strict=True), strict=True)
            for pixels in pair
        ]
        reached.append((min(ends), max(ends)))
    assert reached[0][0] >= -32768 and reached[0][1] <= 32767
    # The bound is reached by an input, unless a narrower width of the same layer goes further.
    assert reached[1][0] < -32768 or reached[1][1] > 32767 or zero not in (-128, 127)
    assert not sums_fit_lanes(pool, indices, zero, 8, k - 1, channels)


@pytest.mark.parametrize("seed", range(12))
def test_no_input_of_any_width_goes_beyond_the_bound(seed: int):
    rng = np.random.default_rng(seed)
    terms = 1 + seed % 4
    pool = random_vectors(rng, 6, 4, "extremes", terms)
    indices = random_indices(rng, pool, (3, 2, 2, 30), terms)
    zero = int(rng.integers(-128, 128))
    k = least_response_shift(pool, indices, zero, 8, 30)
    for bits in range(1, 9):
        for high, low in zip(*worst_images(pool, indices, (2, 2, 30)), strict=True):
            noise = rng.integers(-128, 128, high.shape).astype(np.int8)
            for pixels in (high, low, noise, np.where(noise > 0, high, low).astype(np.int8)):
                for index in indices:
                    assert -32768 <= sums(pool, index, pixels, zero, k, bits) <= 32767


def test_weights_behind_the_last_channel_do_not_count():
    pool = np.array([[1, 126, 0, 0]], np.int8)
    indices = np.zeros((1, 4, 4, 20), np.uint16)
    assert least_response_shift(pool, indices, -128, 8) == least_response_shift(
        pool, indices, -128, 8, 80
    )
    assert sums_fit_lanes(pool, indices[:, :1, :1, :1], -128, 8, 0, 1)
    single = np.zeros((1, 8, 8, 1), np.uint16)
    assert least_response_shift(pool, single, -128, 8, 1) == 0
    assert least_response_shift(pool, single, -128, 8, 4) > 0
    # Of both terms of the last group.
    twice = np.zeros((1, 8, 8, 2), np.uint16)
    assert least_response_shift(pool, twice, -128, 8, 1) == 0
    assert least_response_shift(pool, twice, -128, 8, 8) > 0


def test_a_layer_beyond_any_shift():
    pool = np.array([[127, 0, 0, 0]], np.int8)
    with pytest.raises(LoweringError, match="do not fit 16 bits"):
        least_response_shift(pool, np.zeros((1, 200, 200), np.uint16), -128, 8)


# ---- Building ----


def layer(rounding: qops.PoolRounding, channels: int = 64, pool_size: int = 16) -> Graph:
    rng = np.random.default_rng(3)
    pool = random_vectors(rng, pool_size, 8)
    indices = random_indices(rng, pool, (8, 3, 3, channels))
    return pooled_layer((8, 8, channels), pool, indices, pad=1, rounding=rounding)


def build(graph: Graph, **changes: object) -> PooledConv:
    config = dataclasses.replace(CONFIG, **changes)  # type: ignore[arg-type]
    return pooled_conv(graph, graph.nodes[0], config)


def test_a_shift_below_the_proof_is_refused():
    with pytest.raises(LoweringError, match="layer.*do not fit 16 bits"):
        build(layer(qops.PoolRounding(8, 1)))


def test_one_lane_needs_exact_responses():
    with pytest.raises(LoweringError, match="exact"):
        build(layer(qops.PoolRounding(8, 9)), lanes=1)
    assert build(layer(qops.PoolRounding(8, 0)), lanes=1).scratch_bytes > 0


def test_a_table_beyond_16_bits_is_refused():
    graph = layer(qops.PoolRounding(8, 9), pool_size=256)
    assert build(graph, chunk_groups=2).fits_entries
    with pytest.raises(LoweringError, match="16-bit offsets"):
        build(graph, chunk_groups=4)


def test_chunks_are_no_larger_than_the_layer():
    assert build(layer(qops.PoolRounding(8, 9), channels=20), chunk_groups=100).chunks == 1


@pytest.mark.parametrize(
    ("rows", "expected"), [(64, (8, 8)), (49, (7, 7)), (1, (1, 1)), (2, (2, 1))]
)
def test_pixels_of_a_pointwise_layer_are_arranged_for_the_blocks(
    rows: int, expected: tuple[int, int]
):
    rng = np.random.default_rng(4)
    pool = random_vectors(rng, 4, 8)
    graph = pooled_layer(
        (1, rows, 16),
        pool,
        random_indices(rng, pool, (4, 1, 1, 16)),
        rounding=qops.PoolRounding(8, 9),
    )
    window = build(graph).window
    assert (window.height, window.width) == expected


# ---- Order of reading and writing ----


def _times(spec: PooledConv) -> tuple[np.ndarray, np.ndarray]:
    """Spelled out: when each input row is last read, when each output row is written."""
    w = spec.window
    read, written = np.zeros(w.height, int), np.zeros(w.out_height, int)
    built: set[int] = set()
    for pair in range(spec.out_pairs):
        top = pair * w.stride_h
        for row in sorted(set(range(top, top + spec.reach_h)) - built):
            for lane in range(spec.lanes):
                at = row - w.pad_top + lane * spec.lane_rows
                if 0 <= at < w.height:
                    read[at] = 2 * pair
        built |= set(range(top + spec.reach_h))
        for lane in range(spec.lanes):
            if pair + lane * spec.out_pairs < w.out_height:
                written[pair + lane * spec.out_pairs] = 2 * pair + 1
    return read, written


@pytest.mark.parametrize("seed", range(30))
def test_no_row_is_written_over_unread_input(seed: int):
    rng = np.random.default_rng(seed)
    w = random_window(rng)
    spec = spec_of(w, chunk_groups=5, lanes=1 + seed % 2, out_channels=int(rng.integers(1, 20)))
    assert spec.chunks == 1
    read, written = _times(spec)
    in_row, out_row = w.width * w.channels, w.out_width * spec.out_channels
    read_at = np.repeat(read, in_row)
    written_at = np.repeat(written, out_row)
    (distance,) = distances(spec)
    assert distance is not None

    def safe(delta: int) -> bool:
        byte = np.arange(len(written_at))
        met = (byte - delta >= 0) & (byte - delta < len(read_at))
        return bool(np.all(written_at[met] > read_at[byte[met] - delta]))

    assert all(safe(delta) for delta in range(distance, len(written_at)))
    assert distance == 0 or not safe(distance - 1)


def test_with_several_chunks_the_output_may_take_the_inputs_place():
    spec = spec_of(Window(9, 9, 24, 9, 9, 3, 3, 1, 1, 1, 1, 1, 1))
    assert spec.chunks == 3 and distances(spec) == (0,)
    assert distances(dataclasses.replace(spec, residual_shift=3)) == (0, None)


def test_rounding_of_extremes_is_monotone():
    """What the proof rests on."""
    values = np.arange(-5000, 5000)
    assert all(np.all(np.diff(rshr(values, k)) >= 0) for k in range(16))
