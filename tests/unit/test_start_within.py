"""Runs of the tests that have a limit of time."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("processes", "seconds", "outcome"),
    [((), "0", "1 skipped"), (("-n", "1"), "0", "1 skipped"), (("-n", "1"), "600", "1 passed")],
)
def test_what_starts_too_late_is_skipped(processes, seconds, outcome):
    test = "tests/unit/test_few_cases.py::test_few_of_fewer_are_all"
    argv = [sys.executable, "-m", "pytest", "-q", *processes, "--start-within", seconds, test]
    done = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True)
    assert outcome in done.stdout
    assert ("no time left: --start-within" in done.stdout) is (seconds == "0")
