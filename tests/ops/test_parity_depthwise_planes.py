"""Oracle = generated C for depthwise convolutions on planes, both forms, all borders."""

from pathlib import Path

import numpy as np
import pytest
from depthwise_cases import BOARDS, INT8, Case, graph_of
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of
from targets import by_precedence

from edgec.ir import Graph
from edgec.kernels.dsp.depthwise_narrow.spec import DepthwiseNarrow
from edgec.kernels.dsp.depthwise_planes.spec import DepthwisePlanes
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

CASES = (
    Case(25, 7, 8),
    Case(8, 8, 12, bounds=(-20, 127)),
    Case(9, 6, strides=(2, 2), pads=(0, 0, 1, 1)),
    Case(9, 15, 8, strides=(2, 2)),
    Case(17, 3, strides=(1, 2), pads=(1, 2, 0, 2), shift=34),
    Case(6, 11, strides=(2, 1), pads=(2, 2, 2, 2)),
    Case(3, 3, 16, pads=(0, 0, 0, 0)),
    Case(1, 1, 8),
    Case(10, 7, 7),
    Case(5, 17, 13, strides=(2, 2)),
    Case(2, 1, pads=(2, 2, 2, 2)),
    Case(4, 2, 8, strides=(2, 2), pads=(2, 1, 1, 2)),
    Case(7, 7, 9, offsets=True, shift=33),
    Case(6, 15, 6, strides=(2, 2), offsets=True),
    Case(5, 6, bounds=(-100, 127), offsets=True),
    Case(25, 7, 40),
    Case(11, 6, 29, bounds=(-100, 127)),
    Case(12, 7, 31, offsets=True, shift=34),
)


def random_cases(seed: int, count: int = 12) -> tuple[Case, ...]:
    """Shapes that no one chose, which get this kernel."""
    rng = np.random.default_rng(seed)
    found: list[Case] = []
    while len(found) < count:
        height, width = (int(n) for n in rng.integers(1, 15, 2))
        pads = tuple(int(n) for n in rng.integers(0, 3, 4))
        if height + pads[0] + pads[2] < 3 or width + pads[1] + pads[3] < 3:
            continue
        found.append(
            Case(
                height,
                width,
                int(rng.integers(4, 41)),
                ((1, 1), (2, 2), (1, 2), (2, 1), (1, 3))[int(rng.integers(5))],
                (pads[0], pads[1], pads[2], pads[3]),
                INT8 if rng.integers(4) else (-50, 60),
                int(rng.integers(32, 37)),
                bool(rng.integers(2)),
            )
        )
    return tuple(found)


def specs_of(graph: Graph, core: str) -> list[DepthwisePlanes]:
    choices = select_kernels(graph, by_precedence(Target.of(load_board(BOARDS[core]))))
    assert all(isinstance(c.spec, DepthwisePlanes | DepthwiseNarrow) for c in choices)
    return [choice.spec for choice in choices if isinstance(choice.spec, DepthwisePlanes)]


def test_the_cases_get_this_kernel():
    for core in BOARDS:
        specs = specs_of(graph_of(1, CASES), core)
        saturates = [case.bounds == INT8 for case in CASES]
        alike = [case.strides[0] == case.strides[1] for case in CASES]
        wide = [spec.window.out_width > 1 for spec in specs]
        stays = [all(each) for each in zip(saturates, alike, wide, strict=True)]
        assert [spec.tile_kind is not None for spec in specs] == stays
        assert {spec.tile_kind for spec in specs} == {None, "offset", "offsets"}
        assert any(spec.window.out_height % 2 for spec in specs if spec.tile_kind)
        assert {spec.pairs for spec in specs if spec.is_whole} == {3, 8, 15}
        assert any(not spec.is_whole and spec.window.stride_h == 1 for spec in specs)


@pytest.mark.parametrize("core", ["m4"])
def test_on_the_host(core: str, tmp_path: Path):
    check_host(graph_of(2, CASES), tmp_path, board=BOARDS[core])


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))]
)
def test_random_shapes(seed: int, tmp_path: Path):
    graph = graph_of(seed, random_cases(seed))
    assert specs_of(graph, "m4")
    check_host(graph, tmp_path / "host", board=BOARDS["m4"])
    need_emulator(BOARDS["m4"])
    program = compiled(graph, tmp_path / "library", board=BOARDS["m4"])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS["m4"], tmp_path / "library", program, samples, tmp_path / "project")


@pytest.mark.parametrize("core", BOARDS)
def test_on_an_emulated_core(core: str, tmp_path: Path):
    need_emulator(BOARDS[core])
    graph = graph_of(3, CASES)
    program = compiled(graph, tmp_path / "library", board=BOARDS[core])
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(BOARDS[core], tmp_path / "library", program, samples, tmp_path / "project")
