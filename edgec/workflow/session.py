"""Running a compiled model on real inputs: conversion to and from the library's integers.

The same code serves `edgec run`, `edgec evaluate` and the Python API, on the host's
native build, on emulated firmware and on the board that is plugged in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import MAX_ACTIVATION_BITS, App
from edgec.base.samples import Samples, check_samples, load_samples
from edgec.base.system import command_line
from edgec.base.work_folder import temporary_folder
from edgec.report.model import Report, TensorReport
from edgec.sim.device import Flashed, open_device
from edgec.sim.emulator import EmulatedFirmware
from edgec.sim.host import runs_natively
from edgec.sim.host_process import host_process
from edgec.sim.protocol import FirmwareClient
from edgec.toolchain.platformio import FirmwareFiles
from edgec.workflow.codes import decode, encode
from edgec.workflow.model_samples import fitting, stacked, steps_of

Progress = Callable[[int, int], None]
TARGETS = ("host", "emulator", "device")
"""Targets that can run the model of a build folder."""
_SLOWEST_CYCLES_PER_MAC = 200
_LEAST_TIMEOUT_S = 30.0
LIBRARY_DIR = "library"
MODEL_COPY = "model"
"""Name of the copy of the model in a build, without the suffix of its format."""


class IntegerModel(Protocol):
    """Something that maps library inputs to library outputs, a batch at a time."""

    def __call__(
        self,
        inputs: list[Array],
        progress: Progress | None = None,
        length: int | None = None,
        every: int = 0,
    ) -> list[Array]:
        """One int8 array [N, ...] per input; one array [N, ...] per output.

        `length`: of a run, in a model of variable length; None: the longest.  `every`: runs after
        which the state is reset; 0: it is not.
        """


@dataclass(frozen=True, slots=True)
class Session:
    """A build folder's model, ready to run on samples.

    Attributes:
        report: the compilation's report.
        model: executes the library's integers.
    """

    report: Report
    model: IntegerModel

    def run(
        self, samples: Mapping[str, ArrayLike], progress: Progress | None = None
    ) -> dict[str, Array]:
        """Outputs by name for samples by input name; first axis counts samples on both sides.

        A model that runs frame by frame takes windows, or the frames of runs; the first runs then
        have no output.

        Raises:
            ConfigError: the samples do not fit the model.
            SimulationError: the run failed.
        """
        checked = fitting(self.report, lambda specs: check_samples(samples, specs, "samples"))
        length = length_of(self.report.inputs, checked)
        steps = steps_of(self.report, checked)
        inputs = [encode(steps.inputs[tensor.name], tensor) for tensor in self.report.inputs]
        outputs = [codes[steps.rows] for codes in self.model(inputs, progress, length, steps.every)]
        less = self.report.max_length - length if length is not None else 0
        return {
            tensor.name: decode(stacked(codes, tensor, less), tensor)
            for tensor, codes in zip(self.report.outputs, outputs, strict=True)
        }


def length_of(tensors: Sequence[TensorReport], samples: Mapping[str, Array]) -> int | None:
    """The length of samples [N, ...] by input name; None where every run has the same.

    Raises:
        ConfigError: the inputs differ in it.
    """
    found = {
        tensor.name: samples[tensor.name].shape[tensor.length_axis]
        for tensor in tensors
        if tensor.length_axis is not None
    }
    if len(set(found.values())) > 1:
        raise ConfigError(
            f"the inputs differ in length: {found}", hint="give all inputs the same tokens"
        )
    return next(iter(found.values()), None)


def places_of(folder: Path) -> tuple[str, ...]:
    """Targets of this computer that can run a build: "host", "emulator", in this order.

    Raises:
        ConfigError: the folder holds no build.
    """
    report = Report.read(folder)
    board = report.board
    emulated = (
        report.app is App.CONSOLE
        and board.emulator.kind != "none"
        and (folder / FirmwareFiles.ELF).is_file()
    )
    can = {"host": runs_natively(board), "emulator": emulated}
    return tuple(place for place, possible in can.items() if possible)


def open_session(
    folder: Path, on: str, bits: int | None = None, port: str | None = None
) -> Session:
    """The model of a build folder, on "host", "emulator" or "device".

    Args:
        folder: build folder.
        on: what runs it.
        bits: let layers with pooled weights see at most this many bits of each activation, 1 to 8;
            None: the widths that they were compiled with.
        port: serial port of the device; None: found by itself.

    Raises:
        ConfigError: unknown target, the folder holds no build for it or none that this computer can
            run, or its widths are fixed.
    """
    report = Report.read(folder)
    check_width(report, bits, folder)
    if on == "host":
        check_host(folder, report)
        return Session(report, host_runner(folder / LIBRARY_DIR, bits))
    if on == "emulator":
        return Session(report, emulator_runner(folder, report, bits))
    if on == "device":
        return Session(report, device_runner(folder, report, bits, port))
    raise ConfigError(f"cannot run on {on!r}", hint=f"--on takes {' or '.join(TARGETS)}")


def check_width(report: Report, bits: int | None, folder: Path) -> None:
    """Refuse a width of activations that a build cannot be set to.

    Raises:
        ConfigError: its widths are fixed, or `bits` is no width.
    """
    if bits is None:
        return
    if not 1 <= bits <= MAX_ACTIVATION_BITS:
        raise ConfigError(
            f"{bits} is no width of activations", hint=f"widths are 1 to {MAX_ACTIVATION_BITS}"
        )
    if not report.runtime_bits:
        raise ConfigError(
            "was compiled with fixed widths of activations",
            where=str(folder),
            hint="compile a model with pooled weights (edgec compress) with --runtime-bits",
        )


def run_file(
    folder: Path,
    samples: Samples,
    on: str,
    progress: Progress | None = None,
    port: str | None = None,
) -> dict[str, Array]:
    """Run a build folder's model on samples on disk; outputs by name."""
    session = open_session(folder, on, port=port)
    found = fitting(session.report, lambda specs: load_samples(samples, specs))
    return session.run(found, progress)


def host_runner(library_dir: Path, bits: int | None = None) -> IntegerModel:
    """Runs the generated library natively, over all processors."""

    def run(
        inputs: list[Array],
        progress: Progress | None = None,
        length: int | None = None,
        every: int = 0,
    ) -> list[Array]:
        with temporary_folder() as build_dir, host_process(library_dir, build_dir) as model:
            if bits is not None:
                model.set_activation_bits(bits)
            if length is not None:
                model.set_length(length)
            return model.run(inputs, progress, every)

    return run


def emulator_runner(folder: Path, report: Report, bits: int | None = None) -> IntegerModel:
    """Runs the firmware of a build folder in the board's emulator, one sample after the other."""
    elf, board = firmware_program(folder, report), report.board

    @contextmanager
    def opened() -> Iterator[FirmwareClient]:
        with EmulatedFirmware(elf, board) as firmware:
            yield firmware.client

    return _firmware_runner(opened, bits)


def device_runner(
    folder: Path, report: Report, bits: int | None = None, port: str | None = None
) -> IntegerModel:
    """Runs the firmware on the board that is plugged in, one sample after the other."""
    return _firmware_runner(lambda: build_on_device(folder, report, port), bits)


def _firmware_runner(
    opened: Callable[[], AbstractContextManager[FirmwareClient]], bits: int | None
) -> IntegerModel:
    def run(
        inputs: list[Array],
        progress: Progress | None = None,
        length: int | None = None,
        every: int = 0,
    ) -> list[Array]:
        with opened() as client:
            return run_samples(client, inputs, bits, length, progress, every)

    return run


def build_on_device(
    folder: Path, report: Report, port: str | None
) -> AbstractContextManager[FirmwareClient]:
    """The firmware of a build folder on the board that is plugged in; see `open_device`.

    Raises:
        ConfigError: it has another main program than that of edgec.
    """
    check_app(folder, report)
    wanted = Flashed(report.board, report.digest, command_line([folder]))
    slowest_s = report.macs * _SLOWEST_CYCLES_PER_MAC / max(report.board.clock_hz, 1)
    return open_device(wanted, port, run_timeout_s=_LEAST_TIMEOUT_S + slowest_s)


def run_samples(
    client: FirmwareClient,
    inputs: Sequence[Array],
    bits: int | None,
    length: int | None,
    progress: Progress | None,
    every: int = 0,
) -> list[Array]:
    """Run firmware on samples [N, ...] of each input; the outputs, [N, elements] each.

    Samples of a model with a state are a new stream, or one for each `every` of them.
    """
    client.reset()
    if bits is not None:
        client.set_activation_bits(bits)
    if length is not None:
        client.set_length(length)
    count = len(inputs[0])
    runs: list[tuple[Array, ...]] = []
    for index in range(count):
        if every and index and index % every == 0:
            client.reset()
        runs.append(client.run([array[index] for array in inputs]).outputs)
        if progress is not None:
            progress(index + 1, count)
    return [np.stack(arrays) for arrays in zip(*runs, strict=True)]


def check_host(folder: Path, report: Report) -> None:
    """Refuse C that this computer cannot run.

    Raises:
        ConfigError: it needs instructions of another processor.
    """
    if not runs_natively(report.board):
        raise ConfigError(
            "was compiled for NEON, which this computer does not have",
            where=str(folder),
            hint="run it with --on emulator",
        )


def check_app(folder: Path, report: Report) -> None:
    """Refuse firmware whose main program does not speak the protocol of edgec.

    Raises:
        ConfigError: it was compiled with --app.
    """
    if report.app is not App.CONSOLE:
        raise ConfigError(
            f"holds firmware compiled with --app {report.app.value}, which edgec cannot ask to run",
            where=str(folder),
            hint="--on host runs its C; for the other commands compile without --app",
        )


def firmware_program(folder: Path, report: Report) -> Path:
    """The firmware in a build folder, which speaks the protocol of edgec.

    Raises:
        ConfigError: it was compiled with --no-build, or with another main program.
    """
    check_app(folder, report)
    path = folder / FirmwareFiles.ELF
    if not path.is_file():
        raise ConfigError(
            "holds no firmware", where=str(folder), hint="compile it again without --no-build"
        )
    return path
