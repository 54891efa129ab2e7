"""Oracle = emulated A64 code for products of one row with weights of 1 or 2 bits by table."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cross import DOT, MACHINES, check_cross
from parity import samples_of
from single_rows import ALL_ENDS, single_rows

from edgec.base.dtypes import Array
from edgec.ir import Graph, qops
from edgec.ir.weighted import plain_inputs
from edgec.kernels.neon import dense_1x32_table_neon
from edgec.kernels.neon.dense_1x32_table_neon import Dense1x32Table, digits_of, packed_numbers
from edgec.lower import Program

CORES = {"a53": MACHINES["a53"], "a76": DOT}
SIZES = ((33, 160), (64, 191), (130, 192), (300, 190), (1700, 32))
"""Columns and filters: rests of groups, of turns, of tiles, of fours, and a filter with as many
sums as the tables in scratch memory allow."""
NUMBERS = {
    "signs": (-1, 1),
    "wide signs": (-127, 127),
    "ternary": (-1, 0, 1),
    "two": (-2, -1, 0, 1),
    "least": (-128, 0),
}


def with_weights(graph: Graph, values: tuple[int, ...], *, ends: bool = False) -> Graph:
    """The graph with weights of these values; `ends`: those of a filter are all one end."""
    rng, constants = np.random.default_rng(2), dict(graph.constants)
    for node in graph.nodes:
        if not isinstance(node.attrs, qops.QConv | qops.QGemm):
            continue
        weights = constants[plain_inputs(node).w]
        array = rng.choice(values, weights.shape).astype(np.int8)
        if ends:
            array[::2], array[1::2] = min(values), max(values)
            array.flat[1] = sorted(values)[1]
        constants[weights.name] = replace(weights, array=array)
    return graph.replace(constants=constants)


def specs_of(program: Program) -> list[Dense1x32Table]:
    specs = [kernel.spec for kernel in program.kernels]
    return [spec for spec in specs if isinstance(spec, Dense1x32Table)]


def weights_of(stored: Array, bits: int, step: int) -> Array:
    """Weights [filters, columns] of packed numbers, as the header says."""
    tiles = stored.transpose(0, 2, 1).reshape(-1, stored.shape[1])
    digits = tiles[..., None] >> (bits * np.arange(8 // bits)) & ((1 << bits) - 1)
    numbers = digits.reshape(len(tiles), -1).astype(int)
    return step * (2 * numbers - 1 if bits == 1 else numbers - 2)


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_the_weights(values: tuple[int, ...]) -> None:
    weights = np.random.default_rng(3).choice(values, (35, 75)).astype(np.int8)
    bits, step = digits_of(weights) or (0, 0)
    assert bits == (2 if 0 in values else 1) and step == (max(values) or 128)
    stored = packed_numbers(weights, bits, step)
    assert stored.shape == (2, 96 * bits // 8 if bits == 1 else 20, 32)
    assert np.array_equal(weights_of(stored, bits, step)[:35, :75], weights)


@pytest.mark.parametrize("values", [(-2, 2, 1), (-1, 3), (0,), (2, 1), (-2, 3)])
def test_other_numbers_have_no_digits(values: tuple[int, ...]) -> None:
    assert digits_of(np.array(values, np.int8)) is None


@pytest.mark.parametrize(
    ("bits", "enough"),
    [(1, {32, *range(46, 600)}), (2, {*range(123, 129), *range(148, 161), *range(173, 193)})],
)
def test_filters_that_are_enough_for_tables(bits: int, enough: set[int]) -> None:
    """The numbers of docs/few-bits.md."""
    found = {units for units in range(1, 600) if Dense1x32Table(512, units, bits, 1, 32).pays}
    assert found == (enough if bits == 1 else enough | {*range(198, 600)})


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("ends", [False, True], ids=["all", "ends"])
@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_products(values: tuple[int, ...], ends: bool, core: str, tmp_path: Path) -> None:
    """`ends`: sums of 8 and of 16 bits are as far from 0 as they can be."""
    graph = with_weights(single_rows(2, SIZES), values, ends=ends)
    samples = samples_of(graph)
    for extreme in (-128, 127):
        assert any((array == extreme).all() for sample in samples for array in sample.inputs)
    found = specs_of(check_cross(CORES[core], graph, samples, tmp_path))
    bits = 2 if 0 in values else 1
    assert {spec.bits for spec in found} == {bits}
    # Of two bits tables take twice the memory, and 32 filters are too few for them.
    deep = {1700} if bits == 1 else set()
    assert {spec.depth for spec in found} >= {64, 130, 300} | deep


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", ALL_ENDS)
def test_all_ends(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they save: these are small."""
    monkeypatch.setattr(dense_1x32_table_neon, "LEAST_SAVED_BYTES", -(10**6))
    monkeypatch.setattr(dense_1x32_table_neon, "_OF_UNPACKED", 99)
    make, ends = ALL_ENDS[name]
    for number, values in enumerate((NUMBERS["wide signs"], NUMBERS["two"])):
        graph, folder = with_weights(make(), values), tmp_path / str(number)
        folder.mkdir()
        program = check_cross(MACHINES["a53"], graph, samples_of(graph), folder)
        assert {spec.end for spec in specs_of(program)} >= ends
