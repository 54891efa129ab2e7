"""What a board measured: the log of the firmware's `bench` command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from edgec.errors import ConfigError
from edgec.profile.types import Profile
from edgec.report import LayerReport

_MAX_BYTES = 16 << 20
# Anchored at the end only: a terminal may put its own time stamps in front.
_STEP = re.compile(r"\bstep=([0-9]{1,6}) bytes=([0-9]{1,10}) cycles=([0-9]{1,10})\s*$")
_DIGEST = re.compile(r"\bdigest=([0-9a-f]{16})\s*$")
_HINT = "see docs/simulator.md: write the input, then `bench`, and save what the terminal shows"


@dataclass(frozen=True, slots=True)
class Measurement:
    """Cycles that a board counted.

    Attributes:
        cycles: of each step; the median when the log holds several runs.
        runs: complete runs in the log.
    """

    cycles: tuple[int, ...]
    runs: int


def read_measurement(path: Path, layers: Sequence[LayerReport], digest: str) -> Measurement:
    """Find the runs of `bench` in a terminal's log.

    Args:
        path: text with the firmware's replies among anything else.
        layers: of the build, for the number and size of the steps.
        digest: of the program; checked when the log holds the reply to `info`.

    Raises:
        ConfigError: not readable, no complete run, or of another model.
    """
    lines = _lines(path)
    _check_digest(lines, digest, path)
    runs: list[list[int]] = []
    for line in lines:
        found = _STEP.search(line)
        if found is None:
            continue
        step, size, cycles = (int(number) for number in found.groups())
        if step == 0:
            runs.append([])
        _check_step(step, size, layers, path)
        if runs and len(runs[-1]) == step:
            runs[-1].append(cycles)
    complete = [run for run in runs if len(run) == len(layers)]
    if not complete:
        raise ConfigError(
            f"holds no complete run of `bench` with {len(layers)} steps",
            where=str(path),
            hint=_HINT,
        )
    medians = tuple(sorted(column)[len(complete) // 2] for column in zip(*complete, strict=True))
    return Measurement(medians, len(complete))


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


def _check_digest(lines: Sequence[str], digest: str, path: Path) -> None:
    for line in lines:
        found = _DIGEST.search(line)
        if found is not None and found[1] != digest[:16]:
            raise ConfigError(
                f"was measured on another model (digest {found[1]}, not {digest[:16]})",
                where=str(path),
                hint="flash this build: edgec flash DIR",
            )


def _check_step(step: int, size: int, layers: Sequence[LayerReport], path: Path) -> None:
    if step >= len(layers) or size != layers[step].output_bytes:
        reason = f"step {step} with {size} bytes is not a step of this model"
        raise ConfigError(reason, where=str(path), hint=_HINT)
