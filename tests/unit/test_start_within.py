"""Runs of the tests that have a limit of time."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from turns import begin_elsewhere

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


def test_a_run_that_may_not_end_begins_with_another_file_each_day():
    paths = [Path(name) for name in "abcdefgh" for _ in range(3)]
    firsts = []
    for day in range(20_000, 20_004):
        items = [SimpleNamespace(path=path) for path in paths]
        begin_elsewhere(items, day)
        found = [item.path for item in items]
        assert sorted(found) == paths
        assert all(len(set(found[at : at + 3])) == 1 for at in range(0, 24, 3)), "files stay whole"
        firsts.append(found[0])
    assert len(set(firsts)) == 4
