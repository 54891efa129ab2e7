"""Tables from which responses are built: what each word means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_pools import KINDS, random_pool

from edgec.kernels.weightpool.tables import (
    ResponseBuilder,
    ResponseKind,
    part_channels,
    response_sums,
    response_table,
)

LOOK_UPS = (ResponseKind.BITSERIAL, ResponseKind.NIBBLE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [2, 17, 64])
@pytest.mark.parametrize("group", [4, 8, 16])
@pytest.mark.parametrize("look_up", LOOK_UPS)
def test_rows_are_dot_products(look_up: ResponseKind, group: int, size: int, kind: str) -> None:
    rng = np.random.default_rng(1)
    pool = random_pool(rng, size, group, kind)
    part = part_channels(look_up, group)
    rows = response_table(pool, look_up).view("u1").reshape(group // part, 1 << part, -1)
    assert rows.shape[-1] % 4 == 0
    for bits in [
        np.zeros(group, np.int64),
        np.ones(group, np.int64),
        *rng.integers(0, 2, (9, group)),
    ]:
        patterns = (bits.reshape(-1, part) << np.arange(part)).sum(1)
        picked = [rows[i, pattern].astype(np.int64) for i, pattern in enumerate(patterns)]
        total = np.sum(picked, axis=0)
        assert total.max() <= 255
        assert (total[:size] == pool.vectors @ bits + 128).all()
        assert not total[size:].any() or (total[size:] == 128).all()


@pytest.mark.parametrize(("group", "parts"), [(4, 1), (8, 1), (16, 2)])
def test_parts(group: int, parts: int) -> None:
    builder = ResponseBuilder(ResponseKind.BITSERIAL, 64, group, 0, 8, 2, 64, zero_is_min=True)
    assert builder.parts == parts
    assert builder.part * parts == group


def test_pool_in_the_order_of_uxtb16() -> None:
    pool = random_pool(np.random.default_rng(2), 3, 8)
    words = response_table(pool, ResponseKind.MULTIPLY)
    lanes = words.view("<i2").reshape(3, 2, 2, 2)
    quads = pool.vectors.reshape(3, 2, 4)
    assert (lanes[:, :, 0] == quads[..., [0, 2]]).all()
    assert (lanes[:, :, 1] == quads[..., [1, 3]]).all()


@pytest.mark.parametrize("size", [2, 5, 64])
def test_sums(size: int) -> None:
    pool = random_pool(np.random.default_rng(3), size, 8)
    words = response_sums(pool).astype(np.int64).reshape(-1, 2)
    low = (words & 0xFFFF).astype(np.uint16).view(np.int16).astype(np.int64)
    high = (((words - low) >> 16) & 0xFFFF).astype(np.uint16).view(np.int16).astype(np.int64)
    sums = np.stack([low[:, 0], low[:, 1], high[:, 0], high[:, 1]], axis=1).reshape(-1)
    assert (sums[:size] == pool.vectors.astype(np.int64).sum(1)).all()
    assert not sums[size:].any()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"bits": 1, "shift": 14}, True),
        ({"bits": 4, "shift": 11}, True),
        ({"bits": 4, "shift": 12}, False),  # half a unit of the sum would not fit its lane
        ({"bits": 5}, False),
        ({"bits": None}, False),
        ({"kind": ResponseKind.BITSERIAL}, False),
        ({"group": 16}, False),
        ({"lanes": 1, "shift": 0}, False),
        ({"zero_is_min": False}, False),
        ({"row_columns": 1}, False),
    ],
)
def test_builders_that_pack(changes: dict[str, Any], expected: bool) -> None:
    base = ResponseBuilder(ResponseKind.MULTIPLY, 64, 8, 6, 4, 2, 64, True, 2)
    builder = replace(base, **changes)
    assert builder.packs == expected
    assert builder.columns == 1 + expected


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_packed_sums_fit_lanes_of_12_bits(bits: int) -> None:
    for shift in range(16):
        builder = ResponseBuilder(ResponseKind.MULTIPLY, 64, 8, shift, bits, 2, 64, True, 2)
        if builder.packs:
            high, low = divmod(builder.packed_start, 1 << 12)
            assert high == low
            assert low - 128 * (2**bits - 1) >= 0
            assert low + 127 * (2**bits - 1) < 1 << 12
            # What is left of the start is the bias of a table word.
            assert (low >> builder.right) << builder.left == builder.word_bias & 0xFFFF


def test_functions_for_rows_with_one_lane() -> None:
    base = ResponseBuilder(ResponseKind.MULTIPLY, 64, 8, 6, 8, 2, 64, True, 2, True)
    assert base.lone_columns == 2
    assert replace(base, row_columns=1).lone_columns == 0
    assert replace(base, kind=ResponseKind.NIBBLE, row_columns=1).lone_columns == 1
    assert replace(base, kind=ResponseKind.NIBBLE, bits=None).lone_columns == 0
    assert replace(base, has_lone_rows=False).lone_columns == 0
    assert replace(base, bits=4).lone_columns == 0, "packs"
