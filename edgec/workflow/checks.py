"""Does the generated code compute what the numpy reference computes?  Every tensor, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import ConfigError
from edgec.base.work_folder import temporary_folder
from edgec.interp import run_graph, run_stream
from edgec.ir import Graph
from edgec.ir.specialize import specialized
from edgec.ir.weight_pool_graph import limited_bits
from edgec.lower import Program
from edgec.report.model import CheckReport
from edgec.sim.compare import compare_crcs, compare_outputs, compare_trace
from edgec.sim.emulator import EmulatedFirmware, native_program
from edgec.sim.host import HostModel, runs_natively
from edgec.target.board import Board
from edgec.toolchain.cc import find_host_compilers
from edgec.toolchain.confined import confinement
from edgec.workflow.integer import IntegerModel

_HOST_SAMPLES = 3
_EMULATOR_SAMPLES = 1
_EMULATOR_BITS = 3
"""A width that is run on the emulator too; all are on the host."""
_MOST_WAITING = 100
"""Every tensor of every run is compared, whether outputs mean something or not."""
_SEED = 20240521


def check_host(
    library_dir: Path, model: IntegerModel, program: Program, board: Board
) -> CheckReport:
    """Run the library natively on a few inputs and compare the output of every call of a step.

    The inputs of a model with a state are one stream.  Where the width of activations can be set,
    one input is run at every width; in a model of variable length, the front of one also at shorter
    lengths.

    Raises:
        BuildError: the C compiler refuses the library, so that nothing could be checked.
        SimulationError: a tensor differs, or the compiled library cannot be loaded.
    """
    if not runs_natively(board):
        return CheckReport("host", 0, 0, skipped="its kernels need a processor with NEON")
    compilers = find_host_compilers()
    if not compilers:
        return CheckReport("host", 0, 0, skipped="no C compiler for this computer is on PATH")
    samples = check_inputs(model, _HOST_SAMPLES + _waiting(model))
    with temporary_folder() as build_dir:
        host = HostModel(library_dir, build_dir, flags=("-O1",), compiler=compilers[0])
        stream = host.stream()
        for sample, oracle in zip(samples, run_stream(model.integer, samples), strict=True):
            compare_trace(program, oracle, stream.trace(list(sample.values())))
        for bits in _widths(program):
            host.set_activation_bits(bits)
            oracle = run_graph(limited_bits(model.integer, bits), samples[0])
            compare_trace(program, oracle, host.trace(list(samples[0].values())), f"{bits} bits")
        for length in _lengths(program)[:-1]:
            host.set_length(length)
            graph, sample = shorter_run(model.integer, samples[0], length)
            found = host.trace(list(sample.values()))
            where = f"host, length {length}"
            compare_trace(program.at(length), run_graph(graph, sample), found, where)
    return CheckReport("host", len(samples), _tensors(program), lengths=_lengths(program))


def _waiting(model: IntegerModel) -> int:
    """Runs that are needed before the first output, as far as they may be many."""
    return min(model.integer.warm_up, _MOST_WAITING)


def _tensors(program: Program) -> int:
    """Tensors that are compared for each sample: all outputs of every call of a step."""
    return sum(1 for _ in program.calls())


def _lengths(program: Program) -> tuple[int, ...]:
    """Lengths to run: the shortest, one in the middle, the longest; none where there is one."""
    longest = program.max_length
    return tuple(sorted({1, (longest + 1) // 2, longest})) if longest else ()


def shorter_run(
    graph: Graph, sample: Mapping[str, Array], length: int
) -> tuple[Graph, dict[str, Array]]:
    """The graph of a run of `length`, and as many tokens of its inputs, from the start."""
    shorter = specialized(graph, length)
    fronts = {name: tuple(map(slice, shorter.shape(name))) for name in sample}
    return shorter, {name: array[fronts[name]] for name, array in sample.items()}


def _widths(program: Program) -> range:
    """Widths of activations that the program can be set to."""
    return range(program.max_activation_bits, 0, -1) if program.runtime_bits else range(0)


def check_emulator(elf: Path, model: IntegerModel, program: Program, board: Board) -> CheckReport:
    """Run the firmware in the board's emulator; compare outputs and the CRC of each call of a step.

    It takes the place of `check_host`, with as many inputs and widths, where that cannot be.

    Raises:
        SimulationError: a tensor differs, or the firmware crashed.
    """
    if board.emulator.kind == "none":
        return CheckReport("emulator", 0, 0, skipped="no emulator for this board")
    widths: Sequence[int] = (_EMULATOR_BITS,) if program.runtime_bits else ()
    samples = check_inputs(model, _EMULATOR_SAMPLES + _waiting(model))
    if not runs_natively(board):
        widths, samples = _widths(program), check_inputs(model, _HOST_SAMPLES + _waiting(model))
    stack = 0
    try:
        with EmulatedFirmware(elf, board) as firmware:
            for sample, oracle in zip(samples, run_stream(model.integer, samples), strict=True):
                found = firmware.run(list(sample.values()), trace=True)
                compare_crcs(program, oracle, found.steps)
                if found.ready:
                    compare_outputs(program, oracle, found.outputs, "emulator")
                stack = max(stack, found.stack_bytes)
            for wanted in widths:
                bits = firmware.client.set_activation_bits(wanted)
                oracle = run_graph(limited_bits(model.integer, bits), samples[0])
                firmware.client.reset()
                found = firmware.run(list(samples[0].values()), trace=True)
                compare_crcs(program, oracle, found.steps, f"emulator at {bits} bits")
            for length in _lengths(program)[:-1]:
                firmware.client.set_length(length)
                graph, sample = shorter_run(model.integer, samples[0], length)
                found = firmware.run(list(sample.values()), trace=True)
                oracle, where = run_graph(graph, sample), f"emulator, length {length}"
                compare_crcs(program.at(length), oracle, found.steps, where)
                compare_outputs(program.at(length), oracle, found.outputs, where)
    except ConfigError as error:  # the emulator is not installed
        return CheckReport("emulator", 0, 0, skipped=f"{error.what}; {error.hint}")
    check = CheckReport(
        what="emulator",
        samples=len(samples),
        steps=_tensors(program),
        stack_bytes=stack or None,
        lengths=_lengths(program),
    )
    return with_confinement(check, board)


def with_confinement(check: CheckReport, board: Board) -> CheckReport:
    """A check with what this computer's own processor ran for it, if anything."""
    program = native_program(board)
    if not program:
        return check
    return replace(check, program=program, confined=confinement().value)


def check_inputs(model: IntegerModel, count: int) -> list[dict[str, Array]]:
    """Integer inputs to compare on: calibration samples, then noise that reaches all codes."""
    graph = model.integer
    available = min((len(array) for array in model.calibration.values()), default=0)
    # At least one of several inputs is noise: it saturates where real samples do not.
    taken = min(available, max(count - 1, 1))
    samples = [_encoded(graph, model.calibration, index) for index in range(taken)]
    generator = np.random.default_rng(_SEED)
    while len(samples) < count:
        samples.append({name: _noise(graph, name, generator) for name in graph.inputs})
    return samples


def _noise(graph: Graph, name: str, generator: np.random.Generator) -> Array:
    """Codes of one input; of token ids and masks small numbers."""
    if graph.values[name].dtype is DType.INT32:
        return generator.integers(0, 128, graph.shape(name)).astype(np.int32)
    codes = np.iinfo(graph.values[name].dtype.numpy)
    return generator.integers(codes.min, codes.max + 1, graph.shape(name)).astype(codes.dtype)


def _encoded(graph: Graph, calibration: Mapping[str, Array], index: int) -> dict[str, Array]:
    return {
        name: graph.quant(name).quantize(calibration[name][index : index + 1])
        if graph.values[name].quant is not None
        else calibration[name][index : index + 1].astype(np.int32)
        for name in graph.inputs
    }
