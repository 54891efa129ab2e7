"""Oracle = generated C for softmax of rows of any length, by table and two rules, on every core."""

from __future__ import annotations

from pathlib import Path

import pytest
from cross import MACHINES, check_cross
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_graphs import with_one_input
from random_net import Net
from random_reductions import softmax, softmax31

from edgec.ir import Graph

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 10, 12, 21, 33, 64, 196)
BOARDS = ("nucleo_g0b1re", "nucleo_l4r5zi", "nucleo_f207zg", "nucleo_h7a3zi_q")


def rows_of_codes(seed: int) -> Graph:
    """Both rules for each length, of few elements and of many, which are computed by words.

    Rows of most lengths begin at no multiple of four bytes.
    """
    net = Net.seeded(seed)
    for length in LENGTHS:
        for rule in (softmax, softmax31):
            for rows in (net.integer(1, 5), 256 // length + net.integer(1, 5)):
                rule(net, net.input((1, rows, length)))
    return net.build()


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", ["nucleo_g0b1re", "nucleo_l4r5zi"])
@pytest.mark.parametrize("seed", [1, 2])
def test_on_this_computer(seed: int, board: str, tmp_path: Path) -> None:
    check_host(rows_of_codes(seed), tmp_path, board=board)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", BOARDS)
def test_on_a_microcontroller(board: str, tmp_path: Path) -> None:
    need_emulator(board)
    graph = with_one_input(rows_of_codes(3))
    program = compiled(graph, tmp_path / "library", board=board)
    check_emulated(board, tmp_path / "library", program, samples_of(graph), tmp_path / "project")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", MACHINES)
def test_with_neon(name: str, tmp_path: Path) -> None:
    graph = rows_of_codes(4)
    check_cross(MACHINES[name], graph, samples_of(graph), tmp_path)
