"""How much work a function does, counted, so that no test hangs on how busy a computer is."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable


def calls_made(function: Callable[[], object]) -> int:
    """The number of calls, of Python and of built-in functions, that a call of `function` makes."""
    profiler = cProfile.Profile()
    profiler.runcall(function)
    return int(pstats.Stats(profiler).total_calls)  # type: ignore[attr-defined]
