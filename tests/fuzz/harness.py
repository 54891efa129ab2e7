"""Runs the cases of a campaign, some at a time, keeps the findings and sums up."""

from __future__ import annotations

import collections
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .campaign import Campaign, Case, Outcome
from .findings import keep
from .process import CaseProcess

KEEP = Path("build/fuzz")
_POLL_S = 0.005
_PROGRESS_S = 30.0
_SHOWN_CHARACTERS = 300


@dataclass
class Summary:
    """What a run of a campaign gave.

    Attributes:
        units: units that were tried.
        kinds: how often each kind of outcome came.
        findings: folders of the findings.
        seconds: how long the run took.
    """

    units: int = 0
    kinds: collections.Counter[str] = field(default_factory=collections.Counter)
    findings: list[Path] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        lines = [f"{self.units:,} cases in {self.seconds:.0f} s, {len(self.findings)} findings"]
        lines += [f"{count:>9,}  {kind}" for kind, count in self.kinds.most_common()]
        lines += [f"finding: {folder}" for folder in self.findings]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Run:
    """What the command line asks for.

    Attributes:
        name: the campaign's name.
        cases: units to try.
        seed: the seed of all cases.
        first: number of the first case.
        jobs: most cases at a time; None: the campaign decides.
        keep: folder that findings are kept in.
    """

    name: str
    cases: int
    seed: int
    first: int = 0
    jobs: int | None = None
    keep: Path = KEEP


def run_campaign(campaign: Campaign, asked: Run) -> Summary:
    """Run cases `asked.first` and on; each finding is printed when it comes."""
    summary = Summary()
    start = time.monotonic()
    jobs = asked.jobs or campaign.jobs or os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="edgec-fuzz-") as name:
        shared = Path(name) / "shared"
        shared.mkdir()
        if campaign.prepare is not None:
            campaign.prepare(shared)
        said = time.monotonic()
        for case, outcome in _outcomes(campaign, _cases(campaign, asked, Path(name)), jobs):
            _take(summary, asked, case, outcome)
            shutil.rmtree(case.folder, ignore_errors=True)
            if time.monotonic() - said > _PROGRESS_S:
                said = time.monotonic()
                print(f"... {summary.units:,} of {asked.cases:,}", flush=True)
    summary.seconds = time.monotonic() - start
    return summary


def _cases(campaign: Campaign, asked: Run, root: Path) -> Iterator[Case]:
    number, left = asked.first, asked.cases
    while left > 0:
        units = min(left, campaign.units_per_case)
        folder = root / str(number)
        folder.mkdir()
        yield Case(asked.seed, number, units, folder, root / "shared")
        number, left = number + 1, left - units


def _outcomes(
    campaign: Campaign, cases: Iterator[Case], jobs: int
) -> Iterator[tuple[Case, Outcome]]:
    running: list[CaseProcess] = []
    try:
        while True:
            while len(running) < jobs and (case := next(cases, None)) is not None:
                running.append(CaseProcess(campaign, case))
            if not running:
                return
            for process in list(running):
                outcome = process.poll()
                if outcome is not None:
                    running.remove(process)
                    yield process.case, outcome
            time.sleep(_POLL_S)
    finally:
        for process in running:
            process.end()


def _take(summary: Summary, asked: Run, case: Case, outcome: Outcome) -> None:
    summary.units += case.units
    summary.kinds[outcome.kind] += 1
    if outcome.finding:
        folder = keep(asked.keep, asked.name, case, outcome)
        summary.findings.append(folder)
        shown = outcome.finding.strip()[-_SHOWN_CHARACTERS:]
        print(f"case {case.number}: {outcome.kind}: {shown}\n  kept: {folder}", flush=True)
