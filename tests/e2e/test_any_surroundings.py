"""Commands in odd surroundings: no home, narrow and plain terminals, readers that go away."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, INPUT_ERRORS, MLP, TEST_DATA, edgec
from screens import on_screen

from edgec.target.board import list_boards

FOLDER = "mein Ordner äöü 模型 'q'"
COMMANDS: Mapping[str, tuple[object, ...]] = {
    "boards": ("boards",),
    "boards show": ("boards", "show", "nucleo"),
    "cache": ("cache",),
    "inspect": ("inspect", MLP),
    "run": ("run", "b 1", "--input", TEST_DATA),
    "evaluate": ("evaluate", "b 1", "--data", TEST_DATA, "--limit", "9"),
    "validate": ("validate", "b 1"),
    "compare": ("compare", "b 1", "b 1"),
    "watch": ("watch", "b 1", "--on", "host", "--limit", "3", "--rate", "50"),
}
"""Commands that print, run in a folder with a build."""
WRITING: Mapping[str, tuple[object, ...]] = {
    "quantize": ("quantize", MLP, "--calibration", CALIBRATION, "-o", "new.onnx"),
    "export": ("export", "b 1", "--as", "arduino", "-o", "new"),
    "new": ("new", "new"),
    "evaluate": ("evaluate", "b 1", "--data", TEST_DATA, "--html", "new.html"),
    "run": ("run", "b 1", "--input", TEST_DATA, "-o", "new.npz"),
    "boards new": ("boards", "new", "mine", "--like", "nucleo", "-o", "new.toml"),
}
"""Commands that write `new...` there."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with blanks, quotes and letters of three scripts in its name, and a build in it."""
    folder = tmp_path_factory.mktemp("odd") / FOLDER
    folder.mkdir()
    options = ("--board", "host", "--calibration", CALIBRATION, "--out", "b 1")
    done = finished(folder, "compile", MLP, *options)
    assert done.returncode == 0, done.stderr
    return folder


def finished(
    folder: Path,
    *words: object,
    env: Mapping[str, str | None] | None = None,
    first: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    """A command in a folder; `env` changes its environment, None removes a variable."""
    wanted = {**os.environ, **(env or {})}
    return subprocess.run(
        [sys.executable, "-m", "edgec", *map(str, words)],
        cwd=folder,
        env={name: value for name, value in wanted.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=first,
    )


def errors(said: str) -> int:
    """Messages of edgec; those of a compiler are quoted, indented."""
    return sum(line.startswith("error: ") for line in said.splitlines())


def check_is_calm(done: subprocess.CompletedProcess[str]) -> None:
    """No traceback, and at most one error."""
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    assert "bug of edgec" not in done.stderr
    assert errors(done.stderr) <= 1, done.stderr


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("home", [None, "/nonexistent/home"])
@pytest.mark.parametrize("name", COMMANDS)
def test_without_a_home(place: Path, name: str, home: str | None) -> None:
    gone = dict.fromkeys(("XDG_CACHE_HOME", "XDG_STATE_HOME", "EDGEC_CACHE_DIR", "USER", "LOGNAME"))
    done = finished(place, *COMMANDS[name], env={**gone, "HOME": home})
    check_is_calm(done)
    assert done.returncode == 0, done.stderr


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("name", COMMANDS)
def test_forty_columns(place: Path, name: str) -> None:
    """A narrow terminal ends no command, and breaks no name of a board."""
    found = on_screen([str(word) for word in COMMANDS[name]], place, columns=40, rows=24)
    assert found.code == 0, found.text
    assert "Traceback" not in found.text
    assert max(map(len, found.lines)) <= 40
    if name == "boards":
        assert all(board.name in found.text for board in list_boards())


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["no_color", "dumb"])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_colour(place: Path, name: str, env: Mapping[str, str]) -> None:
    done = finished(place, *COMMANDS[name], env={**env, "FORCE_COLOR": None})
    check_is_calm(done)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"\x1b\[[0-9;]*m", done.stdout + done.stderr)


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("name", COMMANDS)
def test_readers_that_go_away(place: Path, name: str) -> None:
    """`edgec ... | head -1`, and a reader that was never there."""
    for keep in (1, 0):
        process = subprocess.Popen(
            [sys.executable, "-m", "edgec", *map(str, COMMANDS[name])],
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None and process.stderr is not None
        for _ in range(keep):
            process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(timeout=120) in (0, 1), said
        assert "Traceback" not in said and "error" not in said, said
        process.stderr.close()


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("name", WRITING)
def test_files_that_may_not_grow_leave_nothing(place: Path, name: str) -> None:
    """Like a full disk: no file may grow beyond 100 bytes."""
    before = sorted(place.rglob("*"))
    limit = 100
    done = finished(
        place,
        *WRITING[name],
        first=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    check_is_calm(done)
    assert done.returncode in INPUT_ERRORS, done
    assert errors(done.stderr) == 1, done.stderr
    assert [path for path in sorted(place.rglob("*")) if path not in before] == []


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("name", WRITING)
def test_folders_that_are_files(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """An output below something that is no folder is refused with one message."""
    monkeypatch.chdir(place)
    (place / "plain").write_text("a file")
    words = [
        "plain/" + str(w) if str(w).startswith("new") and i else w
        for i, w in enumerate(WRITING[name])
    ]
    done = edgec(capsys, *words)
    assert done.code in INPUT_ERRORS, done
    assert errors(done.err) == 1, done.err
    assert (place / "plain").read_text() == "a file"
