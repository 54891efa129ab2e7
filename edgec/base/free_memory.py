"""Memory that arrays have left free, back to the system.

The allocator of the GNU C library keeps it, hundreds of megabytes after a run of a large network,
and what is allocated next does not always fit into the holes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Give free memory back; other C libraries do so themselves."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        found = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    found.argtypes, found.restype = [ctypes.c_size_t], ctypes.c_int
    return found
