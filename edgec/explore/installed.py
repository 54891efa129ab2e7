"""Whether Optuna and Dask are installed, said before the work."""

from __future__ import annotations

import importlib.util

from edgec.base.errors import ConfigError


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
