"""The main programs that firmware may have: what is generated for each, and how it is checked.

One more is a folder below firmware/app, a name in `base.options.App`, and an entry of `_PROGRAMS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, SimulationError
from edgec.base.main_program import MainProgram
from edgec.base.options import App
from edgec.base.samples import Normalize
from edgec.codegen.firmware_app import CONSOLE, FirmwareApp
from edgec.interp import run_graph
from edgec.ir.graph import Graph
from edgec.lower import Program
from edgec.report.model import REPORT_JSON, CheckReport, Report, TensorReport
from edgec.sim.emulator import emulated_stream
from edgec.sim.runner import RunnerClient
from edgec.target.board import Board
from edgec.workflow.checks import check_emulator, with_confinement
from edgec.workflow.integer import IntegerModel
from edgec.workflow.mlperf import (
    DECIMALS,
    Benchmark,
    benchmark_of,
    expected_results,
    mlperf_app,
    numbers_to_codes,
)

_SAMPLES = 2
_SEED = 20261123


@dataclass(frozen=True, slots=True, eq=False)
class Ports:
    """Inputs and outputs of a model.

    Attributes:
        inputs, outputs: its tensors, in its order.
        pixels: how pixels become the model's numbers; None: not said.
    """

    inputs: tuple[TensorReport, ...]
    outputs: tuple[TensorReport, ...]
    pixels: Normalize | None = None


@dataclass(frozen=True, slots=True)
class _Program:
    """A main program: how it is made for a model, and how firmware.elf with it is checked."""

    firmware: Callable[[Ports], FirmwareApp]
    check: Callable[[Path, IntegerModel, Program, Board, Ports], CheckReport]


def command_end(folder: Path) -> str:
    """Character that ends a command typed at a terminal, besides the key for a new line."""
    is_build = (folder / REPORT_JSON).is_file()
    return "" if not is_build or Report.read(folder).app is App.CONSOLE else "%"


def firmware_app(app: App, ports: Ports, main: MainProgram | None = None) -> FirmwareApp:
    """The main program of that name, for a model.

    Args:
        app: the name.
        ports: what the model takes and gives.
        main: the user's own in place of the console's.

    Raises:
        ConfigError: it cannot serve the model.
    """
    found = _PROGRAMS[app].firmware(ports)
    return dataclasses.replace(found, main=main)


def check_keeps(app: App, graph: Graph) -> None:
    """Refuse a main program that knows no streams for a model with a state.

    Raises:
        ConfigError: it is one.
    """
    if app is not App.CONSOLE and graph.has_state:
        raise ConfigError(
            "the model keeps a state from run to run, which this main program does not know",
            where=f"--app {app.value}",
            hint="compile it without --app",
        )


def with_baud(board: Board, app: FirmwareApp) -> Board:
    """The board, with the serial line as fast as the main program wants it."""
    if board.console is None or app.baud is None:
        return board
    return dataclasses.replace(board, console=dataclasses.replace(board.console, baud=app.baud))


def check_firmware(
    app: App, elf: Path, model: IntegerModel, program: Program, board: Board, ports: Ports
) -> CheckReport:
    """Run firmware in the board's emulator and compare what it gives with the reference.

    Raises:
        SimulationError: something differs, or the firmware crashed.
    """
    if board.emulator.kind == "none":
        return CheckReport("emulator", 0, 0, skipped="no emulator for this board")
    return _PROGRAMS[app].check(elf, model, program, board, ports)


def _console(ports: Ports) -> FirmwareApp:
    """The console serves any model."""
    del ports
    return CONSOLE


def _runner(ports: Ports, *, energy: bool) -> FirmwareApp:
    return mlperf_app(ports.inputs, ports.outputs, ports.pixels, energy=energy)


def _check_console(
    elf: Path, model: IntegerModel, program: Program, board: Board, ports: Ports
) -> CheckReport:
    del ports
    return check_emulator(elf, model, program, board)


def _check_runner(
    elf: Path, model: IntegerModel, program: Program, board: Board, ports: Ports
) -> CheckReport:
    """Noise by the runner's commands: each printed result against that of the reference."""
    del program
    benchmark = benchmark_of(ports.inputs, ports.outputs)
    numbers = _noise(benchmark, ports.inputs[0])
    codes = numbers_to_codes(benchmark, numbers, ports.inputs[0], ports.pixels)
    graph = model.integer
    shape = graph.shape(graph.inputs[0])
    try:
        with emulated_stream(elf, board) as stream:
            runner = RunnerClient(stream)
            for sent, code in zip(numbers, codes, strict=True):
                oracle = run_graph(graph, {graph.inputs[0]: code.reshape(shape)})
                output = oracle[graph.outputs[0]]
                wanted = expected_results(benchmark, sent, output, ports.outputs[0])
                runner.load(sent.tobytes())
                found = runner.infer(1, 0)
                if found != wanted:
                    raise SimulationError(
                        f"the firmware's results are {found[:200]}, the reference's {wanted[:200]}",
                        where="emulator",
                        hint="this is a bug of edgec; please report it with the model",
                    )
    except ConfigError as error:  # the emulator is not installed
        return CheckReport("emulator", 0, 0, skipped=f"{error.what}; {error.hint}")
    equal = CheckReport("emulator", len(numbers), 0, decimals=DECIMALS)
    return with_confinement(equal, board)


def _noise(benchmark: Benchmark, tensor: TensorReport) -> Array:
    """Inputs as the runner sends them that reach all codes, [samples, elements]."""
    generator = np.random.default_rng(_SEED)
    codes = generator.integers(-128, 128, (_SAMPLES, benchmark.elements)).astype(np.int8)
    if not benchmark.is_anomaly_detection:
        return codes.view(benchmark.dtype)
    shaped = codes.reshape(_SAMPLES, *tensor.library_shape[1:])
    return tensor.quant.dequantize(shaped).reshape(_SAMPLES, -1)


_PROGRAMS: Mapping[App, _Program] = {
    App.CONSOLE: _Program(_console, _check_console),
    App.MLPERF: _Program(partial(_runner, energy=False), _check_runner),
    App.MLPERF_ENERGY: _Program(partial(_runner, energy=True), _check_runner),
}
