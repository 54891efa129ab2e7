"""`python -m tests.fuzz CAMPAIGN --cases N --seed S`; exit code 1 if there are findings."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from .campaigns import MODULES, load
from .harness import KEEP, Run, run_campaign


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description="Try hostile input; keep what fails as small files; exit 1 if anything does.",
    )
    parser.add_argument("campaign", choices=sorted(MODULES))
    parser.add_argument("--cases", type=int, help="how many (default: those of a night)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, help="cases at a time (default: one a processor)")
    parser.add_argument("--keep", type=Path, default=KEEP, help="where findings are kept")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run a campaign; the exit code."""
    given = _parser().parse_args(arguments)
    os.environ["EDGEC_CACHE_LIMIT"] = "0"  # each case compiles, and nobody's cache is touched
    campaign = load(given.campaign)
    cases = campaign.nightly if given.cases is None else given.cases
    run = Run(given.campaign, cases, given.seed, given.first, given.jobs, given.keep)
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    summary = run_campaign(campaign, run)
    print(summary)
    return 1 if summary.findings else 0


if __name__ == "__main__":
    sys.exit(main())
