"""The axis whose length a run chooses: tokens of a sequence, up to a maximum.

A graph's shapes are those of the longest run.  In memory a shorter run uses the front of each
tensor: all axes before the variable one have length 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

MIN_LENGTH = 1


@dataclass(frozen=True, slots=True)
class VariableLength:
    """Variable axis of a graph: its maximum, and its position in each tensor.

    Attributes:
        maximum: the length that the graph's shapes are for.
        axes: by name, the axis of every value and constant that is shorter in a shorter run.  Its
            size there is `size - maximum + length`: a class token makes it one more than `length`.
        squares: constants [..., queries, keys] that are shorter on both of their last axes.
        loops: names of the loops with a turn for each position: a run that is shorter by 1 has one
            turn less.
    """

    maximum: int
    axes: Mapping[str, int]
    squares: frozenset[str] = frozenset()
    loops: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", MappingProxyType(dict(self.axes)))

    def shape(self, name: str, shape: tuple[int, ...], length: int) -> tuple[int, ...]:
        """The shape of a value or constant in a run of `length`, from that in the longest run."""
        less = self.maximum - length
        if name in self.squares:
            return (*shape[:-2], shape[-2] - less, shape[-1] - less)
        axis = self.axes.get(name)
        return shape if axis is None else shortened(shape, axis, less)


def layout_problem(shape: tuple[int, ...], axis: int, maximum: int) -> str:
    """Reason why a tensor cannot have its variable axis there; "" if it can."""
    if math.prod(shape[:axis]) != 1:
        return f"the variable axis is not the first one of {list(shape)}"
    if shape[axis] - maximum + MIN_LENGTH < 1:
        return f"nothing is left of it at length {MIN_LENGTH}"
    return ""


def slice_problem(start: int, step: int, count: int, size: int, maximum: int) -> str:
    """Reason why a slice of the variable axis is not part of every run; "" if it is.

    Args:
        start: first position that the slice takes.
        step: distance of two positions.
        count: number of positions.
        size: size of the variable axis in the longest run.
        maximum: the longest run.
    """
    last = start + (count - 1) * step
    exists = max(start, last) < size - maximum + MIN_LENGTH
    return "" if exists else "it takes a position that shorter runs do not have"


def shortened(shape: tuple[int, ...], axis: int, less: int) -> tuple[int, ...]:
    """A shape with one axis shorter by `less`."""
    return (*shape[:axis], shape[axis] - less, *shape[axis + 1 :])
