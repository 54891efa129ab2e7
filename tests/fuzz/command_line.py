"""The command line inside the process of a case, and what it must not do."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Set
from pathlib import Path

INTERNAL = 70


def run_command(words: list[str]) -> tuple[int, str]:
    """Run `edgec`; its exit code, and what is wrong: a traceback, a bug of its own, no memory."""
    from edgec.cli.app import run_app

    os.environ["EDGEC_DEBUG"] = "1"
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_app(words)
    text = f"{out.getvalue()}\n{err.getvalue()}"
    print(text[-4000:], flush=True)
    if code == INTERNAL or "Traceback (most recent call last)" in text:
        return code, text[-6000:] or f"exit code {code}"
    if "out of memory" in text:
        return code, "out of memory"
    if code != 0 and not err.getvalue().strip() and not out.getvalue().strip():
        return code, f"exit code {code} without a message"
    return code, ""


def own_scratch(folder: Path) -> None:
    """Let temporary files of the case lie in `tmp` of its folder."""
    (folder / "tmp").mkdir()
    tempfile.tempdir = str(folder / "tmp")
    os.environ["TMPDIR"] = tempfile.tempdir


def left_behind(folder: Path, known: Set[str]) -> str:
    """Files that a command must not leave: beside its output, or among temporary ones."""
    extra = sorted(path.name for path in folder.iterdir() if path.name not in known)
    scratch = sorted(path.name for path in (folder / "tmp").iterdir())
    if extra or scratch:
        return f"left behind: {extra} beside the output, {scratch} in the temporary folder"
    return ""
