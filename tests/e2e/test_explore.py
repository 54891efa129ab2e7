"""`edgec explore` on the digits: trials are real builds, and what it says can be built again."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from explore_trials import synthetic_task
from places import REPOSITORY

from edgec.base.toml_file import read_toml
from edgec.cli.app import run_app
from edgec.profile import count_instructions
from edgec.report.model import Report

pytest.importorskip("optuna", reason="the search engine, edgec[explore], is not installed")

EXAMPLES = REPOSITORY / "examples"
MLP, DATA = EXAMPLES / "digits_mlp.onnx", EXAMPLES / "digits_calibration.npz"
VALUES = "precision=default/int16 pool=default/64 observer=default effort=fast optimize=default"
FEW = [word for each in VALUES.split() for word in ("--vary", each)]
FEW += ["--vary", "rows=default/never", "--vary", "placement=default"]
ON_LINUX = ("explore", str(MLP), "--board", "raspberry_pi_3", "--calibration", str(DATA))
SEARCH = ("explore", str(MLP), "--board", "nucleo", "--calibration", str(DATA), *FEW)


def test_a_search_its_page_and_its_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    words = [*SEARCH, "--trials", "4", "--workers", "2", "--out", "found", "--json"]
    select = ["--select", "drop<=2 smallest flash", "--test", str(EXAMPLES / "digits_test.npz")]
    assert run_app([*words, *select]) == 0
    found = json.loads(capsys.readouterr().out)
    trials = {each["number"]: each for each in found["trials"]}
    assert set(trials) == set(range(4))
    assert "trials: 50 other samples, by the float model's decisions" in found["samples"]
    assert {each["refused"] for each in trials.values()} == {""}
    assert found["chosen"]["test"]["n"] == 540
    assert found["chosen"]["float_share"] == pytest.approx(0.97778, abs=1e-4)
    page = Path("found/explore.html").read_text("utf-8")
    assert "edgec compile" in page
    # The chosen build, by its file and by its command, is the one that was measured.
    chosen = trials[found["chosen"]["number"]]
    assert run_app(["compile", "--project", "found", "--no-verify", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["memory"]["flash_bytes"] == chosen["figures"]["flash"]
    for number, command in enumerate(chosen["commands"]):
        last = number == len(chosen["commands"]) - 1
        end = ["--no-verify", "--json"] if last else ["--json"]
        assert run_app([*shlex.split(command)[1:], *end]) == 0
        again = json.loads(capsys.readouterr().out)
    assert again["memory"]["flash_bytes"] == chosen["figures"]["flash"]
    # The same command has nothing left to do; another seed is another study.
    assert run_app(words) == 0
    assert json.loads(capsys.readouterr().out)["trials"] == found["trials"]
    assert run_app([*words, "--seed", "7"]) == 2
    assert "holds another study: its options" in capsys.readouterr().out
    worker = ["explore", "--worker", "--storage", "found/study.journal"]
    assert run_app(worker) == 0
    assert "4 finished trials" in capsys.readouterr().out


@pytest.mark.slow
def test_boards_with_linux_are_compared_by_instructions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    for program in ("aarch64-linux-gnu-gcc", "qemu-aarch64"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    monkeypatch.chdir(tmp_path)
    few = ["effort=fast", "observer=default", "precision=default/int16", "pool=default/64"]
    words = [*ON_LINUX, *(word for each in few for word in ("--vary", each)), "--fit", "mi=0.1"]
    words += ["--trials", "3", "--workers", "2", "--out", "found"]
    assert run_app([*words, "--select", "mi<=0.01 smallest weights", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {tuple(each["figures"]) for each in found["trials"]} == {
        ("drop", "mi", "weights", "arena")
    }
    chosen = next(t for t in found["trials"] if t["number"] == found["chosen"]["number"])
    assert 0.0005 < chosen["figures"]["mi"] <= 0.01
    # The chosen build, made again, has the figures that were measured.
    assert run_app(["compile", "--project", "found", "--no-verify", "--out", "again"]) == 0
    assert count_instructions("again").total.instructions / 1e6 == chosen["figures"]["mi"]
    memory = Report.read(Path("again")).memory
    assert (memory.weight_bytes, memory.arena_bytes) == (
        chosen["figures"]["weights"],
        chosen["figures"]["arena"],
    )
    assert "millions of instructions" in Path("found/explore.html").read_text("utf-8")
    capsys.readouterr()
    assert run_app(words) == 0  # nothing is left to do
    assert "M instr." in capsys.readouterr().out


@pytest.mark.slow
def test_the_benchmark_compares_fronts_of_both_kinds_of_boards():
    boards = ("raspberry_pi_3", "nucleo_f446re")
    few = ("precision=default/int16", "effort=fast", "observer=default", "pool=default")
    few += ("rows=default", "optimize=default/size", "placement=default")
    words = [sys.executable, str(REPOSITORY / "benchmarks" / "explore.py"), "fronts"]
    words += ["--networks", "digits_resnet", "--trials", "3", "--vary", *few, "--boards", *boards]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split(":")[0] for line in heads] == [f"digits_resnet on {b}" for b in boards]
    for head, unit in zip(heads, (" M instr.", " ms"), strict=True):
        assert "3 trials in" in head
        assert "0 refused" in head
        volumes = [float(each) for each in re.findall(r" (0\.[0-9]{3})", head)]
        assert len(volumes) == 4
        usual, one, all_single, found = volumes
        assert usual <= one <= all_single
        assert usual <= found
        assert unit in done.stdout.split(head)[1].split("digits_resnet on")[0]


@pytest.mark.slow
def test_a_trial_with_limits_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("highspy", reason="the solver HiGHS is not installed")
    monkeypatch.chdir(tmp_path)
    words = [*SEARCH[:6], "--vary", "fit=ms=1", "--trials", "1", "--workers", "1", "--json"]
    assert run_app([*words, "--out", "found"]) == 0
    (trial,) = json.loads(capsys.readouterr().out)["trials"]
    assert trial["figures"]["ms"] <= 1.0
    # What the trial found is built; nothing is searched a second time.
    with monkeypatch.context() as patch:
        patch.setattr("edgec.explore.trial.Search", None)
        assert run_app([*words, "--out", "found", "--select", "smallest flash"]) == 0
    assert json.loads(capsys.readouterr().out)["trials"] == [trial]
    # The project has what was found, the command searches again.
    keys = read_toml(Path("found/edgec.toml"), "project file", "")
    assert "fit" not in keys
    assert keys["precision"] == "auto"
    assert keys["int16"]
    assert run_app(["compile", "--project", "found", "--no-verify", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["memory"]["flash_bytes"] == trial["figures"]["flash"]
    (command,) = trial["commands"]
    assert "--fit ms=1" in command
    assert run_app([*shlex.split(command)[1:], "--no-verify", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["memory"]["flash_bytes"] == trial["figures"]["flash"]


def test_limits_need_the_solver_and_leave_the_choice_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    words = [*SEARCH[:6], "--vary", "fit=ms=2", "--trials", "1", "--workers", "1"]
    assert run_app([*words, "--vary", "precision=int16"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "none of 1 trials could be built: --precision does not go with --fit" in said
    monkeypatch.setitem(sys.modules, "highspy", None)
    assert run_app(words) == 2
    assert "the solver HiGHS is not installed" in capsys.readouterr().err


@pytest.mark.slow
def test_labels_judge_where_there_are_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with np.load(EXAMPLES / "digits_test.npz") as data:
        np.savez("labelled.npz", **{name: data[name][:100] for name in data.files})
    words = [*SEARCH, "--data", "labelled.npz", "--trials", "2", "--workers", "1", "--json"]
    assert run_app(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["labelled"]
    assert found["float_share"] < 1.0
    assert "100 other samples, by their labels" in found["samples"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["explore"], "a search needs them"),
        ([*SEARCH, "--fit", "flash=64K,db=30"], "'db' is no limit of a search"),
        ([*SEARCH, "--fit", "size=3"], "'size' is no limit"),
        ([*SEARCH, "--select", "best"], "cannot read 'best'"),
        ([*SEARCH, "--test", str(DATA)], "only a chosen build is judged on it"),
        ([*SEARCH, "--vary", "rows=2"], "'rows' is given twice"),
        ([*SEARCH, "--vary", "fit=size=3"], "'size' is no limit"),
        ([*SEARCH, "--storage", "nonsense://x"], "cannot be opened"),
        ([*SEARCH[:2], "--board", "host", *SEARCH[4:]], "has no figures that could be compared"),
        ([*SEARCH, "--fit", "mi=3"], "a search for microcontrollers has no mi"),
        ([*SEARCH, "--select", "mi<=3 smallest ram"], "give ms (milliseconds)"),
        ([*SEARCH, "--board", "raspberry_pi_3"], "nucleo_f446re is compared by time, and rasp"),
        ([*ON_LINUX, "--fit", "ms=3"], "give mi (millions of instructions)"),
        ([*ON_LINUX, "--select", "smallest ram"], "give arena (bytes of the arena)"),
        ([*ON_LINUX, "--vary", "fit=default/ms=2"], "fit=ms=2 is nothing for boards with Linux"),
        ([*ON_LINUX, "--vary", "placement=sram"], "the system loads all of a program into RAM"),
        (["explore", "--worker", "--storage", "none.journal"], "there is no such storage"),
        (["explore", "--worker"], "needs the storage of a study"),
    ],
)
def test_bad_input(
    words: list[str],
    what: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    assert run_app(words) == 2
    assert what in " ".join(capsys.readouterr().err.split())


def test_the_engines_are_an_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert run_app([*SEARCH]) == 2
    assert "pip install 'edgec[explore]'" in capsys.readouterr().err


def test_limits_that_nothing_meets_and_a_worker_of_another_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    from edgec.explore.storage import open_storage

    monkeypatch.chdir(tmp_path)
    words = [*SEARCH, "--out", "o", "--trials", "1", "--workers", "1", "--fit", "flash=1K"]
    assert run_app(words) == 11
    said = " ".join(capsys.readouterr().err.split())
    assert "none of 1 trials is within flash<=1024; the nearest one, trial 0, has flash=" in said
    storage = open_storage("o/study.journal")
    study = storage.get_all_studies()[0]
    identity = {**study.user_attrs["edgec:identity"], "version of edgec": "0.0.1 abc"}
    storage.set_study_user_attr(study._study_id, "edgec:identity", identity)
    assert run_app(["explore", "--worker", "--storage", "o/study.journal"]) == 2
    assert "was made with edgec 0.0.1 abc; this is" in capsys.readouterr().err


def test_trials_share_the_pool_that_one_of_them_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from edgec.explore import trial

    made = []
    compress = trial.compress_models

    def counted(jobs, options):
        made.append(options.pool.size)
        return compress(jobs, options)

    monkeypatch.setattr(trial, "compress_models", counted)
    monkeypatch.setenv("EDGEC_CACHE_LIMIT", "100M")
    monkeypatch.setenv("EDGEC_CACHE_DIR", str(tmp_path / "cache"))
    task = replace(synthetic_task({}), models={"net": str(MLP)}, calibration=str(DATA))
    files = []
    for pool in ("32+decode", "64", "32", "64+decode"):
        place = tmp_path / pool
        place.mkdir()
        files.append(trial.model_of(task, {"model": "net", "pool": pool}, place).read_bytes())
    assert made == [32, 64]
    assert files[0] == files[2]
    assert files[1] == files[3]
    assert files[0] != files[1]
