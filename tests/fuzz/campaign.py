"""What a campaign is: how one case is made and run, and within which limits."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Prepare = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Case:
    """One case; the same seed and number make the same case, whatever ran before it.

    Attributes:
        seed: the seed of the campaign.
        number: which case of the campaign it is.
        units: how many units, such as lines of a protocol, the case is to try.
        folder: an empty folder for the files of the case, kept as they are if it fails.
        shared: the folder that the campaign's `prepare` wrote into; not to be written to.
    """

    seed: int
    number: int
    units: int
    folder: Path
    shared: Path

    def random(self) -> random.Random:
        """A generator that depends on the seed and the number alone."""
        return random.Random(f"{self.seed}/{self.number}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a case ended.

    Attributes:
        kind: a few words that the summary counts, such as "refused" or "compiled".
        finding: what was wrong; empty if all was well.
    """

    kind: str
    finding: str = ""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A way to make and judge cases.

    Attributes:
        summary: one line for the list of campaigns.
        run: makes and tries one case, in a process of its own; what it raises is a finding.
        nightly: units of a run at night.
        prepare: called once before all cases, in the process from which each case is forked, with
            a folder for files that cases share.  Slow imports belong here.
        units_per_case: units that one process tries.
        seconds: a case that takes longer is a finding.
        memory_bytes: address space of the process of a case and of each process that it starts.
        jobs: most cases at a time; None: as many as there are processors.
    """

    summary: str
    run: Callable[[Case], Outcome]
    nightly: int
    prepare: Prepare | None = None
    units_per_case: int = 1
    seconds: float = 60.0
    memory_bytes: int = 8 << 30
    jobs: int | None = None
