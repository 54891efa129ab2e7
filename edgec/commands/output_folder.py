"""Where the result of a compilation goes."""

from __future__ import annotations

from pathlib import Path

from edgec.target.board import Board, load_board

BUILD_ROOT = Path("build")


def default_folder(model: Path, board: Board | str, root: Path | None = None) -> Path:
    """The output folder of a model and a board, where nobody names another.

    Args:
        model: the file of the model.
        board: a board, its name or alias, or its TOML file.
        root: what it lies in; None: the current folder.

    Raises:
        ConfigError: there is no such board, or its file is bad.
    """
    target = board if isinstance(board, Board) else load_board(board)
    return (root or Path()) / BUILD_ROOT / f"{model.stem}-{target.name}"
