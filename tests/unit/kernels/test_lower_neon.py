"""Kernels for cores with NEON: the choice, the layout of weights, and what may overlap."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from access_order import events_of, least_distance, surely_legal_distance
from cross import MACHINES, check_program, library_for, linked
from kernel_records import distances
from lower_samples import BOARD, small_net
from neon_layers import KINDS, product
from parity import samples_of
from random_transformer import Layer, conv, norm, operators, rescale
from targets import bare_target
from test_lower_overlap import _tight_plan

from edgec.base.dtypes import DType
from edgec.ir import Graph, qops
from edgec.kernels.common.form_ends import Rescale16, TypedEnd
from edgec.kernels.common.spec import Loop
from edgec.kernels.common.window import Window
from edgec.kernels.generic.elementwise.operators import Element
from edgec.kernels.generic.elementwise_chain import Step
from edgec.kernels.generic.gemm import Gemm
from edgec.kernels.neon.add_s8_neon import TfliteAddNeon
from edgec.kernels.neon.attention import AttentionNeon
from edgec.kernels.neon.dense_4x4_s8_neon import Dense4x4
from edgec.kernels.neon.dense_4x16_s16_neon import Dense4x16
from edgec.kernels.neon.dense_4x16_s16_neon import packed as packed_eights
from edgec.kernels.neon.dense_8x8_s8_dot import Dense8x8
from edgec.kernels.neon.dense_8x8_s8_dot import packed as packed_words
from edgec.kernels.neon.dense_8x8_s16_dot import Dense8x8S16
from edgec.kernels.neon.depthwise_s8_neon import DepthwiseNeon
from edgec.kernels.neon.depthwise_s8_neon.channels import groups_of
from edgec.kernels.neon.depthwise_s8_neon.channels import packed as packed_channels
from edgec.kernels.neon.depthwise_s16_neon import DepthwiseS16Neon
from edgec.kernels.neon.elements import ElementsNeon
from edgec.kernels.neon.lut import LutNeon
from edgec.kernels.neon.pairs import packed_pairs, pairs_of, places_of
from edgec.kernels.neon.rescale import RescaleNeon
from edgec.kernels.neon.weights import packed, padded
from edgec.kernels.select import select_kernels
from edgec.target.cores import Core
from edgec.target.target import Target

A53 = bare_target(Core.CORTEX_A53)
A7 = bare_target(Core.CORTEX_A7)
_TYPED = tuple(
    TypedEnd(x, y) for x in (DType.INT8, DType.INT16) for y in (DType.INT8, DType.INT16)
)[1:]
"""Element types of which one at least is int16."""
_WINDOWS = (
    Window(5, 6, 4, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1),
    Window(5, 5, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1),
    Window(1, 11, 7, 1, 11, 1, 1, 1, 1, 0, 0, 1, 1),
    Window(6, 6, 2, 3, 3, 1, 1, 2, 2, 0, 0, 1, 1),
)


def families(graph: Graph, board: Target) -> list[str]:
    return [choice.spec.family for choice in select_kernels(graph, board)]


def test_weights_are_packed_in_blocks_of_four_filters() -> None:
    weights = np.arange(1, 6 * 18 + 1).reshape(6, 1, 2, 9).astype(np.int8)
    found = packed(weights)
    assert found.shape == (2, 2, 4, 16)
    rows = weights.reshape(6, 18)
    for filter_, value in itertools.product(range(8), range(32)):
        expected = rows[filter_, value] if filter_ < 6 and value < 18 else 0
        assert found[filter_ // 4, value // 16, filter_ % 4, value % 16] == expected


def test_blocks_go_together_where_no_code_can_overflow_16_bits() -> None:
    rng = np.random.default_rng(1)
    for most in (30, 64, 90, 128):
        weights = rng.integers(-most + 1, most, (10, 3, 3, 40)).astype(np.int8)
        partners, blocks = pairs_of(weights), 23
        assert partners.shape == (3, blocks)
        numbers = np.arange(blocks)
        sizes = np.abs(packed(weights).astype(int))
        lanes = sizes[..., :8] + sizes[..., 8:]
        for group, partner in enumerate(partners):
            assert (partner[partner] == numbers).all()
            for one, other in ((n, partner[n]) for n in numbers if partner[n] > n):
                assert (lanes[group, one] + lanes[group, other]).max() * 128 <= 32767
            alone = numbers[partner == numbers]
            for one, other in itertools.combinations(alone, 2):
                assert (lanes[group, one] + lanes[group, other]).max() * 128 > 32767


@pytest.mark.parametrize("in_place", [False, True])
def test_weights_of_pairs_follow_their_order(in_place: bool) -> None:
    """Each block of weights meets the block of values of x that its place says."""
    window = Window(8, 8, 16, 8, 8, 3, 3, 1, 1, 1, 1, 1, 1)
    rng = np.random.default_rng(2)
    weights = rng.integers(-50, 51, (6, 3, 3, 16)).astype(np.int8)
    spec = Dense4x4(window, 6, 38, paired=True)
    assert spec.reads_in_place
    places = spec.places if in_place else places_of(spec.depth)
    stored = packed_pairs(weights, pairs_of(weights), places)
    rows = np.concatenate([weights.reshape(6, 9, 16), np.zeros((2, 9, 16), np.int8)])
    start = spec.orders_bytes
    for group in range(2):
        at = group * spec.order_step
        pairs, *order = stored[at : at + spec.order_step].view("<u2").tolist()
        found = [places.tolist().index(place) for place in order]
        assert sorted(found) == list(range(9))
        expected = rows[4 * group : 4 * group + 4, found]
        together = stored[start : start + pairs * 128].reshape(pairs, 4, 2, 16)
        for number in range(pairs):
            assert (together[number] == expected[:, 2 * number : 2 * number + 2]).all()
        alone = stored[start + pairs * 128 : start + 9 * 64].reshape(-1, 4, 16)
        assert (alone.swapaxes(0, 1) == expected[:, 2 * pairs :]).all()
        start += 9 * 64
    assert start == len(stored)


def test_numbers_of_missing_filters_are_zero() -> None:
    assert padded(np.array([3, 4, 5, 6, 7])).tolist() == [3, 4, 5, 6, 7, 0, 0, 0]
    assert padded(np.array([3, 4, 5, 6])).tolist() == [3, 4, 5, 6]


@pytest.mark.parametrize(("rows", "tiles"), [(1, (1,)), (2, (4,)), (4, (4,)), (5, (4, 1))])
def test_a_row_that_stands_alone_has_a_function_of_its_own(rows: int, tiles: tuple) -> None:
    window = Window(1, rows, 8, 1, rows, 1, 1, 1, 1, 0, 0, 1, 1)
    assert tuple(tile.rows for tile in Dense4x4(window, 4, 32).tiles) == tiles


def test_other_networks_get_these_kernels_too() -> None:
    found = families(small_net(), A53)
    assert found.count("dense_4x4_s8_neon") >= 3
    assert "depthwise_s8_neon" in found
    assert not {
        name
        for name in families(small_net(), BOARD)
        if "neon" in name or name == "dense_4x4_s8_neon"
    }


def test_taps_share_16_bits_where_no_code_can_overflow_them() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        size = rng.integers(1, 5, 2)
        weights = rng.integers(-128, 128, (rng.integers(1, 9), *size, 1)).astype(np.int8)
        groups = groups_of(weights, int(size[1]))
        assert sorted(tap for group in groups for tap in group) == list(range(size[0] * size[1]))
        rows = np.abs(weights.reshape(len(weights), -1).astype(int))
        assert all(rows[:, group].sum(axis=1).max() * 128 <= 32767 for group in groups)
    small = np.full((3, 3, 3, 1), -28, np.int8)
    assert groups_of(small, 3) == (tuple(range(9)),)
    both = np.full((1, 1, 2, 1), -128, np.int8)
    assert groups_of(both, 2) == ((0,), (1,))


def test_taps_of_long_filters_go_two_by_two_within_a_row() -> None:
    weights = np.full((2, 13, 5, 1), 127, np.int8)
    assert groups_of(weights, 5)[:4] == ((0, 1), (2, 3), (4,), (5, 6))
    weights[0, 3, :2] = -128
    assert groups_of(weights, 5) == tuple((tap,) for tap in range(65))


def test_channels_are_packed_tap_by_tap() -> None:
    weights = np.arange(21 * 2).reshape(21, 1, 2, 1).astype(np.int8)
    found = packed_channels(weights, [1, 0], 1)
    assert found[:32].reshape(2, 16).tolist() == [list(range(1, 32, 2)), list(range(0, 32, 2))]
    last = [[33, 35, 37, 39, 41, 0, 0, 0], [32, 34, 36, 38, 40, 0, 0, 0]]
    assert found[32:].reshape(2, 8).tolist() == last
    assert packed_channels(weights[:4], [0, 1], 4).tolist()[:8] == [0, 2, 4, 6, 0, 2, 4, 6]


_DEPTHWISE = (
    *_WINDOWS[:2],
    Window(5, 6, 16, 3, 4, 3, 3, 1, 1, 0, 0, 1, 1),
    Window(7, 4, 40, 5, 4, 3, 1, 1, 1, 0, 0, 1, 1),
    Window(7, 9, 40, 3, 4, 2, 2, 2, 2, 0, 0, 2, 1),
    Window(6, 7, 8, 4, 6, 3, 2, 1, 1, 0, 0, 1, 1),
    Window(6, 7, 8, 2, 3, 3, 2, 3, 2, 0, 0, 1, 1),
    Window(6, 7, 24, 6, 7, 3, 3, 1, 1, 1, 1, 1, 1),
    Window(3, 4, 32, 3, 4, 1, 1, 1, 1, 0, 0, 1, 1),
)


@pytest.mark.parametrize("window", _DEPTHWISE)
def test_distance_of_depthwise_layers_is_the_least_of_the_spelled_out_order(window: Window) -> None:
    groups = tuple((tap,) for tap in range(window.taps))
    spec = DepthwiseNeon(window, groups, 38)
    assert distances(spec) == (surely_legal_distance(events_of(spec)),)
    assert distances(DepthwiseNeon(window, groups, 38, residual_shift=9))[1] == 0
    for typed in _TYPED:
        kind = DepthwiseNeon if typed.x is DType.INT8 else DepthwiseS16Neon
        wide = kind(window, groups, 38, typed=typed)
        assert distances(wide) == (surely_legal_distance(events_of(wide)),), typed


_DENSE = (
    Window(1, 21, 32, 1, 21, 1, 1, 1, 1, 0, 0, 1, 1),
    Window(5, 5, 9, 5, 5, 1, 1, 1, 1, 0, 0, 1, 1),
    Window(4, 16, 16, 4, 16, 3, 3, 1, 1, 1, 1, 1, 1),
    Window(8, 16, 3, 4, 8, 3, 3, 2, 2, 0, 0, 1, 1),
    Window(5, 5, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1),
    Window(6, 9, 16, 3, 4, 2, 2, 2, 2, 0, 0, 2, 2),
)


@pytest.mark.parametrize("window", _DENSE)
@pytest.mark.parametrize("filters", [4, 8, 13, 40])
def test_distance_of_dot_products_is_the_least_of_their_order(window: Window, filters: int) -> None:
    spec = Dense8x8(window, filters, 38)
    assert distances(spec) == (surely_legal_distance(events_of(spec)),)
    assert distances(Dense8x8(window, filters, 38, residual_shift=9))[1] == 0
    narrow, *wide = _TYPED
    specs = [Dense8x8(window, filters, 38, typed=narrow)]
    specs += [kind(window, filters, 38, typed=t) for t in wide for kind in (Dense4x16, Dense8x8S16)]
    specs += [Dense4x16(window, filters, 38, typed=t, lanes=8) for t in wide]
    for each in specs:
        assert distances(each) == (surely_legal_distance(events_of(each)),), each


def test_weights_of_int16_layers_are_eight_filters_side_by_side() -> None:
    weights = np.arange(9 * 2 * 5).reshape(9, 2, 1, 5).astype(np.int8)
    found = packed_eights(weights, 2)
    assert found.shape == (2, 2, 8, 8)
    for unit, line, at in itertools.product(range(16), range(2), range(8)):
        expected = weights[unit, line, 0, at] if unit < 9 and at < 5 else 0
        assert found[unit // 8, line, at, unit % 8] == expected


def test_dot_products_read_rows_in_all_three_ways() -> None:
    ways = {(s.reads_image, s.reads_strip) for s in (Dense8x8(w, 16, 38) for w in _DENSE)}
    assert ways == {(True, False), (False, True), (False, False)}


def test_weights_of_dot_products_are_words_of_eight_filters() -> None:
    weights = np.arange(9 * 2 * 5).reshape(9, 2, 1, 5).astype(np.int8)
    found = packed_words(weights, 2, 3)
    assert found.shape == (2, 2, 3, 8, 4)
    for unit, line, at in itertools.product(range(16), range(2), range(12)):
        expected = weights[unit, line, 0, at] if unit < 9 and at < 5 else 0
        assert found[unit // 8, line, at // 4, unit % 8, at % 4] == expected


def test_cores_without_dot_products_get_no_such_kernel() -> None:
    a76 = bare_target(Core.CORTEX_A76)
    assert "dense_8x8_s8_dot" in families(small_net(), a76)
    assert "dense_8x8_s8_dot" not in families(small_net(), A53)


def test_kernels_of_the_dsp_extension_come_after_these() -> None:
    graph = operators(1, ["gemm", "fused_attention"], 2)
    assert set(families(graph, A7)) == {"dense_4x4_s8_neon", "attention_neon", "elements_neon"}


def test_rows_of_fewer_than_eight_elements_are_left_to_the_plain_kernel() -> None:
    layer = Layer(1)
    wide, row = layer.input(3, 7, dtype=DType.INT16), layer.input(1, 7, dtype=DType.INT16)
    layer.node(qops.QAdd(qops.CodeSum.of_stream(DType.INT16)), [wide, row], DType.INT16)
    layer.node(qops.QAdd(qops.CodeSum.of_stream(DType.INT16)), [wide, wide], DType.INT16)
    assert families(layer.builder.build(), A53) == ["elementwise", "elements_neon"]


def test_distances_that_do_not_fit_when_doubled_are_left_to_the_plain_kernel() -> None:
    for limit, expected in ((40_000, AttentionNeon), (131_000, None)):
        layer = Layer(1)
        x = layer.symmetric(layer.input(1, 4, 12))
        heads = layer.array(np.array([[16384, limit, 2**29, 8]], np.int32))
        layer.node(qops.QAttention(1, 4, 4, 0, 4, 8, 13), [x, x, x, heads], DType.INT8)
        spec = select_kernels(layer.builder.build(), A53)[-1].spec
        assert (expected is AttentionNeon) == isinstance(spec, AttentionNeon)


@pytest.mark.parametrize("window", _WINDOWS)
def test_distance_is_the_least_of_the_spelled_out_order(window: Window) -> None:
    for filters in (1, 4, 6):
        spec = Dense4x4(window, filters, 32)
        assert distances(spec) == (least_distance(events_of(spec)),)
        assert distances(Dense4x4(window, filters, 32, residual_shift=9))[1] == 0


def test_distances_of_kernels_by_element() -> None:
    rescale16 = Rescale16(qops.Rescale16x15(0, 9, -32768, 32767, DType.INT16))
    sum_of = Step(Element("add", "Sum", "edgec_add_once", (15,), "edgec_add_params_t"), (0, 1))
    wide, narrow, rows = DType.INT16, DType.INT8, (Loop(3, (10, 0)), Loop(10, (1, 1)))
    for loops, types in (((Loop(30, (1, 1)),), (wide,) * 3), (rows, (narrow, wide, wide))):
        spec = ElementsNeon((sum_of,), loops, types)
        order = [least_distance(events_of(spec, operand)) for operand in range(2)]
        assert all(own >= least for own, least in zip(distances(spec), order, strict=True))
    assert distances(spec) == (29, 40)
    assert distances(TfliteAddNeon(30, False, 0, 1, 18)) == (0, 0)
    assert distances(LutNeon(30)) == (0, None)
    assert distances(RescaleNeon(30, DType.INT16, rescale16)) == (0,)
    assert distances(RescaleNeon(30, DType.INT8, rescale16)) == (29,)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
def test_running_at_the_least_distance_changes_nothing(machine: str, tmp_path: Path) -> None:
    layer = Layer(7)
    sizes = ((5, 16, 9), (9, 33, 6), (6, 8, 20), (3, 20, 3))
    for size, kind in itertools.product(sizes, KINDS):
        product(layer, size, kind)
    for make in (conv, norm, rescale) * 3:
        make(layer)
    graph = layer.builder.build()
    own = MACHINES[machine]
    compiled = library_for(own.core, graph, tmp_path / "library", _tight_plan)
    program = linked(own, tmp_path / "library", tmp_path / "program")
    check_program(own, program, compiled, samples_of(graph)[2:5], tmp_path)


def test_a_matrix_product_without_neon_is_the_plain_one() -> None:
    (choice,) = select_kernels(operators(1, ["gemm"], 1), BOARD)[-1:]
    assert isinstance(choice.spec, Gemm)
