"""Traces of real firmware: counts known by hand, native and Python alike, on every board."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import unicorn
from built import firmware_of
from choice_layers import Layer, graph_of
from toy_firmware import (
    FIXTURES,
    build_toy_firmware,
    compile_project,
    put_runtime,
    toy_input,
    toy_steps,
)

from edgec.base.errors import BuildError, SimulationError
from edgec.base.options import CompileOptions
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.commands.compile_facts import share_of
from edgec.interp import run_graph
from edgec.kernels.generic.conv2d import FAMILY as CONV2D
from edgec.kernels.select import kernel_candidates
from edgec.lower.placed import lowered
from edgec.sim.emulator_image import load_image
from edgec.sim.protocol import FirmwareClient
from edgec.sim.trace import TracedRun, trace_inference
from edgec.sim.trace_library import trace_library
from edgec.sim.trace_plan import make_plan
from edgec.sim.trace_records import TraceRecords
from edgec.sim.unicorn_machine import UnicornMachine
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.timing.memory import count_instructions, flash_timing, instruction_offsets
from edgec.timing.types import MemoryMode, Segment, Trace

capstone = pytest.importorskip("capstone")

BOARDS = (
    "nucleo_f103rb",
    "nucleo_f207zg",
    "nucleo_f446re",
    "nucleo_g0b1re",
    "nucleo_h7a3zi_q",
    "nucleo_l4r5zi",
    "nucleo_u575zi_q",
    "rpi_pico",
    "mps2_an385",
    "mps2_an386",
    "mps2_an500",
    "mps2_an505",
    "microbit",
)
X = np.array([1, -2, 3, -4], np.int8)
EXAMPLES = Path(__file__).parents[2] / "examples"

Build = Callable[[str], Path]


def build_traced(folder: Path, name: str) -> Path:
    """Firmware with the model of trace_model.c."""
    library = folder / "library"
    put_runtime(library)
    (library / "src").mkdir()
    shutil.copy(FIXTURES / "trace_model.h", library / "include")
    shutil.copy(FIXTURES / "trace_model.c", library / "src")
    (library / "library.json").write_text(json.dumps({"name": "traced", "version": "0.0.0"}))
    model = FirmwareModel(library, "traced", "trace_model.h", "trace_model", 64, 1)
    board = load_board(name)
    emit_project([model], board, folder / "project")
    return compile_project(folder / "project", board, folder / "firmware.elf")


@pytest.fixture(scope="module", autouse=True)
def fresh_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The native tracer is compiled anew, and not into the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The counted firmware for a board, built once."""
    built: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in built:
            built[name] = build_traced(tmp_path_factory.mktemp(name), name)
        return built[name]

    return get


def trace_traced(build: Build, name: str, *, native: bool = False) -> TracedRun:
    return trace_inference(build(name), load_board(name), [X], native=native)


def every_segment(trace: Trace) -> tuple[Segment, ...]:
    return (*trace.segments, trace.outside)


def contents(trace: Trace) -> list[object]:
    """All that a trace holds, comparable."""
    parts = [(s.edges, s.fetch_stalls, s.data_stalls, s.divides) for s in every_segment(trace)]
    return [*parts, trace.stack_bytes, trace.arena, trace.timing]


def executions(segment: Segment, elf: Path, name: str) -> Counter[int]:
    """How often each instruction ran.

    Blocks overlap: one that falls into a loop holds the loop's first pass.
    """
    image = load_image(elf, load_board(name))
    counts: Counter[int] = Counter()
    for edge, count in segment.edges.items():
        for offset in instruction_offsets(image.read(edge.start, edge.size_bytes)):
            counts[edge.start + offset] += count
    return counts


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", BOARDS)
def test_every_board_traces_the_same_natively_and_in_python(build: Build, name: str) -> None:
    python = trace_traced(build, name)
    native = trace_traced(build, name, native=True)
    assert contents(python.trace) == contents(native.trace)
    assert contents(native.trace) == contents(trace_traced(build, name, native=True).trace)
    assert len(python.trace.segments) == python.info.steps == 4
    assert python.info.board == name
    assert 0 < python.trace.stack_bytes < 1024
    # The input at 8..12 and the output at 16..20 are all that is written.
    assert (python.trace.arena.low, python.trace.arena.high) == (8, 20)
    assert python.trace.arena.size_bytes == 64
    assert np.array_equal(native.outputs[0], python.outputs[0])


@pytest.mark.parametrize("name", ("nucleo_f446re", "nucleo_g0b1re"))
def test_an_inner_loop_runs_as_often_as_the_kernel_says(build: Build, name: str) -> None:
    first, second, _, _ = trace_traced(build, name).trace.segments
    assert max(executions(first, build(name), name).values()) == 5 * 9
    assert max(executions(second, build(name), name).values()) == 64
    assert {1, 5, 5 * 9} <= set(executions(first, build(name), name).values())


def test_code_in_ram_is_counted_and_fetched_without_waiting(build: Build) -> None:
    board = load_board("nucleo_f446re")
    segment = trace_traced(build, board.name).trace.segments[3]
    counts = executions(segment, build(board.name), board.name)
    assert board.memory is not None
    ram = board.memory.region("sram")
    inside = {
        address: count for address, count in counts.items() if ram.origin <= address < ram.end
    }
    assert max(inside.values()) == 7
    assert not set(segment.fetch_stalls) & set(inside)


class InstructionCounter:
    """Another way to count: a hook on every instruction, no blocks."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()

    def attach(self, uc: Any) -> None:
        def on_instruction(_uc: object, address: int, _size: int, _data: object) -> None:
            self.counts[address] += 1

        uc.hook_add(unicorn.unicorn_const.UC_HOOK_CODE, on_instruction)

    def check(self) -> None:
        pass

    def records(self) -> TraceRecords:
        return TraceRecords()


@pytest.mark.parametrize("name", ("nucleo_f446re", "nucleo_g0b1re", "nucleo_h7a3zi_q"))
def test_blocks_count_what_single_steps_count(build: Build, name: str) -> None:
    board = load_board(name)
    image = load_image(build(name), board)
    machine = UnicornMachine(image, board)
    client = FirmwareClient(machine)
    client.info()
    counter = InstructionCounter()
    machine.watch(counter)
    client.bench([X])
    expected: Counter[int] = Counter()
    for segment in every_segment(trace_traced(build, name).trace):
        expected += executions(segment, build(name), name)
    kernels = ("nested_loops", "sum_table", "divide", "in_ram")

    def of_kernels(counts: Counter[int]) -> dict[int, int]:
        return {
            address: count
            for address, count in counts.items()
            if any(f"({kernel}+" in image.locate(address) for kernel in kernels)
        }

    assert len(of_kernels(expected)) > 30
    assert of_kernels(counter.counts) == of_kernels(expected)


@pytest.mark.parametrize("name", ("nucleo_f446re", "nucleo_h7a3zi_q", "nucleo_u575zi_q"))
def test_table_reads_wait_once_a_line(build: Build, name: str) -> None:
    board = load_board(name)
    assert board.memory is not None
    flash = board.memory.flash
    # `nested_loops` has read the first 36 of the table's 256 bytes.
    line = flash.cache_line_bytes or flash.line_bytes
    misses = 256 // line - -(-36 // line)
    one = line // flash.line_bytes * (flash.wait_states + 1) - 1
    stalls = sum(trace_traced(build, name).trace.segments[1].data_stalls.values())
    reads = misses + 2  # and literals
    if flash.prefetch:
        # The flash finishes the prefetch that a read meets.
        assert misses * one <= stalls <= reads * (2 * one + 1)
    else:
        assert misses * one <= stalls <= reads * one
        assert stalls % one == 0


def test_divides_by_the_length_of_their_quotients(build: Build) -> None:
    # 100/7=14, 1000000/3=333333, 7/100=0, 4294967295/1, 5/0 -> 0; -100/9=-11; -2^31/-3
    expected = Counter({4: 2, 19: 1, 0: 2, 32: 1, 30: 1})
    third = trace_traced(build, "nucleo_f446re").trace.segments[2]
    found: Counter[int] = Counter()
    for histogram in third.divides.values():
        found.update(histogram)
    assert found == expected
    assert len(third.divides) == 3
    assert not trace_traced(build, "nucleo_g0b1re").trace.segments[2].divides  # has no divide


@pytest.mark.parametrize("name", ("nucleo_f446re", "nucleo_g0b1re", "mps2_an505"))
def test_edges_are_consistent(build: Build, name: str) -> None:
    check_flow(trace_traced(build, name), build(name), name)


def check_flow(run: TracedRun, elf: Path, name: str) -> None:
    """What enters a block leaves it, but where the run and the hook begin and end."""
    image = load_image(elf, load_board(name))
    plan = make_plan(elf, image, run.trace.timing, count_instructions)
    into: Counter[int] = Counter()
    out: Counter[int] = Counter()
    disassembler = capstone.Cs(
        capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
    )
    disassembler.detail = True
    for segment in every_segment(run.trace):
        for edge, count in segment.edges.items():
            out[edge.start] += count
            into[edge.next_start] += count
            code = image.read(edge.start, edge.size_bytes)
            *_, last = disassembler.disasm(code, edge.start)
            jumps = last.group(capstone.CS_GRP_JUMP) or "pc" in last.op_str
            assert edge.falls_through or jumps, last
    differ = {start: out[start] - into[start] for start in into | out if out[start] != into[start]}
    assert differ.pop(plan.run_entry) == 1
    assert differ.pop(plan.hook_entry) == -run.info.steps
    returned = [start for start, extra in differ.items() if extra == -1]
    assert len(returned) == 1  # the caller of the run function
    del differ[returned[0]]
    assert sum(differ.values()) == run.info.steps  # where the hook returns to
    assert min(differ.values()) > 0


def test_no_stalls_without_wait_states(build: Build) -> None:
    board = load_board("nucleo_f446re")
    flash = trace_traced(build, "nucleo_f446re").trace
    for mode in (MemoryMode.SRAM, MemoryMode.IDEAL):
        trace = trace_inference(build(board.name), board, [X], mode, native=True).trace
        assert trace.timing == flash_timing(board, mode)
        for ours, theirs in zip(every_segment(trace), every_segment(flash), strict=True):
            assert ours.edges == theirs.edges
            assert not ours.fetch_stalls
            assert not ours.data_stalls


def test_a_slower_pace_leaves_prefetches_more_time(build: Build) -> None:
    board = load_board("nucleo_f103rb")

    def stalls(pace: int) -> int:
        run = trace_inference(
            build(board.name),
            board,
            [X],
            pace=lambda _, code: pace * len(instruction_offsets(code)),
            native=True,
        )
        return sum(sum(s.fetch_stalls.values()) for s in run.trace.segments)

    assert stalls(1) > stalls(2) > 0


def test_the_traced_run_computes_what_the_model_does(tmp_path: Path) -> None:
    board = load_board("nucleo_f446re")
    elf = build_toy_firmware(tmp_path, board)
    run = trace_inference(elf, board, [toy_input()], native=True)
    assert np.array_equal(run.outputs[0], toy_steps(toy_input())[-1])
    assert (run.trace.arena.low, run.trace.arena.high) == (8, 608)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("native", (False, True))
def test_an_endless_run_is_ended(tmp_path: Path, native: bool) -> None:
    board = load_board("mps2_an386")
    elf = build_toy_firmware(tmp_path, board, ("toy_endless",))
    with pytest.raises(SimulationError, match="longer than"):
        trace_inference(elf, board, [], native=native, limit_s=0.5)


def test_a_firmware_without_symbols_is_refused(build: Build, tmp_path: Path) -> None:
    strip = shutil.which("arm-none-eabi-strip")
    if strip is None:
        pytest.skip("arm-none-eabi-strip is not installed")
    stripped = tmp_path / "stripped.elf"
    subprocess.run([strip, "-o", stripped, build("nucleo_f446re")], check=True)
    with pytest.raises(SimulationError, match="no symbol"):
        trace_inference(stripped, load_board("nucleo_f446re"), [X])


def test_without_a_compiler_python_counts(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = contents(trace_traced(build, "nucleo_f446re").trace)
    board = load_board("nucleo_f446re")
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocker))  # no folder can be made in a file
    run = trace_inference(build(board.name), board, [X])
    assert contents(run.trace) == expected
    # Another process, which has not loaded the library.
    trace_library.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    run = trace_inference(build(board.name), board, [X])
    assert contents(run.trace) == expected
    with pytest.raises(BuildError):
        trace_inference(build(board.name), board, [X], native=True)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("model", ("digits_mlp", "digits_resnet"))
def test_examples_trace_alike(tmp_path: Path, model: str) -> None:
    from edgec.base.options import CompileOptions
    from edgec.commands.compile import compile_model

    compile_model(
        EXAMPLES / f"{model}.onnx",
        "nucleo",
        calibration=str(EXAMPLES / "digits_calibration.npz"),
        out=tmp_path / model,
        options=CompileOptions(verify=False),
    )
    elf = tmp_path / model / "firmware.elf"
    board = load_board("nucleo")
    x = np.random.default_rng(5).integers(-128, 128, 64).astype(np.int8)
    python = trace_inference(elf, board, [x], native=False)
    native = trace_inference(elf, board, [x], native=True)
    assert contents(python.trace) == contents(native.trace)
    check_flow(native, elf, "nucleo")
    assert sum(sum(s.data_stalls.values()) for s in native.trace.segments) > 0


@pytest.mark.parametrize("native", [True, False])
def test_hooks_on_memory_do_not_repeat_it_blocks(tmp_path: Path, native: bool) -> None:
    """Copies of four bytes, which GCC makes of loads and stores in IT blocks."""
    board = load_board("nucleo_l4r5zi")
    graph = graph_of([Layer(12, 10, 4, 6, (3, 3))])
    (node,) = graph.nodes
    plain = [c for c in kernel_candidates(graph, node, Target.of(board)) if c.family is CONV2D]
    made = lowered(graph, plain, board, share_of(CompileOptions(), board))
    elf = firmware_of(made.program, board, tmp_path)
    (name,) = graph.inputs
    x = np.random.default_rng(1).integers(-128, 128, graph.shape(name)).astype(np.int8)
    run = trace_inference(elf, board, [x], native=native)
    (wanted,) = (run_graph(graph, {name: x})[each] for each in graph.outputs)
    assert np.array_equal(run.outputs[0], wanted.reshape(-1))
