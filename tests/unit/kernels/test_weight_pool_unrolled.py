"""The numbers that templates of pool kernels write out, carried out in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.kernels.weightpool.gather.layout import ColumnLoop, ColumnRun
from edgec.kernels.weightpool.unrolled import (
    code_pairs,
    codes_by_word,
    numbers_by_plane,
    packed_indices,
    plane_rows,
    table_vectors,
    unpacked,
    weight_pairs,
)


@pytest.mark.parametrize("bits", range(1, 13))
def test_packed_indices_are_found_where_they_lie(bits: int) -> None:
    rng = np.random.default_rng(bits)
    indices = rng.integers(0, 1 << bits, 8)
    data = [int(byte) for byte in packed_indices(indices.astype(np.uint16), bits)]
    assert len(data) == bits
    for index, value in zip(unpacked(bits), indices, strict=True):
        word = data[index.byte] >> index.shift
        for other in index.others:
            word |= data[other.byte] << other.shift
        assert word & ((1 << bits) - 1) == value


def _plane_words(codes: np.ndarray) -> dict[int, int]:
    """Bit p % 4 * 8 + c of word 2 * e + p // 4: bit p of code c of the e-th eight."""
    words = dict.fromkeys(range(2 * -(-len(codes) // 8)), 0)
    for number, code in enumerate(codes):
        eight, channel = divmod(number, 8)
        for plane in range(8):
            bit = int(code) >> plane & 1
            words[2 * eight + plane // 4] |= bit << (plane % 4 * 8 + channel)
    return words


@pytest.mark.parametrize(("group", "part"), [(4, 4), (8, 4), (8, 8), (16, 8), (16, 4)])
@pytest.mark.parametrize("planes", [range(8), range(4, 8), range(7, 4, -1)])
def test_rows_of_the_table_are_those_of_the_bits(group: int, part: int, planes: range) -> None:
    codes = np.random.default_rng(group).integers(0, 256, group)
    words = _plane_words(codes)
    parts = group // part
    rows = plane_rows(planes, part, parts)
    assert [row.number for row in rows] == list(range(len(planes) * parts))
    for row in rows:
        plane = planes[row.number // parts]
        own = codes[row.part * part : (row.part + 1) * part]
        expected = sum((int(code) >> plane & 1) << channel for channel, code in enumerate(own))
        assert words[row.word] >> row.shift & ((1 << part) - 1) == expected
        assert row.word == row.pair + 1 - row.half_from_top


def test_rows_are_numbered_plane_by_plane() -> None:
    assert numbers_by_plane(3, 2) == ((0, 1), (2, 3), (4, 5))


def test_words_of_codes() -> None:
    assert [(p.low, p.high, p.first, p.second) for p in code_pairs(4)] == [(0, None, 0, 1)]
    assert [(p.low, p.high) for p in code_pairs(16)] == [(0, 1), (2, 3)]
    assert [code.shift for code in codes_by_word(8)[1]] == [0, 16, 8, 24]
    assert [code.number for code in codes_by_word(8)[1]] == [4, 5, 6, 7]
    assert weight_pairs(6) == ((0, 1), (2, 3), (4, 5))


@pytest.mark.parametrize("tail", [1, 2, 3, 4])
def test_vectors_of_a_word_of_sums(tail: int) -> None:
    vectors = table_vectors(tail)
    assert [vector.lanes for vector in vectors] == ["even", "odd", "even", "odd"]
    assert [vector.half for vector in vectors] == ["low", "low", "high", "high"]
    assert sum(not vector.may_be_padding for vector in vectors) == tail


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_loop_over_columns_covers_each_of_them(step: int) -> None:
    loop = ColumnLoop(ColumnRun(start=0, image_start=0, count=9, first=1, end=8), step)
    last = loop.run.end if loop.last is None else loop.last
    starts = [min(next_, last) for next_ in range(loop.run.first, loop.run.end, loop.step)]
    done = {column for start in starts for column in range(start, start + step)}
    assert done == set(range(1, 8))
