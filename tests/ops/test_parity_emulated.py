"""Oracle = generated C on emulated 32-bit cores: every operator, every step's CRC, all outputs."""

from pathlib import Path

import pytest
from emulated import BOARDS, check_emulated, need_emulator
from parity import compiled, samples_of
from random_graphs import all_operators, with_one_input


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", BOARDS)
def test_every_operator_on_an_emulated_core(name: str, tmp_path: Path):
    need_emulator(name)
    graph = with_one_input(all_operators(seed=1, each=2))
    program = compiled(graph, tmp_path / "library")
    samples = samples_of(graph)[2:5]
    check_emulated(name, tmp_path / "library", program, samples, tmp_path / "project")
