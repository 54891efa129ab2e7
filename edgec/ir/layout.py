"""Orders of axes: in which of them an operator can work."""

from __future__ import annotations

import enum
from typing import TypeVar

Perm = tuple[int, ...]
"""Permutation of axes: axis i of the result is axis ``perm[i]`` of the source."""
T = TypeVar("T")


class Freedom(enum.Enum):
    """Freedom of an operator in the order of its axes: the permutations that it can work in.

    FIXED: the one it has; it reads its inputs that way, too.
    LAST: any that leaves the last axis last.
    ANY: any.
    """

    FIXED = 0
    LAST = 1
    ANY = 2


def picked(items: tuple[T, ...], frame: Perm) -> tuple[T, ...]:
    """One item per axis, in the order of a frame."""
    return tuple(items[axis] for axis in frame)


def compose(first: Perm, second: Perm) -> Perm:
    """One permutation for ``x.transpose(first).transpose(second)``."""
    return tuple(first[axis] for axis in second)


def inverse(perm: Perm) -> Perm:
    """The permutation that undoes `perm`."""
    return tuple(perm.index(axis) for axis in range(len(perm)))
