"""The processes that a process has started, and theirs, also those in sessions of their own."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that none gets lost."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(root: int) -> dict[int, str]:
    """Number and name of each process below `root` that runs; it may be gone a moment later."""
    parents = {}
    names = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, tail = stat.read_text("utf-8", "replace").rpartition(")")
            number, _, name = head.partition(" (")
            state, parent = tail.split()[:2]
            if state != "Z":
                parents[int(number)], names[int(number)] = int(parent), name
    found = [root]
    for member in found:
        found += [child for child, parent in parents.items() if parent == member]
    return {child: names[child] for child in found[1:]}


def end_descendants(root: int) -> None:
    """Kill all processes below `root`, also those that are started meanwhile."""
    while below := descendants(root):
        for number in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
