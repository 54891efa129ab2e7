"""Every step of a compiled model on one sample: on the host, in the emulator, on the board."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from edgec.base.calls import Call
from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.work_folder import temporary_folder
from edgec.report.model import Report
from edgec.sim.emulator import EmulatedFirmware
from edgec.sim.host import runs_natively
from edgec.sim.host_process import HostProcess, host_process
from edgec.sim.link import RequestError
from edgec.sim.protocol import FirmwareClient
from edgec.sim.replies import FirmwareStep
from edgec.workflow.session import LIBRARY_DIR, TARGETS, build_on_device, firmware_program


@dataclass(frozen=True, slots=True)
class TracedStep:
    """The output tensor of a call of a step.

    Attributes:
        size_bytes: its size.
        crc: CRC-32 (zlib's) of its bytes.
        data: its bytes; None where firmware said only the CRC (`Tracer.dump` asks for more).
    """

    size_bytes: int
    crc: int
    data: bytes | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TracedSample:
    """One inference.

    Attributes:
        steps: the calls of steps, in order of execution.
        outputs: one flat array of codes per model output.
    """

    steps: tuple[TracedStep, ...]
    outputs: tuple[Array, ...]


class Tracer(Protocol):
    """Runs samples and says what each step gave; of a model with a state, the steps of a stream."""

    def trace(self, inputs: Sequence[Array]) -> TracedSample:
        """One inference on one array of codes per model input, in the model's order."""

    def reset(self) -> None:
        """Begin a new stream."""

    def dump(self, inputs: Sequence[Array], call: Call) -> bytes | None:
        """The bytes that a call of a step wrote in the last inference, which was on these inputs.

        None where the target cannot say.
        """

    def cycles(self, inputs: Sequence[Array]) -> tuple[int, ...] | None:
        """Cycles of each step of one inference, of a new stream, all its turns together.

        None where they mean nothing.
        """


@contextlib.contextmanager
def open_tracer(
    folder: Path, report: Report, on: str, port: str | None = None, length: int | None = None
) -> Iterator[Tracer]:
    """Open the model of a build folder for runs step by step, until the block is left.

    Args:
        folder: build folder.
        report: its report.
        on: "host", "emulator" or "device".
        port: serial port of the device; None: found by itself.
        length: tokens of the runs, of a model of variable length.

    Raises:
        ConfigError: unknown target, or one that cannot run this build.
        SimulationError: it does not start.
    """
    if on == "host":
        if not runs_natively(report.board):
            raise ConfigError(
                "was compiled for NEON, which this computer does not have",
                where=str(folder),
                hint="--on emulator",
            )
        library = folder / LIBRARY_DIR
        with temporary_folder() as build_dir, host_process(library, build_dir) as model:
            if length is not None:
                model.set_length(length)
            yield _Host(model)
    elif on == "emulator":
        with EmulatedFirmware(firmware_program(folder, report), report.board) as firmware:
            yield _firmware(firmware.client, length, counts=False)
    elif on == "device":
        with build_on_device(folder, report, port) as client:
            yield _firmware(client, length, counts=True)
    else:
        raise ConfigError(f"cannot run on {on!r}", hint=f"--on takes {' or '.join(TARGETS)}")


class _Host:
    """The generated library, compiled for this computer."""

    def __init__(self, model: HostProcess) -> None:
        self._stream = model.stream()

    def trace(self, inputs: Sequence[Array]) -> TracedSample:
        steps = tuple(
            TracedStep(len(data), zlib.crc32(data), data) for data in self._stream.trace(inputs)
        )
        return TracedSample(steps, tuple(each.reshape(-1) for each in self._stream.outputs))

    def reset(self) -> None:
        self._stream.reset()

    def dump(self, inputs: Sequence[Array], call: Call) -> bytes | None:  # noqa: ARG002
        return None  # the trace has all bytes

    def cycles(self, inputs: Sequence[Array]) -> tuple[int, ...] | None:  # noqa: ARG002
        return None  # this computer's say nothing about the board


class _Firmware:
    """Firmware, emulated or on the board."""

    def __init__(self, client: FirmwareClient, *, counts: bool) -> None:
        self._client = client
        self._counts = counts
        self._last: tuple[FirmwareStep, ...] = ()
        client.reset()

    def trace(self, inputs: Sequence[Array]) -> TracedSample:
        run = self._client.trace(inputs)
        self._last = run.steps
        steps = tuple(TracedStep(step.size_bytes, step.crc or 0) for step in run.steps)
        return TracedSample(steps, run.outputs)

    def reset(self) -> None:
        self._client.reset()

    def dump(self, inputs: Sequence[Array], call: Call) -> bytes | None:
        try:
            data = self._client.dump(inputs, call.step)
        except RequestError:  # firmware of an earlier edgec does not know the request
            return None
        sizes = [each.size_bytes for each in self._last if each.number == call.step]
        start = sum(sizes[: call.number])
        return data[start:][: sizes[call.number]] if sizes else data

    def cycles(self, inputs: Sequence[Array]) -> tuple[int, ...] | None:
        if not self._counts:
            return None
        self._client.reset()
        found = cycles_by_step(self._client.bench(inputs).steps)
        return found if any(found) else None  # QEMU's models of chips have no counter


def cycles_by_step(calls: Sequence[FirmwareStep]) -> tuple[int, ...]:
    """Cycles of each step of a benchmark, those of all its turns together."""
    found = dict.fromkeys(sorted({call.number for call in calls}), 0)
    for call in calls:
        found[call.number] += call.cycles or 0
    return tuple(found.values())


def _firmware(client: FirmwareClient, length: int | None, *, counts: bool) -> _Firmware:
    if length is not None:
        client.set_length(length)
    return _Firmware(client, counts=counts)
