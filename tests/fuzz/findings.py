"""Findings: a folder each, with what was wrong, how to repeat it, and the files of the case."""

from __future__ import annotations

import shutil
from pathlib import Path

from .campaign import Case, Outcome
from .process import OUTPUT

MAX_FILE_BYTES = 256 * 1024
_OUTPUT_BYTES = 16 * 1024
FINDING = "finding.txt"


def keep(root: Path, name: str, case: Case, outcome: Outcome) -> Path:
    """Write a finding below `root`; its folder.  Files that are not small are named only."""
    folder = root / f"{name}-{case.seed}-{case.number}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    left_out = [str(path) for path in _files(case.folder) if not _copy(case.folder, path, folder)]
    text = [outcome.finding.rstrip(), "", f"repeat: {_command(name, case)}"]
    text += [f"left out, larger than {MAX_FILE_BYTES} bytes: {path}" for path in left_out]
    (folder / FINDING).write_text("\n".join(text) + "\n", "utf-8", "backslashreplace")
    return folder


def _command(name: str, case: Case) -> str:
    words = f"--seed {case.seed} --first {case.number} --cases {case.units}"
    return f"python -m tests.fuzz {name} {words}"


def _files(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path.relative_to(folder) for path in found)


def _copy(source: Path, name: Path, target: Path) -> bool:
    """Copy a small file, or the end of the output; whether it was small."""
    data = (source / name).read_bytes()
    if name == Path(OUTPUT):
        data = data[-_OUTPUT_BYTES:]
    if len(data) > MAX_FILE_BYTES:
        return False
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    (target / name).write_bytes(data)
    return True
