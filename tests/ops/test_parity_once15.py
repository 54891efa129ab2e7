"""Oracle = C on this computer = emulated cores for layers of TensorFlow Lite's int16 by int8."""

from pathlib import Path

import pytest
from depthwise_cases import BOARDS, Case, add_layer
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_transformer import Layer

from edgec.ir import Graph
from edgec.kernels.dsp.dense_2x2_s16_dsp import Dense2x2
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

ALL = (-32768, 32767)
VALID = (0, 0, 0, 0)
WIDE = {"bounds": ALL, "wide": True, "once": True}
CASES: tuple[tuple[Case, int], ...] = (
    (Case(7, 6, 5, shift=26, **WIDE), 4),
    (Case(7, 6, 8, (2, 2), VALID, shift=24, kernel=(5, 3), **WIDE), 7),
    (Case(9, 9, 4, pads=(2, 2, 2, 2), shift=26, dilations=(2, 2), **WIDE), 3),
    (Case(5, 5, 17, pads=VALID, shift=18, kernel=(1, 1), **WIDE), 9),
    (
        Case(5, 3, 6, pads=VALID, shift=26, kernel=(1, 1), bounds=(0, 30000), wide=True, once=True),
        2,
    ),
    (Case(3, 3, 112, shift=30, **WIDE), 5),
    (Case(1, 1, 1000, pads=VALID, shift=30, kernel=(1, 1), **WIDE), 6),
    (Case(1, 1, 70, pads=VALID, shift=26, kernel=(1, 1), **WIDE), 6),
)
"""Convolutions and their filters: short shifts, sums of 64 bits, single rows, odd sizes."""
CORES = {**BOARDS, "m0plus": "nucleo_g0b1re", "m3": "nucleo_f207zg"}


def graph_of(seed: int) -> Graph:
    """Independent layers; of single rows too."""
    layer = Layer(seed)
    for case, filters in CASES:
        add_layer(layer, case, filters)
    return layer.builder.build()


def test_layers_with_pairs_serve_both_widths_of_sums():
    chosen = [
        choice.spec for choice in select_kernels(graph_of(1), Target.of(load_board(BOARDS["m4"])))
    ]
    pairs = [spec for spec in chosen if isinstance(spec, Dense2x2)]
    assert {(spec.typed.sum_bits, spec.typed.from_high) for spec in pairs} == {
        *((32, True), (32, False), (64, False))
    }
    assert any(spec.part < spec.depth for spec in pairs)
    assert len(pairs) >= len(CASES) - 1


@pytest.mark.parametrize("board", [BOARDS["m4"], "host"])
def test_on_the_host(board: str, tmp_path: Path):
    check_host(graph_of(2), tmp_path, board=board)


@pytest.mark.parametrize("core", CORES)
def test_on_an_emulated_core(core: str, tmp_path: Path):
    need_emulator(CORES[core])
    graph = graph_of(3)
    program = compiled(graph, tmp_path / "library", board=CORES[core])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(CORES[core], tmp_path / "library", program, samples, tmp_path / "project")
