"""Whether all is installed that a search needs, said before the work."""

from __future__ import annotations

import importlib.util

from edgec.base.errors import ConfigError
from edgec.sim.host import runs_natively
from edgec.sim.qemu import check_qemu_user
from edgec.target.board import Board


def check_engines(*, dask: bool = False) -> None:
    """Refuse where the search, or the scheduler, is not installed.

    Args:
        dask: Dask is needed, too.

    Raises:
        ConfigError: one of them is not.
    """
    needed = {"optuna": "Optuna, which proposes settings,"}
    if dask:
        needed["distributed"] = "dask.distributed, which --scheduler talks to,"
    for module, name in needed.items():
        if importlib.util.find_spec(module) is None:
            what = f"{name} is not installed"
            raise ConfigError(what, where="explore", hint="pip install 'edgec[explore]'")


def check_measures(board: Board) -> None:
    """Refuse a computer that cannot trace builds for a board, or run them on samples.

    Raises:
        ConfigError: Unicorn, Capstone or the board's QEMU is not installed.
    """
    for module in ("unicorn", "capstone"):
        if importlib.util.find_spec(module) is None:
            what = f"trials need {module}, which is not installed"
            raise ConfigError(what, where="explore", hint="pip install 'edgec[sim]'")
    if board.linux is not None and not runs_natively(board):
        check_qemu_user(board)
