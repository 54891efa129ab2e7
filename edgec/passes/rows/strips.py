"""Neighbours in the order of the graph, computed in vertical strips of the image one by one.

Each strip has nodes of its own: columns of what the neighbours read are copied, each layer computes
the columns that its readers in the strip need (`columns`), and those of the last one are copied to
their place.  A window reaches beyond the columns of its strip, so that the next strip computes some
again.  Rows are those of the whole image, so that a strip may run in turns (`timeline`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from edgec.ir import qops
from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.qops import IntegerOperator
from edgec.ir.rows import COLUMNS, EACH_ROW
from edgec.passes.rows.columns import ColumnRead, Span, StripColumns, column_reads, strip_columns
from edgec.passes.rows.names import Names
from edgec.passes.rows.reads import Read
from edgec.passes.rows.timeline import Pace, Timeline
from edgec.passes.rows.times import timeline


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """The nodes of a strip, in order, its values, and what they are columns of.

    Attributes:
        nodes: the last one writes the strip's part of the output.
        values: all that its nodes compute.
        columns: by node, the name of the whole tensor and the columns of it that the output is;
            none where it has others beside.
        constants: further ones that its nodes read.
        channels: by value, the name of the whole tensor and the first channel of it, of a group of
            channels (`groups`).
    """

    nodes: tuple[Node, ...]
    values: tuple[Value, ...]
    columns: Mapping[str, tuple[str, Span]]
    constants: tuple[Constant, ...] = ()
    channels: Mapping[str, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Strips:
    """All strips of some neighbours.

    Attributes:
        first, end: numbers of the nodes that they take the place of.
        strips: from left to right.
        join: the view of what they write as the output of the last node.
    """

    first: int
    end: int
    strips: tuple[Strip, ...]
    join: Node

    @property
    def nodes(self) -> frozenset[str]:
        """Names of the nodes of all."""
        return frozenset(node.name for strip in self.strips for node in strip.nodes)

    @property
    def columns(self) -> Mapping[str, tuple[str, Span]]:
        """`Strip.columns` of all."""
        return {name: each for strip in self.strips for name, each in strip.columns.items()}

    def within(self, graph: Graph) -> Graph:
        """A graph in which they take the place of their nodes; no such place has moved yet."""
        return with_strips(graph, (self,))


def with_strips(graph: Graph, strips: Sequence[Strips]) -> Graph:
    """A graph in which strips take the place of their nodes.

    Args:
        graph: that of which the strips have the numbers of nodes.
        strips: in order; no node is in two of them.
    """
    nodes: list[Node] = []
    values, constants, at = dict(graph.values), dict(graph.constants), 0
    channels: dict[str, tuple[str, int]] = {}
    for each in strips:
        nodes += graph.nodes[at : each.first]
        for node in graph.nodes[each.first : each.end]:
            if node.output != each.join.output:
                del values[node.output]
        for strip in each.strips:
            nodes += strip.nodes
            values |= {value.name: value for value in strip.values}
            constants |= {constant.name: constant for constant in strip.constants}
            channels |= strip.channels
        nodes.append(each.join)
        at = each.end
    return graph.replace(
        nodes=(*nodes, *graph.nodes[at:]),
        values=values,
        constants=constants,
        channels=channels,
    )


def strips_of(
    graph: Graph, first: int, end: int, reads: Mapping[str, Sequence[Read]], count: int
) -> Strips | None:
    """Some neighbours in strips; None where they cannot be computed so.

    Args:
        graph: INTEGER stage, straight.
        first, end: numbers of the nodes, half-open; all compute for the last one alone.
        reads: what each of them reads by rows, by name of the node.
        count: number of strips.
    """
    nodes = graph.nodes[first:end]
    output = nodes[-1].output
    width = graph.shape(output)[COLUMNS]
    if count > width:
        return None
    windows: dict[str, tuple[ColumnRead, ...]] = {}
    for node in nodes:
        own = column_reads(graph, node, reads[node.name])
        if own is None:
            return None
        windows[node.name] = own
    names, strips = Names(graph), []
    for number in range(count):
        span = width * number // count, width * (number + 1) // count
        columns = strip_columns(graph, nodes, windows, span)
        if columns is None:
            return None
        copied = _Copied(graph, nodes, windows, columns, number, names)
        strips.append(copied.strip(is_last=span[1] == width))
    parts = tuple(strip.nodes[-1].output for strip in strips)
    join = Node(names.fresh(f"{output} joined"), qops.QColumnsJoined(), parts, (output,))
    return Strips(first, end, tuple(strips), join)


def strip_chains(
    graph: Graph,
    strips: Strips,
    reads: Mapping[str, tuple[Read, ...]],
    pace: Pace,
    handed: str | None = None,
) -> Iterator[Timeline | None]:
    """Times of each strip; None where it cannot run in turns at this pace.

    Rows that are handed over lie at one place for all strips, and come at the same times: strips
    that keep some cannot run so.

    Args:
        graph: the one that `strips.within` made.
        strips: the strips that are in it.
        reads: what their nodes read by rows, by name of the node.
        pace: rows of a time.
        handed: an input of the graph that the caller hands over by rows, once for each strip.
    """
    coming = None
    for strip in strips.strips:
        kept = frozenset(strip.nodes[-1].outputs)
        chain = timeline(graph, strip.nodes, reads, kept, pace, handed)
        if chain is not None and chain.handed is not None:
            coming = coming or chain.handed
            keeps = chain.depths[coming.name] > coming.firing.rows
            chain = None if keeps or chain.handed != coming else chain
        yield chain


class _Copied:
    """The nodes of one strip."""

    def __init__(
        self,
        graph: Graph,
        nodes: Sequence[Node],
        windows: Mapping[str, Sequence[ColumnRead]],
        spans: StripColumns,
        number: int,
        names: Names,
    ) -> None:
        self._graph, self._nodes, self._windows = graph, nodes, windows
        self._spans, self._names = spans, names
        # Other neighbours may read the same tensors in patches of their own.
        self._title = f"(patch {number + 1} of {nodes[-1].output})"
        self._parts: dict[tuple[str, Span], str] = {}
        self._made: list[Node] = []
        self._values: list[Value] = []
        self._columns: dict[str, tuple[str, Span]] = {}

    def strip(self, *, is_last: bool) -> Strip:
        """The strip; the last one completes the output."""
        for node in self._nodes:
            held, inputs, padding = self._spans.holds[node.output], list(node.inputs), (0, 0)
            for each in self._windows[node.name]:
                place, window = each.read.place, each.window
                own = self._spans.reads[node.name, place]
                inputs[place] = self._operand(each, own)
                if window != EACH_ROW:
                    first, end = each.reach(held)
                    padding = own[0] - first, max(end - own[1], 0)
            attrs = node.attrs_as(IntegerOperator).with_column_padding(*padding)
            part = self._part(node.output, held)
            name = self._names.fresh(f"{node.name} {self._title}")
            self._made.append(
                replace(node, name=name, attrs=attrs, inputs=tuple(inputs), outputs=(part,))
            )
            exact = held == self._spans.needs[node.output]
            self._columns[name] = node.output, held if exact else (0, 0)
        self._place(self._nodes[-1].output, is_last)
        return Strip(tuple(self._made), tuple(self._values), self._columns)

    def _place(self, whole: str, is_last: bool) -> None:
        """Copy the columns of the output to their place."""
        held, (first, end) = self._spans.holds[whole], self._spans.needs[whole]
        width = self._graph.shape(whole)[COLUMNS]
        y = self._names.fresh(f"{whole} with {self._title}")
        self._values.append(replace(self._graph.values[whole], name=y))
        attrs = qops.QColumnsInto(width, first - held[0], first, end - first)
        name = self._names.fresh(f"place {self._title}")
        self._made.append(Node(name, attrs, (self._parts[whole, held],), (y,)))
        self._columns[name] = whole, (0, width) if is_last else (0, 0)

    def _operand(self, each: ColumnRead, own: Span) -> str:
        """The columns that a node reads, copied where the strip does not hold them so."""
        name = each.read.name
        if (name, own) not in self._parts:
            held, width = self._spans.holds.get(name), self._graph.shape(name)[COLUMNS]
            source, there = (name, (0, width)) if held is None else (self._parts[name, held], held)
            first, end = max(own[0], there[0]), min(own[1], there[1])
            part = self._part(name, own)
            attrs = qops.QColumnsFrom(
                own[1] - own[0], first - there[0], first - own[0], end - first, each.byte or 0
            )
            title = self._names.fresh(f"columns of {part}")
            self._made.append(Node(title, attrs, (source,), (part,)))
            true = (0, width) if held is None else self._spans.needs[name]
            exact = max(own[0], true[0]) == own[0] and min(own[1], true[1]) == own[1]
            self._columns[title] = name, own if exact else (0, 0)
        return self._parts[name, own]

    def _part(self, name: str, span: Span) -> str:
        """A new value for columns of a tensor."""
        part = self._parts[name, span] = self._names.fresh(f"{name} {self._title}")
        value = self._graph.values[name]
        shape = (*value.shape[:COLUMNS], span[1] - span[0], *value.shape[COLUMNS + 1 :])
        self._values.append(replace(value, name=part, shape=shape))
        return part
