"""A build's model that stays open from run to run, on any target: what is heard and watched."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.work_folder import temporary_folder
from edgec.report.model import Report
from edgec.sim.emulator import EmulatedFirmware
from edgec.sim.host_process import HostProcess, host_process
from edgec.sim.protocol import FirmwareClient
from edgec.workflow.session import (
    LIBRARY_DIR,
    TARGETS,
    Progress,
    build_on_device,
    check_host,
    firmware_program,
)


class Live(Protocol):
    """A model, and the state that it has after the runs so far."""

    def run(self, inputs: Sequence[Array], progress: Progress | None = None) -> list[Array]:
        """Outputs [N, elements] of the next runs; inputs are codes [N, ...], one array an input.

        Raises:
            SimulationError: a run failed.
        """

    def reset(self) -> None:
        """Begin anew: the state is what it was at first."""

    def take_cycles(self) -> int | None:
        """Cycles of the runs since the last call; None where the target counts none."""


class _OnHost:
    """The C library in a process of this computer."""

    def __init__(self, model: HostProcess) -> None:
        self._stream = model.stream()

    def run(self, inputs: Sequence[Array], progress: Progress | None = None) -> list[Array]:
        return self._stream.run(inputs, progress)

    def reset(self) -> None:
        self._stream.reset()

    def take_cycles(self) -> int | None:
        return None


class _Firmware:
    """Firmware, one request after the other; an emulator's count of cycles means nothing."""

    def __init__(self, client: FirmwareClient, *, counts: bool) -> None:
        self._client = client
        self._counts = counts
        self._cycles = 0

    def run(self, inputs: Sequence[Array], progress: Progress | None = None) -> list[Array]:
        count = len(inputs[0])
        found = []
        for number in range(count):
            done = self._client.run([array[number] for array in inputs])
            self._cycles += done.cycles or 0
            found.append(done.outputs)
            if progress is not None:
                progress(number + 1, count)
        return [np.stack(arrays) for arrays in zip(*found, strict=True)]

    def reset(self) -> None:
        self._client.reset()

    def take_cycles(self) -> int | None:
        cycles, self._cycles = self._cycles, 0
        return cycles if self._counts and cycles else None


@contextlib.contextmanager
def live_model(
    folder: Path,
    report: Report,
    on: str,
    port: str | None = None,
    *,
    length: int | None = None,
    keep: int | None = None,
) -> Iterator[Live]:
    """The model of a build folder at the begin of a stream, on "host", "emulator" or "device".

    Args:
        folder: build folder.
        report: its report.
        on: what runs it.
        port: serial port of the device; None: found by itself.
        length: tokens of each run, of a model of variable length; None: the longest.
        keep: repeat at most this many runs of a stream after noise on a line: as many as its state
            depends on; None: all.

    Raises:
        ConfigError: an unknown target, or one that cannot run the build.
        SimulationError: the firmware does not answer.
    """
    if on not in TARGETS:
        raise ConfigError(f"cannot run on {on!r}", hint=f"--on takes {' or '.join(TARGETS)}")
    with contextlib.ExitStack() as stack:
        if on == "host":
            check_host(folder, report)
            where = stack.enter_context(temporary_folder())
            model = stack.enter_context(host_process(folder / LIBRARY_DIR, where))
            if length is not None:
                model.set_length(length)
            yield _OnHost(model)
            return
        if on == "emulator":
            elf = firmware_program(folder, report)
            client = stack.enter_context(EmulatedFirmware(elf, report.board)).client
        else:
            client = stack.enter_context(build_on_device(folder, report, port))
        client.reset()
        if length is not None:
            client.set_length(length)
        if keep is not None:
            client.keep(keep)
        yield _Firmware(client, counts=on == "device")
