"""Oracle = generated C for convolutions that widen a line of output pixels at a time."""

from pathlib import Path

import numpy as np
import pytest
from dense_layers import Case, graph_of
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from targets import by_precedence

from edgec.kernels.dsp.conv_4x2_s8_dsp.spec import Conv4x2
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BOARDS = {"m4": "nucleo_l4r5zi", "m7": "nucleo_h7a3zi_q", "m33": "nucleo_u575zi_q"}
CASES = (
    Case(6, 8, 6, kernel=3, pad=1),
    Case(6, 8, 6, kernel=3, pad=1, residual=True),
    Case(5, 4, 4, kernel=3, pad=2, residual=True, shift=35),
    Case(8, 12, 4, kernel=3, stride=2, width=17),
    Case(8, 12, 2, kernel=2, stride=2, pad=1, width=15),
    Case(6, 3, 16, kernel=3, pad=1),
    Case(9, 3, 8, kernel=3, pad=1, stride=2, width=15),
    Case(7, 1, 2, kernel=4, width=9, pad=2),
    Case(4, 64, 2, kernel=3, pad=1, width=8),
    Case(3, 4, 6, kernel=5, pad=3, width=5),
    Case(8, 7, 4, kernel=2, width=5),
    Case(6, 8, 5, kernel=3, pad=1),
    Case(7, 3, 7, kernel=3, pad=1, residual=True),
    Case(7, 3, 1, kernel=3, pad=1),
    Case(9, 1, 6, kernel=4, pad=1, stride=2, width=11),
    Case(12, 3, 5, kernel=3, pad=1, width=2),
    Case(9, 5, 4, kernel=3, width=5),
)


def random_cases(seed: int, count: int = 8) -> tuple[Case, ...]:
    """Shapes that no one chose, which get this kernel."""
    rng = np.random.default_rng(seed)
    found: list[Case] = []
    while len(found) < count:
        kernel, stride, pad = (int(rng.integers(1, n)) for n in (6, 4, 4))
        rows, width, depth, units = (int(rng.integers(1, n)) for n in (9, 20, 14, 10))
        pad = min(pad - 1, kernel - 1)
        case = Case(
            *(max(rows, kernel), depth, units),
            shift=int(rng.integers(32, 38)),
            residual=bool(rng.integers(2)),
            kernel=kernel,
            stride=stride,
            pad=pad,
            width=max(width, kernel),
        )
        if all(isinstance(spec, Conv4x2) for spec in _specs((case,), "m4")):
            found.append(case)
    return tuple(found)


def _specs(cases: tuple[Case, ...], core: str) -> list[object]:
    target = by_precedence(Target.of(load_board(BOARDS[core])))
    return [choice.spec for choice in select_kernels(graph_of(1, cases), target)]


def test_the_cases_get_this_kernel():
    for core in BOARDS:
        specs = _specs(CASES, core)
        assert all(isinstance(spec, Conv4x2) and spec.any_code for spec in specs)
        assert {spec.row_source for spec in specs} == {"columns", "patch"}
        assert {spec.lines for spec in specs if isinstance(spec, Conv4x2)} == {1, 2, 4}
        assert [spec.dual_issue for spec in specs] == [core == "m7"] * len(CASES)


@pytest.mark.parametrize(
    "case",
    [
        Case(6, 8, 6, kernel=3, pad=1, width=3),
        Case(6, 8, 6, kernel=3, pad=1, width=5),
        Case(7, 4, 16, kernel=3, pad=2, dilation=2),
        Case(6, 8, 6, kernel=3, pad=1, bounds=(-100, 90)),
        Case(6, 256, 2, kernel=3, pad=1),
    ],
    ids=["narrow", "idle", "dilated", "bounded", "deep"],
)
def test_what_gets_another_kernel(case: Case):
    (spec,) = _specs((case,), "m4")
    assert not isinstance(spec, Conv4x2)


@pytest.mark.parametrize("core", ["m4", pytest.param("m7", marks=pytest.mark.slow)])
def test_on_the_host(core: str, tmp_path: Path):
    check_host(graph_of(2, CASES), tmp_path, board=BOARDS[core])


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))]
)
def test_random_shapes_on_the_host(seed: int, tmp_path: Path):
    check_host(graph_of(seed, random_cases(seed)), tmp_path, board=BOARDS["m4"])


@pytest.mark.parametrize(
    "core", ["m4", *(pytest.param(core, marks=pytest.mark.slow) for core in ("m7", "m33"))]
)
def test_on_an_emulated_core(core: str, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = graph_of(3, CASES)
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")
