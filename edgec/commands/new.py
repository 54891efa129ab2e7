"""`edgec new`: a project to begin with, which compiles as it is."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from edgec.base.errors import ConfigError, system_reason
from edgec.base.resources import data_dir
from edgec.base.work_folder import CONTAINER, work_folder
from edgec.target.board import load_board

_TOML = "edgec.toml"
_BOARD_LINE = 'board = "nucleo"'
_README = "README.md"
_BOARD_NAME = "nucleo_f446re"
_SHARED = {
    "project/gitignore": ".gitignore",
    "project/workflow.yml": ".github/workflows/edgec.yml",
}
_DIGITS = {
    "project/edgec.toml": _TOML,
    "digits_resnet.onnx": "digits_resnet.onnx",
    "digits_calibration.npz": "digits_calibration.npz",
    "digits_test.npz": "digits_test.npz",
    "project/labels.txt": "labels.txt",
    "project/samples.csv": "samples.csv",
    "project/src/main.c": "src/main.c",
    "project/README.md": _README,
}
_MADE = ("wakeword.onnx", "wakeword_calibration.npz", "wakeword_clip.wav", "wakeword.json")
_SCRIPTS = ("train.py", "figures.py", "network.py", "rooms.py", "sets.py", "speech.py", "texts.py")
_WORDS = ("words_to_train.txt", "words_to_test.txt")
_WAKEWORD = {
    "wakeword/project/edgec.toml": _TOML,
    **{f"wakeword/{name}": name for name in _MADE},
    "wakeword/project/src/main.c": "src/main.c",
    **{f"wakeword/{name}": f"train/{name}" for name in (*_SCRIPTS, *_WORDS)},
    "wakeword/project/README.md": _README,
}
_FILES = {"digits": {**_DIGITS, **_SHARED}, "wakeword": {**_WAKEWORD, **_SHARED}}
"""Example to the files that its project has of the folder of examples, and their names there."""
EXAMPLES = tuple(_FILES)
"""Projects that can be made."""


def new_project(folder: Path, board: str, example: str = EXAMPLES[0]) -> tuple[str, ...]:
    """Make a project: model, samples, main program, `edgec.toml`, a readme and files for CI.

    Args:
        folder: where; it must not exist, or be empty (a repository without files is).
        board: name or alias of a board, or its TOML file.
        example: one of `EXAMPLES`.

    Returns:
        The names of the files, in order.

    Raises:
        ConfigError: there is no such board or example, the folder holds something, or it cannot be
            written.
    """
    if example not in _FILES:
        raise ConfigError(
            f"there is no example {example!r}", where="--example", hint=", ".join(EXAMPLES)
        )
    name = load_board(board).name
    # A string of JSON is one of TOML, too.
    line = f"board = {json.dumps(_board_text(board, folder), ensure_ascii=False)}"
    texts = {_TOML: (_BOARD_LINE, line), _README: (_BOARD_NAME, name)}
    try:
        return _made(folder, texts, _FILES[example])
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {system_reason(error)}", where=str(folder)
        ) from error


def _board_text(board: str, folder: Path) -> str:
    """The board as the project names it: its file from there, if it is one."""
    if not board.endswith(".toml"):
        return board
    return Path(os.path.relpath(Path(board).resolve(), folder.resolve())).as_posix()


def _made(
    folder: Path, texts: Mapping[str, tuple[str, str]], files: Mapping[str, str]
) -> tuple[str, ...]:
    exists = folder.exists()
    if exists and (not folder.is_dir() or not _is_empty(folder)):
        raise ConfigError(
            "is not empty" if folder.is_dir() else "is a file",
            where=str(folder),
            hint="name a new folder",
        )
    above = folder if exists else folder.resolve().parent
    above.mkdir(parents=True, exist_ok=True)
    with work_folder(above / CONTAINER) as work:
        made = work / "project"
        names = _write(made, texts, files)
        if exists:
            for path in sorted(made.iterdir()):
                path.rename(folder / path.name)
        else:
            made.rename(folder)
    return names


def _is_empty(folder: Path) -> bool:
    """Whether nothing but the history of a new repository lies in a folder."""
    return all(path.name == ".git" for path in folder.iterdir())


def _write(
    folder: Path, texts: Mapping[str, tuple[str, str]], files: Mapping[str, str]
) -> tuple[str, ...]:
    """Write the files of a project into a new folder; their names.

    Args:
        folder: the folder.
        texts: by name of a file what it says of the board, and what it is to say.
        files: names in the folder of examples, and in the project.
    """
    examples = data_dir("examples")
    for source, name in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(examples / source, path)
    for name, (old, new) in texts.items():
        path = folder / name
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    script = folder / "ci" / "check.sh"
    script.parent.mkdir()
    shutil.copyfile(data_dir("ci") / "check.sh", script)
    script.chmod(0o755)
    return (*files.values(), "ci/check.sh")
