"""Oracle = generated C for products of four rows by two filters, any codes, 31-bit multipliers."""

from pathlib import Path

import numpy as np
import pytest
from dense_layers import Case, graph_of
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from targets import by_precedence

from edgec.kernels.dsp.dense_4x2_s8_dsp.spec import Dense4x2
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = {"m4": "nucleo_l4r5zi", "m7": "nucleo_h7a3zi_q", "m33": "nucleo_u575zi_q"}

CASES = (
    Case(8, 64, 6),
    Case(11, 36, 8, bounds=(-100, 90), fuses=False),
    Case(8, 20, 7),
    Case(7, 28, 5, shift=36),
    Case(8, 12, 9, bounds=(-100, 90), fuses=False),
    Case(12, 64, 4, shift=35),
    Case(12, 64, 4, shift=31, fuses=False),
    Case(8, 20, 2, shift=54),
    Case(8, 13, 16),
    Case(6, 8, 6, kernel=3, pad=1, runs=True),
    Case(6, 8, 6, kernel=3, pad=1, residual=True, runs=True),
    Case(5, 4, 5, kernel=3, pad=2, residual=True, runs=True),
    Case(8, 12, 4, kernel=3, stride=2, runs=True),
    Case(6, 3, 16, kernel=3, pad=1),
    Case(7, 4, 16, kernel=3, pad=2, dilation=2),
    Case(4, 16, 6, kernel=1, bounds=(-128, 5), fuses=False),
    *(Case(rows, 12, 5, shift=shift) for shift, rows in enumerate((2, 3, 5, 6, 9), 32)),
    *(Case(rows, 9, 6, shift=shift) for shift, rows in enumerate((2, 5, 10, 13, 14), 32)),
    *(Case(rows, 40, 7) for rows in (13, 15, 17, 18, 26)),
    Case(9, 12, 6, kernel=1, stride=2, width=16, runs=True),
    Case(8, 8, 5, kernel=1, stride=3, width=23, residual=True, runs=True),
    Case(9, 16, 1400),
    Case(13, 16, 1400),
    Case(3, 8, 6, kernel=3, pad=1, width=3, runs=True),
    Case(3, 6, 8, kernel=3, pad=1, width=3),
    Case(5, 4, 8, kernel=3, pad=2, width=5, dilation=2, residual=True),
)
"""All remainders of rows by four, of filters by two, of depths by words; with blocks of three rows,
and of four and three."""


def test_the_cases_get_this_kernel():
    for core, board in BOARDS.items():
        specs = [
            c.spec
            for c in select_kernels(graph_of(1, CASES), by_precedence(Target.of(load_board(board))))
        ]
        assert all(isinstance(spec, Dense4x2) and spec.any_code for spec in specs)
        assert [spec.fuses for spec in specs] == [case.fuses for case in CASES]
        assert [spec.widens_runs for spec in specs] == [case.runs for case in CASES]
        assert [spec.dual_issue for spec in specs] == [core == "m7"] * len(CASES)


@pytest.mark.parametrize(
    ("rows", "depth", "units", "family"),
    [
        (1, 64, 8, "dense_1x4_dsp"),
        (3, 64, 8, "dense_4x2_s8_dsp"),
        (5, 64, 8, "dense_4x2_s8_dsp"),
        (9, 64, 8, "dense_4x2_s8_dsp"),
        (12, 64, 8, "dense_4x2_s8_dsp"),
        (12, 63, 6, "dense_4x2_s8_dsp"),
    ],
)
def test_a_single_row_gets_another_tile(rows: int, depth: int, units: int, family: str):
    graph = graph_of(1, (Case(rows, depth, units),))
    (choice,) = select_kernels(graph, by_precedence(Target.of(load_board(BOARDS["m4"]))))
    assert choice.spec.family == family


def test_a_bias_without_room_for_the_sums_of_odd_weights_gets_the_smaller_tile():
    graph = graph_of(1, (Case(8, 64, 6),))
    bias = graph.nodes[0].inputs[2]
    full = np.full(6, 2**31 - 1 - 128 * 128 * 64, np.int32)
    constants = {**graph.constants, bias: type(graph.constants[bias])(bias, full)}
    (choice,) = select_kernels(
        graph.replace(constants=constants), by_precedence(Target.of(load_board(BOARDS["m4"])))
    )
    assert choice.spec.family == "dense_3x2_s8_dsp"


@pytest.mark.parametrize("core", ["m4", pytest.param("m7", marks=pytest.mark.slow)])
def test_on_the_host(core: str, tmp_path: Path):
    check_host(graph_of(2, CASES), tmp_path, board=BOARDS[core])


def test_in_plain_c(tmp_path: Path):
    check_host(graph_of(2, CASES), tmp_path, board=BOARDS["m4"], flags=("-DEDGEC_PLAIN_C",))


@pytest.mark.parametrize(
    "core", ["m4", *(pytest.param(core, marks=pytest.mark.slow) for core in ("m7", "m33"))]
)
def test_on_an_emulated_core(core: str, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = graph_of(3, CASES)
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")
