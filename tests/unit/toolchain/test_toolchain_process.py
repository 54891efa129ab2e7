"""Child processes: output, time limits, nothing left running."""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from edgec.base.errors import BuildError
from edgec.toolchain import process

# Starts a child of its own that would live on, tells its number, then waits.
FAMILY = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open(sys.argv[1], "w").write(str(child.pid))
time.sleep(60 if len(sys.argv) > 2 else 0)
"""


def is_running(pid: int) -> bool:
    """Running, and not just waiting to be collected."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


def test_output_and_status_are_captured() -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = process.run([sys.executable, "-c", code], timeout_s=20)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_arguments_meet_no_shell(tmp_path: Path) -> None:
    word = "$(touch x) `touch y`; touch z | & > w"
    code = "import sys; print(sys.argv[1])"
    done = process.run([sys.executable, "-c", code, word], timeout_s=20, cwd=tmp_path)
    assert done.stdout == word + "\n"
    assert not list(tmp_path.iterdir())


def test_bytes_that_are_no_text_do_not_hurt() -> None:
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)))"
    assert len(process.run([sys.executable, "-c", code], timeout_s=20).stdout) >= 128


def test_environment_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFLAGS", "-DX")
    monkeypatch.setenv("PLATFORMIO_BUILD_FLAGS", "-DX")
    code = "import os; print(sorted(os.environ))"
    done = process.run([sys.executable, "-c", code], timeout_s=20)
    assert "FLAGS" not in done.stdout
    assert "PATH" in done.stdout
    assert process.clean_environment({"A": "b"})["A"] == "b"


def test_time_limit_ends_the_whole_family(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with pytest.raises(BuildError, match="did not finish within 1 s"):
        process.run([sys.executable, "-c", FAMILY, str(note), "wait"], timeout_s=1)
    assert is_gone(int(note.read_text()))


def test_children_that_outlive_the_program_are_ended(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with process.start([sys.executable, "-c", FAMILY, str(note)]) as child:
        child.wait(timeout=20)
    assert is_gone(int(note.read_text()))


@pytest.mark.usefixtures("terminal_signals")
def test_interrupt_ends_the_whole_family(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def interrupt() -> None:
        while not (note.exists() and note.read_text()):
            time.sleep(0.02)
        # To the thread that waits: a signal to the process may go to this one, and wake nobody.
        # Again after a while, as a person would: a busy computer can swallow one at the start.
        signal.pthread_kill(waiting, signal.SIGINT)
        while not ended.wait(5):
            signal.pthread_kill(waiting, signal.SIGINT)

    waiting = threading.get_ident()
    ended = threading.Event()
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        process.run([sys.executable, "-c", FAMILY, str(note), "wait"], timeout_s=30)
    ended.set()
    assert is_gone(int(note.read_text()))


def test_missing_program_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cannot start no-such-program"):
        process.run(["no-such-program"], timeout_s=5)
    with pytest.raises(BuildError, match="cannot start"):
        process.run([sys.executable], timeout_s=5, cwd=tmp_path / "absent")
    with pytest.raises(BuildError, match="cannot start"):
        process.run([sys.executable, "nul\0byte"], timeout_s=5)
    assert process.which("no-such-program") is None
