"""Oracle = generated C for transposed convolutions of any windows and channels, on every core."""

from __future__ import annotations

from pathlib import Path

import pytest
from cross import MACHINES, check_cross
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from random_graphs import with_one_input
from random_layers import conv_transpose
from random_net import Net

from edgec.ir import Graph

CHANNELS = (1, 3, 4, 8, 9, 12, 16, 22)
BOARDS = ("nucleo_g0b1re", "nucleo_l4r5zi")
EACH = 3


def layers(seed: int) -> Graph:
    net = Net.seeded(seed)
    for channels in CHANNELS:
        for _ in range(EACH):
            shape = (1, net.integer(1, 6), net.integer(1, 6), channels)
            conv_transpose(net, net.input(shape))
    return net.build()


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_on_this_computer(seed: int, tmp_path: Path) -> None:
    check_host(layers(seed), tmp_path)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", BOARDS)
def test_on_a_microcontroller(board: str, tmp_path: Path) -> None:
    need_emulator(board)
    graph = with_one_input(layers(3))
    program = compiled(graph, tmp_path / "library", board=board)
    samples = samples_of(graph)[2:5]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", MACHINES)
def test_with_neon(name: str, tmp_path: Path) -> None:
    graph = layers(4)
    check_cross(MACHINES[name], graph, samples_of(graph)[2:5], tmp_path)
