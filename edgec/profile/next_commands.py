"""The commands to go on with after a build, for its page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgec.base.options import App
from edgec.report.model import Report
from edgec.workflow.session import places_of


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command, quoted for the shell, and what it does."""

    command: str
    purpose: str


def next_commands(
    folder: Path, report: Report, labelled: Sequence[str] = (), *, has_cycles: bool
) -> tuple[NextCommand, ...]:
    """What to do with a build.

    Args:
        folder: build folder.
        report: its report.
        labelled: words that name samples with labels, after an option like --data; empty: none are
            known.
        has_cycles: its firmware can be profiled.

    Raises:
        ConfigError: the folder holds no build.
    """
    found = []
    answers = report.app is App.CONSOLE  # another program does not take these commands
    for place in places_of(folder)[-1:] if answers else ():
        on = ("--on", place)
        data, inputs = labelled or ["LABELLED.npz"], labelled or ["SAMPLES.npz"]
        found += [
            _command("evaluate", folder, "--data", *data, *on, purpose="accuracy"),
            _command("validate", folder, *on, purpose="every layer beside the reference"),
            _command("run", folder, "--input", *inputs, *on, purpose="outputs of samples"),
        ]
    if has_cycles:
        purpose = "where the time goes, function by function"
        found.append(_command("profile", folder, "--html", "profile.html", purpose=purpose))
    if report.board.upload.tools and report.memory.flash_bytes is not None:
        found.append(_command("flash", folder, purpose="onto the board that is plugged in"))
    export = ("--as", "cmake", "-o", f"{folder}-cmake")
    found.append(_command("export", folder, *export, purpose="the library for your own project"))
    return tuple(found)


def _command(name: str, folder: Path, *words: str, purpose: str) -> NextCommand:
    return NextCommand(shlex.join(["edgec", name, str(folder), *words]), purpose)
