"""`edgec new`: the project compiles at once, its readme and its file for CI say what is true."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest
import serial
from bad_input_support import check_one_message, edgec, snapshot
from documents import commands
from serial_lines import qemu_socket

from edgec.base.resources import data_dir
from edgec.toolchain.cc import WARNING_FLAGS

ROOT = Path(__file__).resolve().parents[2]
Capsys = pytest.CaptureFixture[str]
UNKNOWN = "error: line is unknown, see help"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answers(url: str, lines: list[str]) -> list[str]:
    """What firmware at a serial line says to each of these lines, in one line."""
    with serial.serial_for_url(url, timeout=10) as port:
        while not (greeting := port.readline()).endswith(b"type help\r\n"):
            assert greeting, "the firmware does not greet"
        found = []
        for line in lines:
            port.write(f"{line}\r\n".encode())
            found.append(port.readline().decode().rstrip("\r\n"))
        return found


def strictly_compiled(project: Path, library: Path, main: Path) -> None:
    """The main program compiles without warnings, as edgec's own C does."""
    includes = [f"-I{project / name}" for name in ("include", "src/app")] + [f"-I{library}/include"]
    for compiler in (["gcc"], ["clang"], ["arm-none-eabi-gcc", "-mcpu=cortex-m4"]):
        if shutil.which(compiler[0]):
            words = [*compiler, "-std=c11", *WARNING_FLAGS, "-fsyntax-only", *includes, main]
            subprocess.run(words, check=True)


@pytest.mark.slow
def test_the_tour_of_the_documents(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EDGEC_CACHE_DIR", str(tmp_path / "cache"))  # it compiles once
    monkeypatch.setenv("EDGEC_CACHE_LIMIT", "1G")
    tour = commands(ROOT / "docs" / "projects.md")
    names = [words[1] for words in tour]
    assert names == ["new", "digits", "compile", "validate", "check", "check"]
    for words in tour:
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            continue
        done = edgec(capsys, *words[1:])
        assert done.code == 0, done.err
    build = Path("build") / "digits_resnet-nucleo_f446re"
    samples = np.load("digits_test.npz")
    sent = Path("samples.csv").read_text().splitlines()
    decided = ["one 12.323", "four 9.889", "five 8.824"]
    assert samples["y"][:3].tolist() == [1, 4, 5]
    wrong = "error: a sample has 64 numbers"
    with qemu_socket(build / "firmware.elf") as url:
        found = answers(url, [*sent, "1, 2", sent[0], "1 x", "8" * 40, "sample", sent[1]])
    assert found == [*decided, wrong, decided[0], wrong, wrong, UNKNOWN, decided[1]]
    strictly_compiled(build / "project", build / "library", Path("src/main.c"))
    figures = json.loads(Path("edgec.lock.json").read_text())["figures"]
    assert figures["accuracy"] > 0.99


@pytest.mark.parametrize(
    ("example", "build"), [("digits", "digits_resnet"), ("wakeword", "wakeword")]
)
def test_files_of_a_project(capsys: Capsys, example: str, build: str) -> None:
    done = edgec(capsys, "new", "a/b", "--board", "pico", "--example", example, "--json")
    found = json.loads(done.out)
    project = Path("a/b")
    assert found["folder"] == "a/b"
    inside = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert inside == set(found["files"])
    assert [path.name for path in Path("a").iterdir()] == ["b"]  # no work folder is left
    assert 'board = "pico"\n' in (project / "edgec.toml").read_text()
    readme = (project / "README.md").read_text()
    assert f"build/{build}-rpi_pico " in readme
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
    done = edgec(capsys, *shlex.split(line)[1:], "--no-verify", "--effort", "fast")
    assert done.code == 0, done.err
    build = Path("my net/build/digits_resnet-host")
    (line,) = re.findall(r"^next: (.*)$", done.out, re.M)
    data = ["--data", "my net/digits_test.npz"]
    assert shlex.split(line) == ["edgec", "evaluate", str(build), *data, "--on", "host"]
    # The program of a host reads standard input; requests and samples share the arena in turn.
    sample = Path("my net/samples.csv").read_text().splitlines()[2]
    sent = [
        "write 0 0 " + "7f" * 64,
        "run",
        sample,
        "read 0",
        "ping me",
        "*x",
        sample.replace(",", " "),
    ]
    text = "\n".join([*sent, ""])
    program = [build / "firmware.elf"]
    done = subprocess.run(program, input=text, capture_output=True, text=True, check=True)
    found = [
        line for line in done.stdout.splitlines() if not line.startswith(("ok", "cycles", "st"))
    ]
    assert found[1:] == [
        *("five 8.976", "error: run first", "ping=me", "error: line fails its checksum"),
        "five 8.976",
    ]


def test_nothing_is_calibrated_on_test_data(capsys: Capsys) -> None:
    assert edgec(capsys, "new", "x").code == 0
    table = tomllib.loads(Path("x/edgec.toml").read_text())
    calibration, test = (
        {sample.tobytes() for sample in np.load(Path("x") / name)["x"]}
        for name in (table["calibration"], table["check"]["data"])
    )
    assert calibration and test
    assert not calibration & test


def test_an_empty_folder_will_do(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
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
    done = edgec(capsys, "new", "y", "--example", "digit")
    check_one_message(done, "there is no example 'digit'", "digits, wakeword", code=2)
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
