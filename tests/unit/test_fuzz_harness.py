"""The harness of the campaigns: limits, findings, repetition."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tflite_fields import damaged_fields, fields_of
from tflite_networks import int8_network

from tests.fuzz import __main__ as command
from tests.fuzz.campaign import Campaign, Case, Outcome
from tests.fuzz.campaigns import MODULES, load
from tests.fuzz.harness import Run, Summary, run_campaign
from tests.fuzz.networks import _decibels


def tried(run, folder: Path, cases: int = 1, **options) -> Summary:
    campaign = Campaign("a test", run, nightly=1, **options)
    return run_campaign(campaign, Run("test", cases, seed=7, keep=folder / "kept"))


def wrong(case: Case) -> Outcome:
    (case.folder / "input.bin").write_bytes(b"bad")
    (case.folder / "large.bin").write_bytes(bytes(1 << 20))
    sys.stdout.write("seen on the way\n")
    return Outcome("broken", "it broke")


def test_a_finding_is_kept_with_its_files_and_the_command_to_repeat_it(tmp_path: Path):
    summary = tried(wrong, tmp_path)
    assert [path.name for path in summary.findings] == ["test-7-0"]
    folder = summary.findings[0]
    assert sorted(path.name for path in folder.iterdir()) == [
        "finding.txt",
        "input.bin",
        "output.txt",
    ]
    text = (folder / "finding.txt").read_text()
    assert text.startswith("it broke\n")
    assert "python -m tests.fuzz test --seed 7 --first 0 --cases 1" in text
    assert "large.bin" in text
    assert (folder / "output.txt").read_text() == "seen on the way\n"


def test_cases_depend_on_seed_and_number_alone(tmp_path: Path):
    def draw(case: Case) -> Outcome:
        return Outcome(str(case.random().random()))

    first, second = (tried(draw, tmp_path, cases=5).kinds for _ in range(2))
    assert first == second
    assert len(first) == 5


def test_units_are_shared_among_processes(tmp_path: Path):
    summary = tried(lambda case: Outcome(str(case.units)), tmp_path, cases=25, units_per_case=10)
    assert summary.units == 25
    assert summary.kinds == {"10": 2, "5": 1}
    assert not summary.findings


def test_prepared_files_are_there(tmp_path: Path):
    def prepare(folder: Path) -> None:
        (folder / "model").write_text("a model")

    def read(case: Case) -> Outcome:
        return Outcome((case.shared / "model").read_text())

    assert tried(read, tmp_path, prepare=prepare).kinds == {"a model": 1}


def raises(_case: Case) -> Outcome:
    raise KeyError("nobody expected this")


def dies(_case: Case) -> Outcome:
    os.kill(os.getpid(), signal.SIGKILL)
    return Outcome("alive")


def leaves(_case: Case) -> Outcome:
    os._exit(3)


def eats(_case: Case) -> Outcome:
    return Outcome(str(len(bytearray(4 << 30))))


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (raises, "nobody expected this"),
        (dies, "SIGKILL"),
        (leaves, "exit code 3 and no outcome"),
        (eats, "MemoryError"),
    ],
)
def test_what_ends_a_process_is_a_finding(tmp_path: Path, run, text: str):
    (folder,) = tried(run, tmp_path, memory_bytes=2 << 30).findings
    assert text in (folder / "finding.txt").read_text()


def test_a_case_that_hangs_ends_with_all_that_it_started(tmp_path: Path):
    note = tmp_path / "pid"

    def hang(_case: Case) -> Outcome:
        sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
        child = subprocess.Popen(sleep, start_new_session=True)
        note.write_text(str(child.pid))
        time.sleep(60)
        return Outcome("woke")

    (folder,) = tried(hang, tmp_path, seconds=1).findings
    assert "not finished within 1 s" in (folder / "finding.txt").read_text()
    stat = Path(f"/proc/{note.read_text()}/stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_the_command_fails_if_there_are_findings(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setitem(MODULES, "test", "test")
    for run, code in ((wrong, 1), (lambda case: Outcome("well"), 0)):
        monkeypatch.setattr(command, "load", lambda _, run=run: Campaign("a test", run, nightly=3))
        assert command.main(["test", "--keep", str(tmp_path)]) == code
        assert "3 cases in" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_campaign_loads(name: str):
    assert load(name).nightly > 0


def test_outputs_that_are_zero_and_in_small_units_are_judged():
    zero, one = np.zeros((2, 3)), np.full((2, 3), 1e-20)
    assert _decibels(zero, zero) == math.inf
    assert _decibels(zero, one) == -math.inf
    assert _decibels(one, 1.1 * one) == pytest.approx(20.0)


def test_every_field_of_a_file_may_lie(tmp_path: Path):
    data = int8_network(tmp_path / "model.tflite").read_bytes()
    fields = fields_of(data)
    assert len({field.place for field in fields}) == len(fields) > 50
    found = [damaged_fields(random.Random(seed), data) for seed in range(40)]
    assert sum(each != data for each in found) > 30
