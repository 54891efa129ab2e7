"""Functions that layers of several shapes share: how many layers do, and whether it pays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

LEAST = 4
"""Shapes of layers that save more by sharing than the shared functions are larger.  Source: code
bytes of MLPerf Tiny's networks, `docs/benchmarks.md`: a shape saves 150 bytes on the Cortex-M4, 460
on the M0+ and 320 on the M3; the shared functions are larger by 130, 1,340 and 1,470."""


@runtime_checkable
class MayShare(Protocol):
    """A specification of a kernel whose functions layers of other shapes may call as well."""

    @property
    def shares_functions(self) -> bool:
        """Layers of other shapes call the same functions."""


def sharing_shapes(specs: Iterable[object]) -> int:
    """How many specifications, each counted once, share functions.

    Args:
        specs: specifications of a network's kernels; equal ones are one function anyway.
    """
    return len({spec for spec in specs if isinstance(spec, MayShare) and spec.shares_functions})
