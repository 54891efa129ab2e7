"""Oracle = generated C for linear resizing of any channels, both roundings, on every core."""

from __future__ import annotations

from pathlib import Path

import pytest
from cross import MACHINES, check_cross
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_graphs import with_one_input
from random_moves import resize_linear
from random_net import Net

from edgec.ir import Graph

CHANNELS = (1, 3, 4, 7, 8, 9, 16, 33, 64)
BOARDS = ("nucleo_g0b1re", "nucleo_l4r5zi", "nucleo_f207zg")
EACH = 3


def images(seed: int) -> Graph:
    """Images of a few pixels by tables of any places and weights."""
    net = Net.seeded(seed)
    for channels in CHANNELS:
        for _ in range(EACH):
            shape = 1, net.integer(1, 5), net.integer(1, 5), channels
            resize_linear(net, net.input(shape))
    return net.build()


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_on_this_computer(seed: int, tmp_path: Path) -> None:
    check_host(images(seed), tmp_path, board="nucleo_l4r5zi")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", BOARDS)
def test_on_a_microcontroller(board: str, tmp_path: Path) -> None:
    need_emulator(board)
    graph = with_one_input(images(4))
    program = compiled(graph, tmp_path / "library", board=board)
    samples = samples_of(graph)[2:5]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", MACHINES)
def test_with_neon(name: str, tmp_path: Path) -> None:
    graph = images(5)
    check_cross(MACHINES[name], graph, samples_of(graph)[2:5], tmp_path)
