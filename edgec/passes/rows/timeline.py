"""Times at which the layers of a chain fire, and the rows that each tensor keeps: the record.

`times` finds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from edgec.base.calls import Firing
from edgec.ir.graph import Node
from edgec.passes.rows.reads import Read


@dataclass(frozen=True, slots=True)
class Pace:
    """Number of rows that layers compute each time.

    Attributes:
        rows: least number where the chain is highest.
        shrinks: whether layers of fewer rows compute fewer each time, or as many, more rarely.
    """

    rows: int
    shrinks: bool = False

    def least(self, height: int, highest: int) -> int:
        """Rows of a time of a layer, at least."""
        rows = -(-self.rows * height // highest) if self.shrinks else self.rows
        return min(rows, height)


@dataclass(frozen=True, slots=True)
class RowSlice:
    """Rows of an operand that a node reads each time.

    Attributes:
        node: name of the node.
        read: the operand.
        height: number of rows.
        start, step: the first one, in the whole tensor (below 0: padding) or in its buffer.
    """

    node: str
    read: Read
    height: int
    start: int
    step: int


@dataclass(frozen=True, slots=True)
class Handed:
    """Rows of the graph's input that the caller hands over, as if a layer computed them.

    Attributes:
        name: the input.
        firing: its times.
    """

    name: str
    firing: Firing


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Times and rows of the nodes of a chain.

    Attributes:
        nodes: in order.
        kept: values of the chain whose rows others need, too.
        firings: by name of the node.
        handed: turns in which the caller hands over rows of the graph's input; None: it is whole.
        slices: what is read each time.
        depths: rows of the buffer of each value that nobody else needs.
        margins: rows of padding above and below a whole tensor that is read by rows.
        bytes_of_padding: every byte of it, by value that has some.
        waiting: values without rows for later turns that are read in a turn after their own.
    """

    nodes: tuple[Node, ...]
    kept: frozenset[str]
    firings: Mapping[str, Firing] = field(default_factory=dict)
    handed: Handed | None = None
    slices: tuple[RowSlice, ...] = ()
    depths: Mapping[str, int] = field(default_factory=dict)
    margins: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    bytes_of_padding: Mapping[str, int] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()

    @property
    def turns(self) -> int:
        """Number of turns of the chain."""
        return max(firing.end for firing in self.firings.values())

    def written(self) -> dict[str, Firing]:
        """The times of each value of the chain: what its nodes compute, and what is handed over."""
        found = {} if self.handed is None else {self.handed.name: self.handed.firing}
        return found | {node.output: self.firings[node.name] for node in self.nodes}
