"""A synthetic objective for searches: found again in other processes, and as quick as one wants."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from edgec.explore.figures import KINDS, MICROCONTROLLERS
from edgec.explore.space import Setting
from edgec.explore.task import Task
from edgec.explore.trial import Measured, Outcome

SPACE = {
    "model": ("net",),
    "board": ("nucleo_f446re",),
    "precision": tuple("01234567"),
    "pool": tuple("01234567"),
    "rows": tuple("01234567"),
    "effort": tuple("01234567"),
}


def measured(*values: float | None, kind: str = MICROCONTROLLERS) -> Measured:
    """Figures in the order of their kind; those that are left out are not known."""
    keys = [each.key for each in KINDS[kind].all]
    return dict(zip(keys, (*values, *[None] * (len(keys) - len(values))), strict=True))


def synthetic(task: Task, setting: Setting) -> Outcome:
    """Figures by a formula; `task.note` may hold a pause in seconds and a log of starts."""
    notes = json.loads(task.note)
    if "log" in notes:
        with Path(notes["log"]).open("a") as log:
            log.write(f"{os.getpid()}\n")
    time.sleep(notes.get("pause", 0.0))
    a, b, c, d = (float(setting[k]) for k in ("precision", "pool", "rows", "effort"))
    if a == b == 7.0:
        return Outcome(None, "two sevens")
    figures = (7 - a) ** 2 / 7 + c, 1.0 + a + d, 1e4 + 100 * b + a, 4e3 - 10 * b * c
    return Outcome(measured(*figures))


def synthetic_task(
    notes: dict[str, object], seed: int = 1, limits: str = "", kind: str = MICROCONTROLLERS
) -> Task:
    """A task without files, for `synthetic`."""
    return Task(
        models={},
        calibration=__file__,
        data=__file__,
        normalize=None,
        data_normalize=None,
        float_share=1.0,
        labelled=True,
        space=SPACE,
        kind=kind,
        limits=limits,
        seed=seed,
        shapes={},
        state=(),
        values={},
        note=json.dumps(notes),
    )
