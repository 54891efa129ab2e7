"""Does the generated code compute what the numpy reference computes?  Every tensor, bit for bit."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from edgec.board import Board
from edgec.dtypes import Array
from edgec.errors import BuildError, ConfigError
from edgec.integer import IntegerModel
from edgec.interp import run_graph
from edgec.ir import Graph
from edgec.lower import Program
from edgec.report import CheckReport
from edgec.sim.compare import compare_crcs, compare_outputs, compare_trace
from edgec.sim.emulator import EmulatedFirmware
from edgec.sim.host import HostModel

_HOST_SAMPLES = 3
_EMULATOR_SAMPLES = 1
_SEED = 20240521


def check_host(library_dir: Path, model: IntegerModel, program: Program) -> CheckReport:
    """Run the library natively on a few inputs and compare every step's output.

    Raises:
        SimulationError: a tensor differs.
    """
    samples = check_inputs(model, _HOST_SAMPLES)
    with tempfile.TemporaryDirectory(prefix="edgec-check-") as build_dir:
        try:
            host = HostModel(library_dir, Path(build_dir), flags=("-O1",))
        except BuildError as error:
            return CheckReport("host", 0, 0, skipped=error.what)
        for sample in samples:
            oracle = run_graph(model.integer, sample)
            compare_trace(program, oracle, host.trace(list(sample.values())))
    return CheckReport("host", len(samples), len(program.steps))


def check_emulator(elf: Path, model: IntegerModel, program: Program, board: Board) -> CheckReport:
    """Run the firmware in the board's emulator and compare outputs and the CRC of every step.

    Raises:
        SimulationError: a tensor differs, or the firmware crashed.
    """
    if board.emulator.kind == "none":
        return CheckReport("emulator", 0, 0, skipped="no emulator for this board")
    samples = check_inputs(model, _EMULATOR_SAMPLES)
    try:
        with EmulatedFirmware(elf, board) as firmware:
            for sample in samples:
                oracle = run_graph(model.integer, sample)
                found = firmware.run(list(sample.values()), trace=True)
                compare_crcs(program, oracle, found.steps)
                compare_outputs(program, oracle, found.outputs, "emulator")
    except ConfigError as error:  # the emulator is not installed
        return CheckReport("emulator", 0, 0, skipped=f"{error.what}; {error.hint}")
    return CheckReport("emulator", len(samples), len(program.steps))


def check_inputs(model: IntegerModel, count: int) -> list[dict[str, Array]]:
    """Integer inputs to compare on: calibration samples, then noise that reaches all codes."""
    graph = model.integer
    available = min((len(array) for array in model.calibration.values()), default=0)
    # At least one of several inputs is noise: it saturates where real samples do not.
    taken = min(available, max(count - 1, 1))
    samples = [_encoded(graph, model.calibration, index) for index in range(taken)]
    generator = np.random.default_rng(_SEED)
    while len(samples) < count:
        samples.append(
            {
                name: generator.integers(-128, 128, graph.shape(name)).astype(np.int8)
                for name in graph.inputs
            }
        )
    return samples


def _encoded(graph: Graph, calibration: Mapping[str, Array], index: int) -> dict[str, Array]:
    return {
        name: graph.quant(name).quantize(calibration[name][index : index + 1])
        for name in graph.inputs
    }
