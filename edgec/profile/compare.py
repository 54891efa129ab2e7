"""Builds side by side: what each takes, how long it runs, how right it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import ConfigError
from edgec.profile.instructions import count_instructions
from edgec.profile.run import profile
from edgec.report.model import Report
from edgec.timing.types import MemoryMode
from edgec.workflow.evaluation import last_evaluation
from edgec.workflow.session import firmware_program


@dataclass(frozen=True, slots=True)
class BuildFigures:
    """Figures of one build folder; None: not known.

    Attributes:
        folder: the folder, as given.
        state_bytes: what the model keeps from run to run.
        cycles, time_ms: cycles and time of one inference, as `edgec profile` estimates them.
        instructions: the instructions that one inference executes.
        accuracy: what the last `edgec evaluate` on this folder found.
        accuracy_samples: how many samples that was; 0 without an accuracy.
        notes: why something is not known.
    """

    folder: Path
    model: str
    board: str
    flash_bytes: int | None
    ram_bytes: int | None
    arena_bytes: int
    state_bytes: int
    cycles: int | None
    ideal_cycles: int | None
    time_ms: float | None
    instructions: int | None
    accuracy: float | None
    accuracy_samples: int
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {**dataclasses.asdict(self), "folder": str(self.folder)}


def compare(
    folders: Sequence[Path], memory: MemoryMode | str = MemoryMode.FLASH
) -> tuple[BuildFigures, ...]:
    """Figures of each build folder, in order.

    Raises:
        ConfigError: a folder holds no build.
        SimulationError: a firmware could not be run.
    """
    return tuple(_figures(folder, memory) for folder in folders)


def _figures(folder: Path, memory: MemoryMode | str) -> BuildFigures:
    report = Report.read(folder)
    notes = []
    found = None
    instructions = None
    if not _has_firmware(folder, report):
        notes.append("no cycles: it holds no firmware for a board")
    elif report.board.linux is not None:
        instructions = count_instructions(folder).total.instructions
        notes.append(f"no cycles: there is no model of the {report.board.core.value}")
    else:
        found = profile(folder, memory=memory)
        instructions = found.total.instructions
    evaluation = last_evaluation(folder, report)
    if evaluation is None:
        notes.append("accuracy is not known: run edgec evaluate on it")
    return BuildFigures(
        folder=folder,
        model=report.model,
        board=report.board.name,
        flash_bytes=report.memory.flash_bytes,
        ram_bytes=report.memory.ram_bytes,
        arena_bytes=report.memory.arena_bytes,
        state_bytes=report.memory.state_bytes,
        cycles=found.total_cycles if found else None,
        ideal_cycles=found.ideal_cycles if found else None,
        time_ms=found.time_ms if found else None,
        instructions=instructions,
        accuracy=evaluation.accuracy if evaluation else None,
        accuracy_samples=evaluation.n if evaluation else 0,
        notes=tuple(notes),
    )


def _has_firmware(folder: Path, report: Report) -> bool:
    if report.board.is_host:
        return False
    try:
        firmware_program(folder, report)
    except ConfigError:
        return False
    return True
