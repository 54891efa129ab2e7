"""Oracle = generated C in a model of variable length, at every length."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from c_programs import SANITIZE, Build
from emulated import check_emulated_lengths, need_emulator
from parity import Sample, check_build, compiled
from variable_nets import LENGTHS, MAXIMUM, NETS, integer_graph, samples, wide

from edgec.ir import Graph
from edgec.lower import Program
from edgec.sim.compare import compare_outputs, compare_trace
from edgec.sim.host import HostModel
from edgec.toolchain.cc import WARNING_FLAGS

BOARDS = {"plain": "host", "m3": "nucleo_f207zg", "m4": "nucleo_l4r5zi", "m7": "nucleo_h7a3zi_q"}
"""Boards whose cores get kernels of their own, all of which run on this computer, too."""


@pytest.fixture(scope="module")
def graphs() -> dict[str, Graph]:
    return {name: integer_graph(make) for name, make in NETS.items()}


def on_host(graph: Graph, folder: Path, board: str) -> tuple[Program, HostModel]:
    program = compiled(graph, folder / "library", board=board)
    return program, HostModel(folder / "library", folder / "build", flags=("-O0", *WARNING_FLAGS))


_KERNELS = [
    pytest.param(kernels, marks=() if kernels in ("plain", "m4") else pytest.mark.slow)
    for kernels in BOARDS
]


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("kernels", _KERNELS)
@pytest.mark.parametrize("name", NETS)
def test_every_length_on_the_host(graphs, name: str, kernels: str, tmp_path: Path) -> None:
    program, model = on_host(graphs[name], tmp_path, BOARDS[kernels])
    for length in LENGTHS:
        model.set_length(length)
        shorter = program.at(length)
        for inputs, oracle in samples(graphs[name], length):
            compare_trace(shorter, oracle, model.trace(inputs), f"length {length}")
            outputs = model.run([array.reshape(1, -1) for array in inputs])
            compare_outputs(shorter, oracle, [array[0] for array in outputs], f"length {length}")


@pytest.mark.parametrize("kernels", ["plain", "m4"])
def test_what_lies_behind_the_run_does_not_matter(graphs, kernels: str, tmp_path: Path) -> None:
    program, _ = on_host(graphs["vit"], tmp_path, BOARDS[kernels])
    library = ctypes.CDLL(str(next((tmp_path / "build").glob("*.so"))))
    for length in LENGTHS[:-1]:
        (inputs, oracle), *_ = samples(graphs["vit"], length, 1)
        for garbage in (0x00, 0x7F, 0x80, 0xFF):
            found = run_in_garbage(library, program, inputs[0].tobytes(), length, garbage)
            compare_outputs(program.at(length), oracle, [found], f"{length}, {garbage:#x}")


def run_in_garbage(
    library: ctypes.CDLL, program: Program, data: bytes, length: int, garbage: int
) -> np.ndarray:
    """The only output of a run in an arena that holds one byte everywhere but in the input."""
    memory = (ctypes.c_uint64 * (program.arena_bytes // 8 + 1))()
    ctypes.memset(memory, garbage, ctypes.sizeof(memory))
    context = (ctypes.c_void_p * 4)()
    assert library.edgec_vit_init(context, memory, ctypes.sizeof(memory)) == 0
    library.edgec_vit_input.restype = library.edgec_vit_output.restype = ctypes.c_void_p
    ctypes.memmove(library.edgec_vit_input(context, 0), data, len(data))
    assert library.edgec_vit_run_length(context, length) == 0
    size = program.outputs[0].tensor.size_bytes
    return np.frombuffer(ctypes.string_at(library.edgec_vit_output(context, 0), size), np.int8)


def test_lengths_that_no_run_has(graphs, tmp_path: Path) -> None:
    program, model = on_host(graphs["vit"], tmp_path, "host")
    library = ctypes.CDLL(str(next((tmp_path / "build").glob("*.so"))))
    context = (ctypes.c_void_p * 4)()
    assert library.edgec_vit_run_length(None, 1) == 1  # NULL
    assert library.edgec_vit_run_length(context, 1) == 3  # not ready
    memory = (ctypes.c_uint64 * (program.arena_bytes // 8 + 1))()
    assert library.edgec_vit_init(context, memory, ctypes.sizeof(memory)) == 0
    for wrong in (0, MAXIMUM + 1, 2**31, 2**32 - 1):
        assert library.edgec_vit_run_length(context, ctypes.c_uint32(wrong)) == 4  # length
    assert library.edgec_vit_run(context) == 0
    assert model.max_length == MAXIMUM


_CORES = {
    "m0plus": "nucleo_g0b1re",
    "m3": "nucleo_f207zg",
    "m4": "nucleo_l4r5zi",
    "m7": "nucleo_h7a3zi_q",
    "m33": "nucleo_u575zi_q",
}
_QUICK = [("vit", "m4"), ("bert", "m0plus")]
_SLOW = [
    pytest.param(name, core, marks=pytest.mark.slow)
    for name in NETS
    for core in _CORES
    if (name, core) not in _QUICK
]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(("name", "core"), [*_QUICK, *_SLOW])
def test_every_length_on_emulated_cores(graphs, name: str, core: str, tmp_path: Path) -> None:
    need_emulator(_CORES[core])
    program = compiled(graphs[name], tmp_path / "library", board=_CORES[core])
    runs = {length: samples(graphs[name], length, 1) for length in LENGTHS}
    check_emulated_lengths(_CORES[core], tmp_path / "library", program, runs, tmp_path / "project")


@pytest.mark.slow
@pytest.mark.parametrize("core", ["m4", "m7", "m33"])
def test_tokens_that_are_far_apart(core: str, tmp_path: Path) -> None:
    need_emulator(_CORES[core])
    graph = integer_graph(wide)
    program = compiled(graph, tmp_path / "library", board=_CORES[core])
    assert "attention_dsp" in {kernel.spec.family for kernel in program.kernels}
    runs = {length: samples(graph, length, 1) for length in LENGTHS}
    check_emulated_lengths(_CORES[core], tmp_path / "library", program, runs, tmp_path / "project")


@pytest.mark.parametrize("kernels", ["m4", pytest.param("plain", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["vit", pytest.param("moves", marks=pytest.mark.slow)])
def test_short_runs_stay_in_the_arena(graphs, name: str, kernels: str, tmp_path: Path) -> None:
    program = compiled(graphs[name], tmp_path / "library", board=BOARDS[kernels])
    for length in (1, 3):
        runs = [Sample(*run) for run in samples(graphs[name], length)]
        build = Build("gcc", SANITIZE)
        check_build(build, tmp_path / "library", program, runs, tmp_path, length)
