"""Signals that end a command: what it started ends with it, and nothing is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP, Done, edgec_process, snapshot

pytestmark = pytest.mark.usefixtures("terminal_signals")
ENDINGS = [
    (signal.SIGINT, 130, "interrupted"),
    (signal.SIGTERM, 143, "ended by SIGTERM"),
    (signal.SIGHUP, 129, "ended by SIGHUP"),
]
HANGING = """#!/bin/sh
case "$*" in *-version*|*-dumpmachine*) exec {real} "$@";; esac
echo $$ >> {note}
sleep 300
"""


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Compilers that hang come first on PATH; the file that they write their numbers to."""
    folder = tmp_path / "bin"
    folder.mkdir()
    note = tmp_path / "note"
    for name in ("gcc", "clang", "arm-none-eabi-gcc"):
        found = subprocess.run(
            ["sh", "-c", f"command -v {name}"], capture_output=True, text=True, check=False
        )
        if found.returncode == 0:
            script = folder / name
            script.write_text(HANGING.format(real=found.stdout.strip(), note=note))
            script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    yield note
    for pid in hanging(note):
        os.kill(pid, signal.SIGKILL)


def hanging(note: Path) -> list[int]:
    """Compilers that have been started and still run."""
    if not note.exists():
        return []
    stats = {int(word): Path(f"/proc/{word}/stat") for word in note.read_text().split()}
    return [
        pid
        for pid, stat in stats.items()
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
    ]


def with_mark(mark: Path) -> list[str]:
    """Command lines of the processes that run and mention a path."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(mark) in words and line.parent.name != str(os.getpid()):
            found.append(words)
    return found


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [ENDINGS[1], *(pytest.param(*ending, marks=pytest.mark.slow) for ending in ENDINGS[::2])],
)
@pytest.mark.parametrize(
    "options", [("--board", "nucleo"), ("--board", "host", "--no-build")], ids=["project", "host"]
)
def test_a_compiler_that_hangs_ends_with_us(
    earlier: Path, note: Path, options: tuple[str, ...], number: signal.Signals, code: int, words
) -> None:
    before = snapshot(earlier)
    process = edgec_process(
        "compile", MLP, *options, "--calibration", CALIBRATION, "--out", earlier
    )
    deadline = time.monotonic() + 120
    while not hanging(note) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert hanging(note), process.communicate()
    process.send_signal(number)
    sent = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - sent < 10
    assert (process.returncode, out) == (code, "")
    assert err.splitlines()[-1] == f"{words}; earlier results are as they were"
    assert "Traceback" not in err
    assert hanging(note) == []
    assert with_mark(earlier) == []
    assert snapshot(earlier) == before


AT_IMPORT = """
    import os, signal, sys
    class Watch:
        def find_spec(self, name, path=None, target=None):
            if name == {name!r}:
                os.kill(os.getpid(), {number})
    sys.meta_path.insert(0, Watch())
"""


@pytest.mark.parametrize(("number", "code", "words"), ENDINGS)
@pytest.mark.parametrize("module", ["edgec.cli.app", "rich", "typer", "edgec.target.board"])
def test_a_signal_during_imports_shows_no_traceback(module, number, code, words) -> None:
    process = edgec_process("boards", before=AT_IMPORT.format(name=module, number=int(number)))
    out, err = process.communicate(timeout=60)
    assert Done(process.returncode, out, err) == Done(
        code, "", f"{words}; earlier results are as they were\n"
    )


def test_an_exception_that_a_library_swallows_comes_again() -> None:
    code = """
import os, signal, sys, time
from edgec.cli.errors import guarded
def command():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except BaseException:
        pass
    time.sleep(30)
sys.exit(guarded(command))
"""
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 143
    assert time.monotonic() - start < 15


def test_under_nohup_a_closed_terminal_does_not_matter() -> None:
    code = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from edgec.cli.errors import guarded
print(guarded(lambda: os.kill(os.getpid(), signal.SIGHUP)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("0\n", "")
