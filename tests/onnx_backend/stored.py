"""The stored verdicts of all node tests, from which `docs/operators.md` is made."""

from __future__ import annotations

import csv
from pathlib import Path

from verdict import Verdict

_FILE = Path(__file__).with_name("verdicts.csv")


def stored() -> dict[str, Verdict]:
    """The verdict of every node test, by name."""
    with _FILE.open(newline="", encoding="utf-8") as file:
        return {name: Verdict(kind, text) for name, kind, text in csv.reader(file)}


def store(verdicts: dict[str, Verdict]) -> None:
    """Write the verdicts anew, sorted by name."""
    with _FILE.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerows((name, v.kind, v.text) for name, v in sorted(verdicts.items()))
