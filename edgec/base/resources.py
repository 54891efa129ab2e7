"""Paths of the data folders (boards, firmware, examples, ci), in the wheel or in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def licence() -> str:
    """The text of edgec's licence, which goes with the code that edgec generates.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    for candidate in (_PACKAGE / "_data" / "LICENSE", _PACKAGE.parent / "LICENSE"):
        if candidate.is_file():
            return candidate.read_text("utf-8")
    raise FileNotFoundError("edgec's licence is missing; reinstall edgec")


def data_dir(name: str) -> Path:
    """Folder "boards", "firmware", "examples" or "ci" of the installed package or the checkout.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"edgec's data folder {name!r} is missing; reinstall edgec")
