"""Oracle = generated C for depthwise convolutions on cores with DSP, both forms, all borders."""

from pathlib import Path

import pytest
from depthwise_cases import BOARDS, INT8, Case, graph_of
from depthwise_kernels import BANDS, KERNELS, NARROW, PLANES, WIDE, WINDOWS, Kernel, all_specs
from emulated import check_emulated, need_emulator
from parity import check_host, compiled, samples_of

from edgec.ir import Graph

BOARD = BOARDS["m4"]


def check_on_core(graph: Graph, board: str, folder: Path) -> None:
    need_emulator(board)
    program = compiled(graph, folder / "library", board=board)
    samples = [samples_of(graph)[i] for i in (0, 2, 4)]
    check_emulated(board, folder / "library", program, samples, folder / "project")


@pytest.mark.parametrize("board", BOARDS.values())
def test_layers_on_planes(board: str):
    specs = PLANES.specs_of(PLANES.cases, board)
    saturates = [case.bounds == INT8 for case in PLANES.cases]
    alike = [case.strides[0] == case.strides[1] for case in PLANES.cases]
    wide = [spec.window.out_width > 1 for spec in specs]
    stays = [all(each) for each in zip(saturates, alike, wide, strict=True)]
    assert [spec.tile_kind is not None for spec in specs] == stays
    assert {spec.tile_kind for spec in specs} == {None, "offset", "offsets"}
    assert any(spec.window.out_height % 2 for spec in specs if spec.tile_kind)
    assert {spec.pairs for spec in specs if spec.is_whole} == {3, 8, 15}
    assert any(not spec.is_whole and spec.window.stride_h == 1 for spec in specs)


@pytest.mark.parametrize("board", BOARDS.values())
def test_layers_of_narrow_images(board: str):
    specs = NARROW.specs_of(NARROW.cases, board)
    assert len(specs) == len(NARROW.cases)
    assert {(s.window.stride_h, s.left, s.outputs) for s in specs} == {
        (stride, left, outputs)
        for stride, left in ((1, 1), (2, 0), (2, 1))
        for outputs in (3, 4, 5, 6)
    }
    assert {(s.below, s.has_offsets, s.odd) for s in specs if s.left} >= {
        (below, offsets, odd) for below, offsets in ((0, 0), (1, 0), (1, 1)) for odd in (0, 1)
    }


@pytest.mark.parametrize("board", BOARDS.values())
def test_layers_in_bands(board: str):
    specs = BANDS.specs_of(BANDS.cases, board)
    assert len(specs) == len(BANDS.cases)
    assert any(spec.window.out_height % spec.strip for spec in specs)
    assert {(s.window.stride_h, s.has_offsets, s.high_shift > 0) for s in specs} == {
        (stride, offsets, shifts)
        for stride in (1, 2)
        for offsets in (False, True)
        for shifts in (False, True)
    }


@pytest.mark.parametrize("board", BOARDS.values())
def test_layers_of_windows_of_any_size(board: str):
    specs = WINDOWS.specs_of(WINDOWS.cases, board)
    assert len(specs) == len(WINDOWS.cases)
    assert {(s.laid.stride_w, s.outputs, s.is_looped) for s in specs} == {
        (stride, outputs, looped)
        for stride, outputs in ((1, 6), (1, 4), (2, 5), (2, 4))
        for looped in (False, True)
    }
    assert {(s.is_whole, s.strip < s.laid.out_height) for s in specs} == {
        (True, False),
        (False, True),
        (False, False),
    }
    assert {(s.kind, s.high_shift > 0) for s in specs} == {
        *(("offset", False), ("offset", True), ("offsets", False), ("offsets", True)),
        ("twice", True),
    }
    assert {(s.laid.stride_w, s.outputs) for s in specs if s.kind == "twice"} == {
        *((1, 6), (1, 4), (2, 5), (2, 4))
    }
    assert {(s.laid.taps < s.window.taps, s.laid.height == s.window.height) for s in specs} == {
        *((False, False), (False, True), (True, True), (True, False))
    }


@pytest.mark.parametrize("board", BOARDS.values())
def test_layers_of_int16(board: str):
    specs = WIDE.specs_of(WIDE.cases, board)
    assert len(specs) == len(WIDE.cases)
    assert {(s.kind, s.low) for s in specs} == {
        (kind, low) for kind in ("offset", "once") for low in (0, -32767, -32768)
    }
    assert {s.laid.stride_w for s in specs} == {1, 2}
    assert {s.pitch > 0 for s in specs} == {True, False}
    assert {s.high_shift > 0 for s in specs} == {True, False}
    assert {s.is_whole for s in specs} == {True, False}


@pytest.mark.parametrize(
    ("kernel", "case"), [(kernel, case) for kernel in KERNELS.values() for case in kernel.others]
)
def test_other_layers_do_not_get_a_kernel(kernel: Kernel, case: Case):
    assert not kernel.specs_of((case,), BOARD)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", KERNELS)
def test_on_the_host(name: str, tmp_path: Path):
    check_host(graph_of(2, KERNELS[name].cases), tmp_path, board=BOARD)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))]
)
@pytest.mark.parametrize("name", KERNELS)
def test_random_shapes(name: str, seed: int, tmp_path: Path):
    kernel = KERNELS[name]
    graph = graph_of(seed, kernel.random_cases(seed))
    found = [kernel.computes(spec) for spec in all_specs(graph, BOARD)]
    assert sum(found) > len(found) / 2
    check_host(graph, tmp_path / "host", board=BOARD)
    check_on_core(graph, BOARD, tmp_path)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("name", KERNELS)
def test_on_an_emulated_core(name: str, core: str, tmp_path: Path):
    check_on_core(graph_of(3, KERNELS[name].cases), BOARDS[core], tmp_path)
