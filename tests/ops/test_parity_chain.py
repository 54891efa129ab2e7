"""Oracle = generated C of chains of functions of elements."""

from pathlib import Path

import pytest
from chain_nets import NETS
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of

from edgec.kernels.generic.elementwise_chain import ElementwiseChain
from edgec.kernels.select import select_kernels
from edgec.passes.fuse_chains import fuse_chains
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = ("nucleo_l4r5zi", "nucleo_g0b1re")


@pytest.mark.parametrize("rules", ["once", "twice"])
@pytest.mark.parametrize("net", NETS)
def test_on_the_host(net: str, rules: str, tmp_path: Path):
    graph = fuse_chains(NETS[net](rules))
    choices = select_kernels(graph, Target.of(load_board(BOARDS[0])))
    assert all(isinstance(choice.spec, ElementwiseChain) for choice in choices)
    check_host(graph, tmp_path)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("board", BOARDS)
def test_on_an_emulated_core(board: str, net: str, tmp_path: Path):
    need_emulator(board)
    graph = fuse_chains(NETS[net]())
    program = compiled(graph, tmp_path / "library", board=board)
    samples = samples_of(graph)[:3]
    check_emulated(board, tmp_path / "library", program, samples, tmp_path / "project")
