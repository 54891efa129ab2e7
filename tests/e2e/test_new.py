"""`edgec new`: the project compiles at once, its readme and its file for CI say what is true."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from bad_input_support import check_one_message, edgec, snapshot
from documents import commands

from edgec.base.resources import data_dir

ROOT = Path(__file__).resolve().parents[2]
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_tour_of_the_documents(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    tour = commands(ROOT / "docs" / "projects.md")
    assert [words[1] for words in tour] == ["new", "digits", "compile", "check", "check"]
    for words in tour:
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            continue
        done = edgec(capsys, *words[1:])
        assert done.code == 0, done.err
    assert (Path("build") / "digits_resnet-nucleo_f446re" / "firmware.elf").is_file()
    figures = json.loads(Path("edgec.lock.json").read_text())["figures"]
    assert figures["accuracy"] > 0.99


def test_files_of_a_project(capsys: Capsys) -> None:
    done = edgec(capsys, "new", "a/b", "--board", "pico", "--json")
    found = json.loads(done.out)
    project = Path("a/b")
    assert found["folder"] == "a/b"
    inside = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert inside == set(found["files"])
    assert [path.name for path in Path("a").iterdir()] == ["b"]  # no work folder is left
    assert 'board = "pico"\n' in (project / "edgec.toml").read_text()
    readme = (project / "README.md").read_text()
    written_later = {"edgec.lock.json"}
    named = set(re.findall(r"`([\w./-]+\.[a-z]+)`", readme)) - written_later
    assert named <= inside
    for words in commands(project / "README.md"):
        assert words[0] == "edgec"
        assert edgec(capsys, words[1], "--help").code == 0
    assert "build/" in (project / ".gitignore").read_text().splitlines()


def test_the_next_command_works(capsys: Capsys) -> None:
    done = edgec(capsys, "new", "my net", "--board", "host")
    (line,) = re.findall(r"^next: (.*)$", done.out, re.M)
    done = edgec(capsys, *shlex.split(line)[1:], "--no-build", "--no-verify")
    assert done.code == 0, done.err
    assert Path("my net/build/digits_resnet-host/report.json").is_file()


def test_an_empty_folder_will_do(capsys: Capsys, tmp_path: Path) -> None:
    done = edgec(capsys, "new", ".")
    assert done.code == 0
    assert "next: edgec compile\n" in done.out
    assert (tmp_path / "edgec.toml").is_file()
    assert not (tmp_path / ".edgec-work").exists()


def test_a_board_file_is_named_from_the_project(capsys: Capsys, tmp_path: Path) -> None:
    board = tmp_path / "mine.toml"
    board.write_text((data_dir("boards") / "microbit.toml").read_text())
    assert edgec(capsys, "new", "x", "--board", "mine.toml").code == 0
    assert 'board = "../mine.toml"\n' in Path("x/edgec.toml").read_text()
    done = edgec(capsys, "compile", "--project", "x", "--no-build", "--no-verify")
    assert done.code == 0, done.err


def test_what_is_refused(capsys: Capsys, tmp_path: Path) -> None:
    full, file = tmp_path / "full", tmp_path / "file"
    full.mkdir()
    (full / "mine").write_text("keep")
    file.write_text("keep")
    before = snapshot(full)
    check_one_message(edgec(capsys, "new", "full"), "full", "is not empty", code=2)
    check_one_message(edgec(capsys, "new", "file"), "file", "is a file", code=2)
    check_one_message(edgec(capsys, "new", "file/below"), "file", code=2)
    done = edgec(capsys, "new", "y", "--board", "nucleus")
    check_one_message(done, "did you mean nucleo", code=2)
    assert snapshot(full) == before


@pytest.mark.parametrize("name", ["ci/action.yml", "examples/project/workflow.yml"])
def test_files_for_ci_are_yaml(name: str) -> None:
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load((ROOT / name).read_text("utf-8"))
    steps = found["runs"]["steps"] if "runs" in found else found["jobs"]["check"]["steps"]
    runs = [step["run"] for step in steps if "run" in step]
    assert len(runs) == 1
    assert "check.sh" in runs[0]
    for variable in re.findall(r"\$\{\{ inputs\.(\w+) \}\}", json.dumps(steps)):
        assert variable in found["inputs"]


def test_the_script_for_ci_is_a_posix_script() -> None:
    script = ROOT / "ci" / "check.sh"
    done = subprocess.run(["sh", "-n", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    used = set(re.findall(r"\b(EDGEC\w*)\b", script.read_text()))
    action = (ROOT / "ci" / "action.yml").read_text()
    assert used == set(re.findall(r"\b(EDGEC\w*):", action))
