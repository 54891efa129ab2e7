"""The size that no plan without overlaps can go below."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable

from edgec.memory.plan import Buffer


def disjoint_bound(buffers: Iterable[Buffer]) -> int:
    """Largest sum of `size_bytes` live at one step: the floor of any plan without overlaps."""
    change: dict[int, int] = defaultdict(int)
    for buffer in buffers:
        change[buffer.first_step] += buffer.size_bytes
        change[buffer.end_step] -= buffer.size_bytes
    return max(itertools.accumulate(change[step] for step in sorted(change)), default=0)
