"""Oracle = C on this computer = emulated cores for products of one row with weights of few bits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from depthwise_cases import BOARDS
from emulated import check_emulated, need_emulator
from few_bits import few_bits
from parity import check_host, compiled, samples_of
from random_transformer import operators
from single_rows import single_rows

from edgec.ir import Graph, qops
from edgec.kernels.dsp.dense_1x4_packed_dsp import FAMILY, Dense1x4Packed, packed_digits
from edgec.kernels.packed.codes import WIDTHS
from edgec.kernels.registry import FAMILIES
from edgec.lower import Program

SIZES = ((33, 40), (64, 37), (130, 19), (6, 300), (7, 250), (512, 5))
"""Columns and filters: rests of words, of fours, of batches."""


def specs_of(program: Program) -> list[Dense1x4Packed]:
    specs = [kernel.spec for kernel in program.kernels]
    return [spec for spec in specs if isinstance(spec, Dense1x4Packed)]


def test_digits_are_the_weights():
    rng = np.random.default_rng(3)
    for bits in WIDTHS:
        weights = rng.integers(-(1 << bits - 1), 1 << bits - 1, (6, 29)).astype(np.int8)
        halves = packed_digits(weights, bits).view("<u2").astype(np.int64)
        digits = halves[..., None] >> (bits * np.arange(16 // bits)) & ((1 << bits) - 1)
        found = digits.transpose(0, 2, 1, 4, 3).reshape(8, -1, 2) - (1 << bits - 1)
        words = found[:, : found.shape[1] // 2 * 2].reshape(8, -1, 2, 2).swapaxes(2, 3)
        assert np.array_equal(words.reshape(8, -1)[:6, :29], weights)


@pytest.mark.parametrize("bits", WIDTHS)
def test_on_the_host(bits: int, tmp_path: Path):
    program = check_host(few_bits(single_rows(1, SIZES), bits), tmp_path, board=BOARDS["m4"])
    found = specs_of(program)
    assert {spec.bits for spec in found} == {bits}
    assert {(spec.depth, spec.units) for spec in found} == set(SIZES)


def test_layers_of_transformers_on_the_host(tmp_path: Path):
    """Whatever they save: these are small."""
    own = replace(
        FAMILY, accepts=lambda graph, node, target: target.has_dsp and _one_row(graph, node)
    )
    graph = few_bits(operators(5, ["gemm"], 24), 4)
    program = check_host(graph, tmp_path, board=BOARDS["m4"], families=(own, *FAMILIES))
    assert {spec.end for spec in specs_of(program)} == {
        *("rescale16", "rescale16_added", "rescale16_table")
    }


def _one_row(graph: Graph, node) -> bool:
    return isinstance(node.attrs, qops.QGemm) and np.prod(graph.shape(node.first)[:-1]) == 1


@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("bits", WIDTHS)
def test_on_an_emulated_core(bits: int, core: str, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = few_bits(single_rows(2, SIZES), bits)
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")
