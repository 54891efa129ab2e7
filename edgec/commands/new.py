"""`edgec new`: a project to begin with, which compiles as it is."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from edgec.base.errors import ConfigError, system_reason
from edgec.base.resources import data_dir
from edgec.base.work_folder import CONTAINER, work_folder
from edgec.target.board import load_board

_FILES = {
    "digits_resnet.onnx": "digits_resnet.onnx",
    "digits_calibration.npz": "digits_calibration.npz",
    "digits_test.npz": "digits_test.npz",
    "project/README.md": "README.md",
    "project/gitignore": ".gitignore",
    "project/workflow.yml": ".github/workflows/edgec.yml",
}
"""Files of the folder of examples, and what they are called in a project."""
_TOML = "edgec.toml"
_BOARD_LINE = 'board = "nucleo"'


def new_project(folder: Path, board: str) -> tuple[str, ...]:
    """Make a project: model, samples, `edgec.toml`, a readme and files for CI.

    Args:
        folder: where; it must not exist, or be empty.
        board: name or alias of a board, or its TOML file.

    Returns:
        The names of the files, in order.

    Raises:
        ConfigError: there is no such board, the folder holds something, or it cannot be written.
    """
    load_board(board)
    try:
        return _made(folder, _board_text(board, folder))
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {system_reason(error)}", where=str(folder)
        ) from error


def _board_text(board: str, folder: Path) -> str:
    """The board as the project names it: its file from there, if it is one."""
    if not board.endswith(".toml"):
        return board
    return os.path.relpath(Path(board).resolve(), folder.resolve())


def _made(folder: Path, board: str) -> tuple[str, ...]:
    exists = folder.exists()
    if exists and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            "is not empty" if folder.is_dir() else "is a file",
            where=str(folder),
            hint="name a new folder",
        )
    above = folder if exists else folder.resolve().parent
    above.mkdir(parents=True, exist_ok=True)
    with work_folder(above / CONTAINER) as work:
        made = work / "project"
        names = _write(made, board)
        if exists:
            for path in sorted(made.iterdir()):
                path.rename(folder / path.name)
        else:
            made.rename(folder)
    return names


def _write(folder: Path, board: str) -> tuple[str, ...]:
    """Write the files of a project into a new folder; their names."""
    examples = data_dir("examples")
    for source, name in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(examples / source, path)
    text = (examples / "project" / _TOML).read_text("utf-8")
    # A string of JSON is one of TOML, too.
    text = text.replace(_BOARD_LINE, f"board = {json.dumps(board, ensure_ascii=False)}")
    (folder / _TOML).write_text(text, "utf-8")
    script = folder / "ci" / "check.sh"
    script.parent.mkdir()
    shutil.copyfile(data_dir("ci") / "check.sh", script)
    script.chmod(0o755)
    return (_TOML, *_FILES.values(), "ci/check.sh")
