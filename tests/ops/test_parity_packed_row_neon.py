"""Oracle = emulated C for products of one row with weights of few bits, with NEON."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cross import DOT, MACHINES, check_cross
from few_bits import few_bits
from parity import samples_of
from single_rows import ALL_ENDS, single_rows

from edgec.ir.weighted import plain_inputs
from edgec.kernels.neon import dense_1x4_packed_neon
from edgec.kernels.neon.dense_1x4_packed_neon import (
    Dense1x4PackedNeon,
    packed_digits,
    turn_bytes,
    vectors_of_turn,
)
from edgec.kernels.packed.codes import WIDTHS
from edgec.lower import Program

CORES = {**MACHINES, "a76": DOT}
SIZES = ((33, 41), (64, 37), (130, 19), (128, 8), (200, 30), (641, 4), (1300, 3))
"""Columns and filters: rests of vectors, of turns, of fours, and of turns that fit 16 bits."""


def specs_of(program: Program) -> list[Dense1x4PackedNeon]:
    specs = [kernel.spec for kernel in program.kernels]
    return [spec for spec in specs if isinstance(spec, Dense1x4PackedNeon)]


def unpacked(stored: np.ndarray, bits: int) -> np.ndarray:
    """Digits [filters, columns] of `packed_digits`, bit by bit as the header says."""
    vectors, lanes = vectors_of_turn(bits), np.arange(16)
    columns = []
    for turn in range(stored.shape[1]):
        for place in range(vectors):
            if bits == 3:
                low = stored[:, turn, :, 16 * (place // 4) + lanes] >> (2 * (place % 4)) & 3
                high = stored[:, turn, :, 32 + lanes] >> place & 1
                columns.append(low | high << 2)
            else:
                columns.append(stored[:, turn, :, lanes] >> (bits * place) & ((1 << bits) - 1))
    # An index array moves its axis to the front: [16, fours, 4] each.
    whole = np.stack(columns)
    return whole.transpose(2, 3, 0, 1).reshape(-1, vectors * 16 * stored.shape[1])


@pytest.mark.parametrize("bits", WIDTHS)
def test_digits_are_the_weights(bits: int) -> None:
    weights = np.random.default_rng(3).integers(-(1 << bits - 1), 1 << bits - 1, (6, 290))
    stored = packed_digits(weights.astype(np.int8), bits)
    assert stored.shape == (2, -(-290 // (16 * vectors_of_turn(bits))), 4, turn_bytes(bits))
    digits = unpacked(stored, bits)
    assert np.array_equal(digits[:6, :290].astype(int) - (1 << bits - 1), weights)
    assert not digits[6:].any() and not digits[:, 290:].any()


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("bits", WIDTHS)
def test_products(bits: int, core: str, tmp_path: Path) -> None:
    graph = few_bits(single_rows(bits, SIZES), bits)
    program = check_cross(CORES[core], graph, samples_of(graph), tmp_path)
    found = specs_of(program)
    assert {spec.bits for spec in found} == {bits}
    assert {spec.depth for spec in found} >= {128, 200, 641, 1300}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("bits", WIDTHS)
def test_sums_of_16_bits_at_their_ends(bits: int, core: str, tmp_path: Path) -> None:
    """Every weight is the least number, or the greatest one, as codes of some samples are."""
    graph = few_bits(single_rows(bits, SIZES), bits)
    constants = dict(graph.constants)
    for node in graph.nodes:
        weights = constants[plain_inputs(node).w]
        array = np.full(weights.shape, -(1 << bits - 1), np.int8)
        array[::2] = (1 << bits - 1) - 1
        constants[weights.name] = replace(weights, array=array)
    graph = graph.replace(constants=constants)
    samples = samples_of(graph)
    assert any((array == -128).all() for sample in samples for array in sample.inputs)
    assert specs_of(check_cross(CORES[core], graph, samples, tmp_path))


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("name", ALL_ENDS)
def test_all_ends(name: str, core: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they save: these are small."""
    monkeypatch.setattr(dense_1x4_packed_neon, "LEAST_SAVED_BYTES", -(10**6))
    make, ends = ALL_ENDS[name]
    graph = few_bits(make(), 4)
    program = check_cross(CORES[core], graph, samples_of(graph), tmp_path)
    assert {spec.end for spec in specs_of(program)} >= ends
