"""Ways to serve a model of variable length that several families share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from edgec.base.errors import InternalError
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.extent import Extent, extent_of
from edgec.kernels.common.spec import VARIABLE, Loop
from edgec.kernels.family import Lengths


class Counted(Lengths[Any]):
    """The only size that varies is a field: how many rows or elements there are."""

    def __init__(self, field: str, serves: Callable[[Any], bool] = lambda _spec: True) -> None:
        """For a field of the specification.

        Args:
            field: its name.
            serves: whether a specification works row by row.
        """
        self._field = field
        self._serves = serves

    def spec(self, graph: Graph, node: Node, spec: Any) -> Any:
        """The specification, flagged; None where it does not work row by row."""
        return flagged(spec) if self._serves(spec) else None

    def sizes(self, graph: Graph, node: Node, spec: Any) -> tuple[Extent, ...]:
        """Number of units in a run, as the only size that the kernel is given."""
        return (extent_of(graph, node.output, getattr(spec, self._field)),)


class Looped(Lengths[Any]):
    """The turns of the outermost of the loops over y vary.

    They are a multiple of the variable axis, since all axes before it have length 1: merging has
    joined it with inner axes only.
    """

    def __init__(self, field: str) -> None:
        """For the field of the specification that holds these loops."""
        self._field = field

    def spec(self, graph: Graph, node: Node, spec: Any) -> Any:
        """The specification, flagged."""
        return flagged(spec)

    def sizes(self, graph: Graph, node: Node, spec: Any) -> tuple[Extent, ...]:
        """The turns of that loop."""
        return (extent_of(graph, node.output, getattr(spec, self._field)[0].size),)


def flagged(spec: Any) -> Any:
    """A specification whose function takes the sizes of a run as its last arguments."""
    return dataclasses.replace(spec, **{VARIABLE: True})


def varying_rows(graph: Graph, node: Node) -> int:
    """The length of the variable axis of a node's output in the longest run; 0: it has none."""
    axis = None if graph.length is None else graph.length.axes.get(node.output)
    return 0 if axis is None else graph.shape(node.output)[axis]


def split(loops: Sequence[Loop], rows: int) -> tuple[Loop, ...]:
    """Loops that walk alike, the one over the variable axis outermost; merging has hidden it."""
    first, *others = loops
    inner, rest = divmod(first.size, rows)
    if rest:
        raise InternalError(f"a loop of {first.size} turns does not run over {rows} rows")
    outer = Loop(rows, tuple(stride * inner for stride in first.strides))
    own = (Loop(inner, first.strides),) if inner > 1 else ()
    return (outer, *own, *others)
