"""Where edgec keeps what it can make again, and how much of it: two environment variables."""

from __future__ import annotations

import os
from pathlib import Path

from edgec.base.options import parse_bytes

FOLDER_VARIABLE = "EDGEC_CACHE_DIR"
LIMIT_VARIABLE = "EDGEC_CACHE_LIMIT"
DEFAULT_LIMIT = "1G"


def cache_folder() -> Path | None:
    """The folder of everything that edgec keeps; None where the user has no home folder.

    It is the one that `EDGEC_CACHE_DIR` names, else `edgec` in `XDG_CACHE_HOME` or in `~/.cache`.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(cache) if cache else Path.home() / ".cache") / "edgec"
    except RuntimeError:
        return None


def cache_limit_bytes() -> int:
    """The most bytes that finished builds may take, from `EDGEC_CACHE_LIMIT`; 0: keep none.

    Raises:
        ConfigError: the variable holds no size.
    """
    return parse_bytes(os.environ.get(LIMIT_VARIABLE) or DEFAULT_LIMIT, LIMIT_VARIABLE)
