"""Accuracy against cycles of a build whose activations can be narrowed while it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import ConfigError
from edgec.base.samples import Samples
from edgec.profile.run import profile
from edgec.report.model import Report
from edgec.workflow.evaluation import evaluate_widths
from edgec.workflow.session import Progress, firmware_program

_FLAT = 0.02
"""Cycles that differ by less are alike."""


@dataclass(frozen=True, slots=True)
class WidthPoint:
    """One width.

    Attributes:
        bits: most bits of an activation that layers with pooled weights see.
        accuracy: share of samples whose argmax is the label.
        agreement: share of samples whose argmax equals the float model's.
        cycles: cycles of one inference, estimated as by `edgec profile`; None: see `TradeOff.note`.
        time_ms: the same at the board's clock.
    """

    bits: int
    accuracy: float
    agreement: float
    cycles: int | None
    time_ms: float | None


@dataclass(frozen=True, slots=True)
class TradeOff:
    """A build at several widths.

    Attributes:
        model: its name, untrusted.
        board: the board's name in words.
        on: what ran the samples: "host" or "emulator".
        n: number of samples.
        float_accuracy: accuracy of the model that was compiled, in real arithmetic.
        points: in the order in which widths were asked for.
        note: why there are no cycles, or why they are all alike; empty otherwise.
    """

    model: str
    board: str
    on: str
    n: int
    float_accuracy: float
    points: tuple[WidthPoint, ...]
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return dataclasses.asdict(self)


def parse_widths(text: str) -> tuple[int, ...]:
    """Widths like ``8,6,4``.

    Raises:
        ConfigError: not of that form.
    """
    parts = text.split(",")
    if not all(part.strip() in list("12345678") for part in parts):
        raise ConfigError(
            f"cannot read the widths {text[:60]!r}", where="--bits", hint="like --bits 8,6,4,3,2"
        )
    return tuple(dict.fromkeys(int(part) for part in parts))


def trade_off(
    folder: Path | str,
    data: Samples,
    widths: Sequence[int],
    on: str = "host",
    limit: int | None = None,
    progress: Progress | None = None,
    port: str | None = None,
) -> TradeOff:
    """Evaluate and profile a build at several widths of activations.

    Args:
        folder: build folder of a classifier, compiled with run-time widths.
        data: inputs and labels on disk; the first sample is the one profiled.
        widths: 1 to 8 each.
        on: "host", "emulator" or "device": what runs the samples.
        limit: use only this many samples, from the start.
        progress: told (samples done, samples), all widths taken together.
        port: serial port of the device; None: found by itself.

    Raises:
        ConfigError: fixed widths, or data that do not fit.
        SimulationError: the model or its firmware could not be run.
    """
    folder = Path(folder)
    results = evaluate_widths(folder, data, widths, on, limit, progress, port)
    report = Report.read(folder)
    note = _why_no_cycles(folder, report)
    points = []
    for bits, result in zip(widths, results, strict=True):
        found = None if note else profile(folder, data, bits=bits)
        points.append(
            WidthPoint(
                bits=bits,
                accuracy=result.accuracy,
                agreement=result.agreement,
                cycles=found.total_cycles if found else None,
                time_ms=found.time_ms if found else None,
            )
        )
    first = results[0]
    return TradeOff(
        report.model,
        report.board.title,
        on,
        first.n,
        first.float_accuracy,
        tuple(points),
        note or _why_flat(points),
    )


def _why_flat(points: Sequence[WidthPoint]) -> str:
    cycles = [point.cycles for point in points if point.cycles is not None]
    if len(cycles) < 2 or max(cycles) > (1 + _FLAT) * min(cycles):
        return ""
    return (
        "cycles hardly depend on the width: the kernels that are fastest when it can be changed "
        "multiply; a build for one width (compile --activation-bits) may be faster"
    )


def _why_no_cycles(folder: Path, report: Report) -> str:
    if report.board.is_hosted:
        return f"no cycles: there is no cycle model for {report.board.title}"
    try:
        firmware_program(folder, report)
    except ConfigError as error:
        return f"no cycles: it {error.what}"
    return ""
