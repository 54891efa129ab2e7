"""The processes that a process has started, in whatever session, and what root may do in them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PR_SET_CHILD_SUBREAPER, _PR_CAPBSET_DROP = 36, 24  # linux/prctl.h
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2  # linux/capability.h
_CAPABILITY_VERSION = 0x2008_0522
"""Two words of each set."""


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that none gets lost."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def obey_modes() -> None:
    """Have the modes of files hold for root, too, in this process and those that it starts."""
    if os.geteuid() != 0:
        return
    system = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, and their upper words
    for bit in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        system.prctl(_PR_CAPBSET_DROP, bit, 0, 0, 0)
    if system.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    for place in range(3):
        sets[place] &= ~(1 << _CAP_DAC_OVERRIDE | 1 << _CAP_DAC_READ_SEARCH)
    if system.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")


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
