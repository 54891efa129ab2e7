"""All kernels that could compute a layer, not only the one it gets: the same codes."""

from pathlib import Path

import pytest
from dense_layers import Case, graph_of
from depthwise_cases import graph_of as depthwise_graph_of
from depthwise_kernels import KERNELS
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of

from edgec.ir import Graph
from edgec.kernels.select import kernel_candidates, select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

CASES = (
    Case(6, 8, 6, kernel=3, pad=1),
    Case(6, 8, 6, kernel=3, pad=1, width=5),
    Case(6, 8, 4, kernel=1, stride=2, width=9),
    Case(7, 3, 2, kernel=3, pad=1),
    Case(5, 64, 6),
    Case(1, 64, 6),
)
M4 = "nucleo_l4r5zi"
RANKS = {"nucleo_l4r5zi": 8, "nucleo_g0b1re": 3}
"""The most candidates of a layer."""


def families_of(board: str) -> list[list[str]]:
    """The candidates of each layer, by family."""
    graph, target = graph_of(1, CASES), Target.of(load_board(board))
    ways = [kernel_candidates(graph, node, target) for node in graph.nodes]
    assert [found[0] for found in ways] == list(select_kernels(graph, target))
    assert all(len({choice.spec for choice in found}) == len(found) for found in ways)
    assert max(map(len, ways)) == RANKS[board]
    return [[choice.spec.family for choice in found] for found in ways]


def test_what_is_not_chosen_is_a_candidate():
    padded, idle, strided, few, rows, row = families_of("nucleo_l4r5zi")
    assert padded[0] == "conv_4x2_s8_dsp"
    assert idle[0] == "dense_4x2_s8_dsp"
    any_image = {"conv_4x2_s8_dsp", "dense_4x2_s8_dsp", "dense_3x2_s8_dsp", "conv2d"}
    assert any_image == {*padded} == {*idle} == {*strided}
    assert {"dense_3x2_s8_dsp", "dense_4x2_s8_dsp", "conv2d"} <= {*few}
    assert {*rows} == {"dense_4x2_s8_dsp", "dense_3x2_s8_dsp", "gemm"}
    assert {*row} == {"dense_1x4_dsp", "gemm"}


def test_candidates_without_simd():
    *_, few, rows, row = families_of("nucleo_g0b1re")
    assert few == ["dense_5x2_s8_m0", "conv2d"]
    assert rows == ["dense_5x2_s8_m0", "gemm"]
    assert row == ["dense_1x4_s8_m0", "dense_5x2_s8_m0", "gemm"]


@pytest.mark.parametrize(
    ("board", "rank"), [(board, rank) for board, most in RANKS.items() for rank in range(1, most)]
)
def test_every_candidate_on_the_host(board: str, rank: int, tmp_path: Path):
    check_host(graph_of(2, CASES), tmp_path, board=board, rank=rank)


def check_on_core(graph: Graph, rank: int, folder: Path):
    """Kernels with loops of other lengths, on a core with DSP: C for the host has no such loops."""
    need_emulator(M4)
    program = compiled(graph, folder / "library", board=M4, rank=rank)
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(M4, folder / "library", program, samples, folder / "project")


@pytest.mark.parametrize("rank", [2, *(pytest.param(r, marks=pytest.mark.slow) for r in (1, 3, 4))])
def test_products_on_an_emulated_core(rank: int, tmp_path: Path):
    check_on_core(graph_of(3, CASES), rank, tmp_path)


@pytest.mark.parametrize("rank", [1, *(pytest.param(r, marks=pytest.mark.slow) for r in (2, 3))])
def test_lines_on_an_emulated_core(rank: int, tmp_path: Path):
    check_on_core(depthwise_graph_of(3, KERNELS["line"].cases), rank, tmp_path)
