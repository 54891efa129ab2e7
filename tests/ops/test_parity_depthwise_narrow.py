"""Oracle = generated C for depthwise convolutions over images of few columns, both forms."""

from pathlib import Path

import numpy as np
import pytest
from depthwise_cases import BOARDS, Case, graph_of
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of

from edgec.ir import Graph
from edgec.kernels.dsp.depthwise_narrow.spec import DepthwiseNarrow
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target

BEFORE, AFTER = (1, 1, 0, 0), (0, 0, 1, 1)
"""Padding of windows that go on by two, on an image of an even size."""

CASES = (
    Case(25, 5, 64),
    Case(6, 6, 13),
    Case(3, 3, 18),
    Case(4, 4, 7),
    Case(1, 6, 9),
    Case(2, 3, 8),
    Case(1, 3, 12),
    Case(6, 6, 14, (2, 2), AFTER),
    Case(8, 8, 8, (2, 2), AFTER),
    Case(10, 10, 9, (2, 2), AFTER),
    Case(12, 12, 27, (2, 2), AFTER),
    Case(2, 12, 12, (2, 2), AFTER),
    Case(6, 6, 14, (2, 2), BEFORE),
    Case(5, 5, 10, (2, 2)),
    Case(7, 8, 9, (2, 2), (1, 1, 1, 0)),
    Case(8, 7, 9, (2, 2), (1, 1, 0, 1)),
    Case(9, 9, 8, (2, 2)),
    Case(10, 10, 12, (2, 2), BEFORE),
    Case(11, 11, 8, (2, 2)),
    Case(12, 12, 31, (2, 2), BEFORE),
    Case(1, 11, 20, (2, 2)),
    Case(6, 6, 15, shift=34),
    Case(6, 5, 16, shift=33, offsets=True),
    Case(3, 3, 11, shift=34, offsets=True),
    Case(5, 4, 6, shift=32, offsets=True),
    Case(12, 12, 29, (2, 2), AFTER, shift=35, offsets=True),
    Case(11, 12, 9, (2, 2), (1, 1, 1, 0), shift=33),
)


def random_cases(seed: int, count: int = 12) -> tuple[Case, ...]:
    """Shapes that no one chose, of which nearly all get this kernel."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        stride = int(rng.integers(1, 3))
        width = int(rng.integers(3, 7) if stride == 1 else rng.integers(5, 13))
        height = int(rng.integers(1, 16))
        pads = (1, 1, 1, 1)
        if stride == 2:
            pads = (1, 1, height % 2, width % 2)
            if width % 2 == height % 2 == 0 and rng.integers(2):
                pads = AFTER
        channels, shift = int(rng.integers(4, 41)), int(rng.integers(32, 37))
        offsets = bool(rng.integers(2))
        found.append(
            Case(height, width, channels, (stride, stride), pads, shift=shift, offsets=offsets)
        )
    return tuple(found)


def specs_of(graph: Graph, core: str) -> list[DepthwiseNarrow]:
    choices = select_kernels(graph, Target.of(load_board(BOARDS[core])))
    return [choice.spec for choice in choices if isinstance(choice.spec, DepthwiseNarrow)]


def test_the_cases_get_this_kernel():
    for core in BOARDS:
        specs = specs_of(graph_of(1, CASES), core)
        assert len(specs) == len(CASES)
        assert {(s.window.stride_h, s.left, s.outputs) for s in specs} == {
            (stride, left, outputs)
            for stride, left in ((1, 1), (2, 0), (2, 1))
            for outputs in (3, 4, 5, 6)
        }
        assert {(s.below, s.has_offsets, s.odd) for s in specs if s.left} >= {
            (below, offsets, odd) for below, offsets in ((0, 0), (1, 0), (1, 1)) for odd in (0, 1)
        }


@pytest.mark.parametrize(
    "case",
    [
        Case(6, 6, 3),
        Case(6, 7, 8),
        Case(6, 2, 8),
        Case(6, 6, 8, pads=(0, 1, 1, 1)),
        Case(6, 6, 8, pads=(2, 1, 1, 1)),
        Case(6, 6, 8, pads=(1, 1, 2, 1)),
        Case(6, 6, 8, (1, 2)),
        Case(7, 6, 8, (2, 2), (0, 0, 0, 1)),
        Case(6, 6, 8, (2, 2), (1, 0, 0, 1)),
        Case(6, 6, 8, bounds=(-100, 127)),
    ],
)
def test_other_layers_do_not(case: Case):
    (choice,) = select_kernels(graph_of(1, (case,)), Target.of(load_board(BOARDS["m4"])))
    assert not isinstance(choice.spec, DepthwiseNarrow)


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
