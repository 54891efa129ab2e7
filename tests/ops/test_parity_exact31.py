"""Layers whose codes are TensorFlow Lite Micro's, on every kind of core: oracle = generated C."""

from pathlib import Path

import numpy as np
import pytest
from cross import MACHINES, check_cross
from emulated import check_emulated, need_emulator
from exact_chain import ENDS, chain
from parity import check_host, compiled, samples_of

from edgec.base.dtypes import Array
from edgec.ir import qops


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("board", ["host", "nucleo_l4r5zi", "nucleo_f207zg"])
@pytest.mark.parametrize("saturates", [True, False])
@pytest.mark.parametrize("end", ENDS)
def test_every_layer_on_the_host(end: str, saturates: bool, board: str, tmp_path: Path):
    check_host(chain(1, end, 9 + saturates, saturates=saturates), tmp_path, board=board)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    "name", ["mps2_an385", "nucleo_g0b1re", "nucleo_l4r5zi", "nucleo_h7a3zi_q", "nucleo_u575zi_q"]
)
def test_every_layer_on_an_emulated_core(name: str, end: str, tmp_path: Path):
    need_emulator(name)
    graph = chain(2, end, 12, saturates=end != "two_roundings31_any")
    program = compiled(graph, tmp_path / "library", board=name)
    check_emulated(
        name, tmp_path / "library", program, samples_of(graph)[2:4], tmp_path / "project"
    )


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("end", ENDS)
def test_every_layer_with_neon(end: str, machine: str, tmp_path: Path):
    graph = chain(3, end)
    check_cross(MACHINES[machine], graph, samples_of(graph), tmp_path)


def test_removed_channels_take_their_numbers_along():
    form = qops.TwoRoundings31((-3, -4, -5), 7)
    channels: Array = np.array([0, 2])
    assert form.kept(channels).shifts == (-3, -5)
    assert qops.TwoRoundings31((-3,)).kept(channels).shifts == (-3,)
    assert qops.Offset31(2, (1, 2, 3)).kept(channels).offsets == (1, 3)
