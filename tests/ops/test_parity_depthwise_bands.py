"""Oracle = generated C for depthwise convolutions in bands of columns, both forms."""

from pathlib import Path

import numpy as np
import pytest
from depthwise_cases import BOARDS, Case, graph_of
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of

from edgec.ir import Graph
from edgec.kernels.dsp.depthwise_bands.spec import DepthwiseBands
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

AFTER = (0, 0, 1, 1)
"""Padding of windows that go on by two."""

CASES = (
    Case(12, 12, 64),
    Case(24, 24, 30),
    Case(24, 12, 33),
    Case(16, 18, 31),
    Case(20, 12, 37, shift=34),
    Case(17, 24, 26, shift=33, offsets=True),
    Case(12, 12, 57, shift=32, offsets=True),
    Case(48, 48, 6, (2, 2), AFTER),
    Case(24, 24, 13, (2, 2), AFTER),
    Case(2, 24, 8, (2, 2), AFTER),
    Case(6, 36, 7, (2, 2), AFTER),
    Case(8, 24, 4, (2, 2), AFTER, shift=34),
    Case(18, 24, 11, (2, 2), AFTER, shift=33, offsets=True),
    Case(10, 24, 9, (2, 2), AFTER, shift=32, offsets=True),
)


def random_cases(seed: int, count: int = 8) -> tuple[Case, ...]:
    """Shapes that no one chose, of which most get this kernel."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        stride = int(rng.integers(1, 3))
        width = 6 * stride * int(rng.integers(2, 5))
        height = int(rng.integers(12, 25)) if stride == 1 else 2 * int(rng.integers(1, 13))
        channels, shift = int(rng.integers(4, 41)), int(rng.integers(32, 37))
        pads = (1, 1, 1, 1) if stride == 1 else AFTER
        offsets = bool(rng.integers(2))
        found.append(
            Case(height, width, channels, (stride, stride), pads, shift=shift, offsets=offsets)
        )
    return tuple(found)


def specs_of(graph: Graph, core: str) -> list[DepthwiseBands]:
    choices = select_kernels(graph, Target.of(load_board(BOARDS[core])))
    return [choice.spec for choice in choices if isinstance(choice.spec, DepthwiseBands)]


def test_the_cases_get_this_kernel():
    for core in BOARDS:
        specs = specs_of(graph_of(1, CASES), core)
        assert len(specs) == len(CASES)
        assert any(spec.window.out_height % spec.strip for spec in specs)
        assert {(s.window.stride_h, s.has_offsets, s.high_shift > 0) for s in specs} == {
            (stride, offsets, shifts)
            for stride in (1, 2)
            for offsets in (False, True)
            for shifts in (False, True)
        }


@pytest.mark.parametrize(
    "case",
    [
        Case(12, 12, 3),
        Case(12, 13, 32),
        Case(25, 24, 32),
        Case(24, 24, 32, pads=(0, 1, 1, 1)),
        Case(24, 24, 32, pads=(2, 1, 1, 1)),
        Case(24, 24, 32, (2, 2)),
        Case(23, 24, 32, (2, 2), AFTER),
        Case(24, 24, 32, (2, 1), (0, 1, 1, 1)),
        Case(12, 12, 32, bounds=(-100, 127)),
    ],
)
def test_other_layers_do_not(case: Case):
    (choice,) = select_kernels(graph_of(1, (case,)), Target.of(load_board(BOARDS["m4"])))
    assert not isinstance(choice.spec, DepthwiseBands)


@pytest.mark.parametrize("core", ["m4"])
def test_on_the_host(core: str, tmp_path: Path):
    check_host(graph_of(2, CASES), tmp_path, board=BOARDS[core])


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))]
)
def test_random_shapes(seed: int, tmp_path: Path):
    graph = graph_of(seed, random_cases(seed))
    assert len(specs_of(graph, "m4")) > len(graph.nodes) / 2
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
