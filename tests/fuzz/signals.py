"""Signals at random times in real compilations, and SIGKILL at each rename of the installation.

Whatever the time: the command ends soon, in one line and with the right exit code; nothing that it
started runs on; the earlier result is as it was, or the new one is complete; the next command
works and leaves nothing of the one that was killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from edgec.base.resources import data_dir
from edgec.base.swap import MANIFEST

from .campaign import Campaign, Case, Outcome
from .family import descendants, end_descendants

_MODEL = data_dir("examples") / "digits_mlp.onnx"
_CALIBRATION = data_dir("examples") / "digits_calibration.npz"
_DATA = data_dir("examples") / "digits_test.npz"
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ENDS_WITHIN_S = 30.0
_LONGEST_S = {"host": 6.0, "nucleo": 12.0}
_STARTED = """
import sys
from edgec.__main__ import main
open({ready!r}, "w").close()
main()
"""
_KILLED = """
import os, signal
from pathlib import Path
import edgec.base.output_dir as output_dir
install, rename, count = output_dir._install, Path.rename, 0
def counted(self, other):
    global count
    count += 1
    if count == {number} and {before}:
        os.kill(os.getpid(), signal.SIGKILL)
    found = rename(self, other)
    if count == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
def installing(*words, **options):
    Path.rename = counted
    install(*words, **options)
output_dir._install = installing
"""
_RENAMES = 16
"""More than an installation has, so that some cases reach its end."""


def prepare(folder: Path) -> None:
    """A result that later commands replace."""
    done = _edgec(folder, *_compile("host", folder / "out"))
    _, err = done.communicate()
    assert done.returncode == 0, err


def run(case: Case) -> Outcome:
    """One compilation that is ended, and what is left of it."""
    chosen = case.random()
    out = case.folder / "out"
    if chosen.random() < 0.7:
        shutil.copytree(case.shared / "out", out)
    try:
        if chosen.random() < 0.4:
            return _killed_at_rename(case, chosen, out)
        return _ended_at_random(case, chosen, out)
    finally:
        for name in ("out", "tmp"):  # what a finding needs is its text
            shutil.rmtree(case.folder / name, ignore_errors=True)


def _ended_at_random(case: Case, chosen: random.Random, out: Path) -> Outcome:
    board = chosen.choice(("host", "nucleo"))
    before = content(out)
    number = chosen.choice((*_ENDING, *_ENDING, signal.SIGKILL))
    process = _edgec(case.folder, *_compile(board, out))
    _wait_until_ready(case.folder, process)
    # Half of them early: while packages load.
    delay = chosen.choice((chosen.uniform(0, 0.8), chosen.uniform(0, _LONGEST_S[board])))
    time.sleep(delay)
    sent = [number]
    process.send_signal(number)
    if number != signal.SIGKILL and chosen.random() < 0.3:
        time.sleep(chosen.uniform(0, 0.5))
        sent.append(chosen.choice(_ENDING))
        process.send_signal(sent[-1])
    try:
        text, err = process.communicate(timeout=_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        return Outcome("hangs", f"{sent} after {delay:.3f} s: still runs {_ENDS_WITHIN_S} s later")
    what = f"{[each.name for each in sent]} after {delay:.3f} s, {board}"
    if number == signal.SIGKILL:
        # Nobody can clean up then: the next command has to.
        end_descendants(os.getpid())
        return _followed(case, out, what)
    wrong = _wrong_end(process.returncode, text, err, sent)
    left = descendants(os.getpid())
    if left:
        wrong = f"still running: {sorted(left.values())}"
    if process.returncode == 0:
        wrong = wrong or _incomplete(out)
    elif content(out) != before:
        wrong = wrong or f"the folder has changed: {sorted(content(out).keys() ^ before.keys())}"
    wrong = wrong or _leftovers(case, out)
    kind = "finished before" if process.returncode == 0 else f"exit code {process.returncode}"
    return Outcome(kind, f"{what}: {wrong}\n{err}" if wrong else "")


def _wrong_end(code: int, out: str, err: str, sent: list[signal.Signals]) -> str:
    if any(word in err for word in ("Traceback", "Exception ignored", "bug of edgec")):
        return f"exit code {code}, and a traceback"
    if code == 0:
        return ""
    if code not in [128 + number for number in sent]:
        return f"exit code {code}"
    last = err.strip().splitlines()[-1:]
    said = last and last[0].endswith("; earlier results are as they were")
    return "" if said and not out else f"last words {last}, output {out[:200]!r}"


def _killed_at_rename(case: Case, chosen: random.Random, out: Path) -> Outcome:
    number, before = chosen.randint(1, _RENAMES), chosen.random() < 0.5
    hook = _KILLED.format(number=number, before=before)
    earlier = content(out)
    process = _edgec(case.folder, *_compile("host", out), hook=hook)
    _, err = process.communicate()
    what = f"killed {'before' if before else 'after'} rename {number}"
    if process.returncode not in (0, -signal.SIGKILL):
        return Outcome("failed", f"{what}: exit code {process.returncode}\n{err}")
    if earlier and process.returncode and chosen.random() < 0.5:
        # A command that only reads recovers, too.
        reader = _edgec(case.folder, "run", str(out), "--input", str(_DATA))
        _, err = reader.communicate()
        if reader.returncode or _incomplete(out):
            return Outcome("not read", f"{what}: exit code {reader.returncode}\n{err}")
    return _followed(case, out, what)


def _followed(case: Case, out: Path, what: str) -> Outcome:
    """The next compilation works and leaves nothing of the one that was killed."""
    process = _edgec(case.folder, *_compile("host", out))
    _, err = process.communicate()
    wrong = f"exit code {process.returncode}" if process.returncode else _incomplete(out)
    wrong = wrong or _leftovers(case, out)
    return Outcome(
        "killed, then repeated", f"{what}: the next command: {wrong}\n{err}" if wrong else ""
    )


def _compile(board: str, out: Path) -> tuple[str, ...]:
    options = ("--calibration", str(_CALIBRATION), "--out", str(out))
    build = ("--no-build",) if board == "host" else ()
    return ("compile", str(_MODEL), "--board", board, *options, *build)


def _edgec(folder: Path, *words: str, hook: str = "") -> subprocess.Popen[str]:
    """The command line, with temporary files of its own."""
    (folder / "tmp").mkdir(exist_ok=True)
    script = hook + _STARTED.format(ready=str(folder / "ready"))
    return subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
    )


def _wait_until_ready(folder: Path, process: subprocess.Popen[str]) -> None:
    """Wait until Python itself has started: what happens before is not ours to decide."""
    while not (folder / "ready").exists() and process.poll() is None:
        time.sleep(0.001)


def content(folder: Path) -> dict[str, str]:
    """Every file below a folder with its digest; nothing if there is no folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _incomplete(out: Path) -> str:
    """What a result lacks by its own manifest."""
    if not (out / MANIFEST).is_file():
        return f"no {MANIFEST}"
    listed = json.loads((out / MANIFEST).read_text("utf-8"))["files"]
    found = content(out)
    # The manifest leaves out itself, and what PlatformIO may change.
    found = {name: found[name] for name in found if name != MANIFEST and "/.pio/" not in name}
    return "" if found == listed else f"not as listed: {sorted(found.items() ^ listed.items())[:5]}"


def _leftovers(case: Case, out: Path) -> str:
    left = [*(case.folder / "tmp").iterdir(), *(out.glob(".*") if out.exists() else ())]
    return f"left: {[str(path.relative_to(case.folder)) for path in left]}" if left else ""


CAMPAIGN = Campaign(
    "signals and SIGKILL in real compilations",
    run,
    nightly=1000,
    prepare=prepare,
    seconds=240,
    memory_bytes=1 << 40,
)
