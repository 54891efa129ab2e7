"""Sizes that the length of a run decides."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class Extent:
    """A size: ``each * length + fixed``."""

    each: int
    fixed: int

    def at(self, length: int) -> int:
        """The size in a run of `length`."""
        return self.each * length + self.fixed

    def text(self, length: str) -> str:
        """The size as an expression, of C too, in which the length has this name."""
        if self.each == 0:
            return str(self.fixed)
        product = length if self.each == 1 else f"{self.each} * {length}"
        if self.fixed == 0:
            return product
        return f"{product} {'+' if self.fixed > 0 else '-'} {abs(self.fixed)}"


def extent_of(graph: Graph, name: str, total: int) -> Extent:
    """A multiple of the variable axis of a tensor, that is `total` in the longest run.

    `total` itself where the tensor has no variable axis.
    """
    variable = graph.length
    axis = None if variable is None else variable.axes.get(name)
    if variable is None or axis is None:
        return Extent(0, total)
    each = total // graph.shape(name)[axis]
    return Extent(each, total - each * variable.maximum)
