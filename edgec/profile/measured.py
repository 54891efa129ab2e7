"""Cycles measured on a board: the firmware's `bench` command, run by us or found in a log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.samples import Samples
from edgec.profile.inputs import profile_input
from edgec.profile.types import Profile
from edgec.report.model import COLLECTS, LayerReport, Report
from edgec.workflow.session import build_on_device
from edgec.workflow.traced import cycles_by_step

_MAX_BYTES = 16 << 20
# Anchored at the end only: a terminal may put its own time stamps in front.
_STEP = re.compile(r"\bstep=([0-9]{1,6}) bytes=([0-9]{1,10}) cycles=([0-9]{1,10})\s*$")
_DIGEST = re.compile(r"\bdigest=([0-9a-f]{16})\s*$")
_WINDOWS_PORT = re.compile(r"COM[0-9]{1,3}")
_BOARD_RUNS = 3
_HINT = "see docs/simulator.md: write the input, then `bench`, and save what the terminal shows"


@dataclass(frozen=True, slots=True)
class Measurement:
    """Cycles that a board counted.

    Attributes:
        cycles: cycles of each step; the median when the log holds several runs.
        runs: complete runs in the log.
    """

    cycles: tuple[int, ...]
    runs: int


def measurement_of(
    source: Path | str | None,
    folder: Path,
    report: Report,
    samples: Samples | None,
    length: int | None = None,
) -> Measurement:
    """Read cycles from a board's log, or measure them on the board itself.

    Args:
        source: a terminal's log, or the serial port of a board; a text is always a port or its URL,
            None the port of the one board that is plugged in.
        folder: the build folder of the firmware.
        report: report of the build that runs there.
        samples: on disk, the first of which the board runs; None: noise, as for the estimate.
        length: tokens of the run; None: those of `samples`, or the longest run.

    Raises:
        ConfigError, SimulationError: see `read_measurement` and `measure_on_board`.
    """
    given = profile_input(report, samples, length)
    if given.length is not None:
        report = report.at_length(given.length)
    if not isinstance(source, Path) or is_port(source):
        port = None if source is None else str(source)
        arrays, length = given.arrays, given.length
        return measure_on_board(port, folder, report, arrays, length, given.earlier)
    return read_measurement(source, report.layers, report.digest, report.calls)


def read_measurement(
    path: Path, layers: Sequence[LayerReport], digest: str, calls: Sequence[int] | None = None
) -> Measurement:
    """Find the runs of `bench` in a terminal's log.

    Args:
        path: text with the firmware's replies among anything else.
        layers: layers of the build, for the number and size of the steps.
        digest: digest of the program; checked when the log holds the reply to `info`.
        calls: the number of the step of each call of a run; None: each step is called once.

    Raises:
        ConfigError: not readable, no complete run, or of another model.
    """
    lines = _lines(path)
    _check_digest(lines, digest, path)
    wanted = tuple(range(len(layers))) if calls is None else tuple(calls)
    runs: list[list[int]] = []
    for line in lines:
        found = _STEP.search(line)
        if found is None:
            continue
        step, size, cycles = (int(number) for number in found.groups())
        _check_step(step, size, layers, path)
        at = len(runs[-1]) if runs else len(wanted)
        if at < len(wanted) and wanted[at] == step:
            runs[-1].append(cycles)
        elif step == 0:
            runs.append([cycles])
    complete = [_by_step(run, wanted) for run in runs if len(run) == len(wanted)]
    if not complete:
        raise ConfigError(
            f"holds no complete run of `bench` with {len(layers)} steps",
            where=str(path),
            hint=_HINT,
        )
    return _medians(complete)


def _by_step(cycles: Sequence[int], calls: Sequence[int]) -> list[int]:
    """Cycles of each step, those of all its turns together."""
    found = dict.fromkeys(sorted(set(calls)), 0)
    for step, each in zip(calls, cycles, strict=True):
        found[step] += each
    return list(found.values())


def is_port(path: Path) -> bool:
    """Whether this is a serial port rather than a file."""
    return path.is_char_device() or _WINDOWS_PORT.fullmatch(str(path)) is not None


def measure_on_board(
    port: str | None,
    folder: Path,
    report: Report,
    inputs: Sequence[Array],
    length: int | None = None,
    earlier: Sequence[Sequence[Array]] = (),
) -> Measurement:
    """Run `bench` on the board that is plugged in.

    Args:
        port: its serial port; None: that of the one board that is plugged in.
        folder: the build folder that was flashed.
        report: report of the build that was flashed.
        inputs: int8, one array per model input.
        length: tokens of the run, which the inputs have; None: the longest.
        earlier: inputs of runs before it, which are not counted.

    Raises:
        ConfigError: the board runs another model.
        SimulationError: no board, no answer, or a fault; see `sim.device`.
    """
    runs: list[tuple[int, ...]] = []
    with build_on_device(folder, report, port) as client:
        if length is not None:
            client.set_length(length)
        for _ in range(_BOARD_RUNS):
            client.reset()
            for each in earlier:
                client.run(each)
            runs.append(cycles_by_step(client.bench(inputs).steps))
    return _medians(runs)


def with_measurement(found: Profile, measurement: Measurement) -> Profile:
    """The profile with what a board measured beside the estimate."""
    layers = tuple(
        replace(layer, measured_cycles=cycles)
        for layer, cycles in zip(found.layers, measurement.cycles, strict=True)
    )
    return replace(found, layers=layers, measured_cycles=sum(measurement.cycles))


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError("the log is larger than 16 MB", where=str(path))
        return path.read_text("utf-8", errors="replace").splitlines()
    except OSError as error:
        reason = f"cannot read the log: {error.strerror or error}"
        raise ConfigError(reason, where=str(path)) from error


def _medians(runs: Sequence[Sequence[int]]) -> Measurement:
    middle = len(runs) // 2
    return Measurement(tuple(sorted(each)[middle] for each in zip(*runs, strict=True)), len(runs))


def _check_digest(lines: Sequence[str], digest: str, path: Path) -> None:
    for line in lines:
        found = _DIGEST.search(line)
        if found is not None:
            _check_same(found[1], digest, str(path))


def _check_same(measured: str, digest: str, where: str) -> None:
    if measured != digest[:16]:
        raise ConfigError(
            f"was measured on another model (digest {measured}, not {digest[:16]})",
            where=where,
            hint="flash this build: edgec flash DIR",
        )


def _check_step(step: int, size: int, layers: Sequence[LayerReport], path: Path) -> None:
    known = step < len(layers)
    if not known or not _writes(layers[step], size):
        reason = f"step {step} with {size} bytes is not a step of this model"
        raise ConfigError(reason, where=str(path), hint=_HINT)


def _writes(layer: LayerReport, size: int) -> bool:
    """Whether a call of a layer may report this size; that of one of several outputs is smaller.

    The collector of the values of turns has nothing to show before the last one.
    """
    if size == layer.output_bytes or (layer.op == COLLECTS and not size):
        return True
    return bool(layer.more) and 0 < size < layer.output_bytes
