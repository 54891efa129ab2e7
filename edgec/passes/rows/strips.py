"""Neighbours in the order of the graph, computed in vertical strips of the image one by one.

Each strip has nodes of its own: columns of what the neighbours read are copied, each layer computes
the columns that its readers in the strip need, and those of the last one are copied to their place.
A window reaches beyond the columns of its strip, so that the next strip computes some again.  The
padding of the image's columns stays where the strip is the first or the last; rows are those of the
whole image, so that a strip may run in turns (`timeline`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from edgec.ir import qops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.qops import IntegerOperator
from edgec.ir.rows import COLUMNS, EACH_ROW, RowWindow
from edgec.passes.rows.reads import ALIGNED_BYTES, Read, row_reads
from edgec.passes.rows.timeline import Pace, Timeline, timeline

Span = tuple[int, int]
"""Columns [first, end)."""
_MOST_MORE = 4
"""Columns that a strip may have more for its rows to begin at multiples of `ALIGNED_BYTES`."""


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """The nodes of a strip, in order, its values, and what they are columns of.

    Attributes:
        nodes: the last one writes the strip's part of the output.
        values: all that its nodes compute.
        columns: by node, the name of the whole tensor and the columns of it that the output holds.
    """

    nodes: tuple[Node, ...]
    values: tuple[Value, ...]
    columns: Mapping[str, tuple[str, Span]]


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
    def columns(self) -> Mapping[str, tuple[str, Span]]:
        """`Strip.columns` of all."""
        return {name: each for strip in self.strips for name, each in strip.columns.items()}

    def within(self, graph: Graph) -> Graph:
        """A graph in which they take the place of their nodes; no such place has moved yet."""
        gone = {node.output for node in graph.nodes[self.first : self.end]} - {self.join.output}
        values = {name: value for name, value in graph.values.items() if name not in gone}
        values |= {value.name: value for strip in self.strips for value in strip.values}
        nodes = [node for strip in self.strips for node in strip.nodes]
        return graph.replace(
            nodes=(*graph.nodes[: self.first], *nodes, self.join, *graph.nodes[self.end :]),
            values=values,
        )


def column_reads(
    graph: Graph, node: Node, reads: Sequence[Read]
) -> tuple[tuple[Read, RowWindow], ...] | None:
    """What a node reads by rows, with windows of columns; None if it cannot compute some of them.

    Args:
        graph: INTEGER stage, straight.
        node: one of it.
        reads: what it reads by rows.
    """
    attrs = node.attrs_as(IntegerOperator)
    window = attrs.column_window(attrs.Inputs.of(graph.shapes(node)))
    if window is None:
        return None
    width, by_rows = graph.shape(node.output)[COLUMNS], {read.place for read in reads}
    found, place = [], -1
    for number, name in enumerate(qops.tensors_of(attrs.Inputs.of(node.inputs))):
        place = node.inputs.index(name, place + 1)
        shape = graph.shape(name)
        if place in by_rows:
            own = window if number == 0 else EACH_ROW
            if own == EACH_ROW and shape[COLUMNS] != width:
                return None
            read = next(each for each in reads if each.place == place)
            found.append((read, own))
        elif len(shape) > 1 and shape[-2] != 1:
            return None
    return tuple(found)


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
    windows = {}
    for node in nodes:
        found = column_reads(graph, node, reads[node.name])
        if found is None:
            return None
        windows[node.name] = found
    cutter = _Cutter(graph, nodes, windows)
    strips = []
    for number in range(count):
        nominal = width * number // count, width * (number + 1) // count
        strip = cutter.strip(nominal, number, last=number + 1 == count)
        if strip is None:
            return None
        strips.append(strip)
    parts = tuple(strip.nodes[-1].output for strip in strips)
    join = Node(cutter.fresh(f"{output} joined"), qops.QColumnsJoined(), parts, (output,))
    return Strips(first, end, tuple(strips), join)


def strip_chains(
    graph: Graph, strips: Strips, pace: Pace, handed: str | None = None
) -> tuple[Timeline, ...] | None:
    """Times of all strips; None where one cannot run in turns at this pace.

    Args:
        graph: the one that `strips.within` made.
        strips: of it.
        pace: rows of a time.
        handed: an input of the graph that the caller hands over by rows, once for each strip.
    """
    found = []
    for strip in strips.strips:
        reads = {node.name: row_reads(graph, node) or () for node in strip.nodes}
        kept = frozenset(strip.nodes[-1].outputs)
        chain = timeline(graph, strip.nodes, reads, kept, pace, handed)
        if chain is None:
            return None
        found.append(chain)
    return tuple(found)


class _Cutter:
    """Cuts strips out of neighbours."""

    def __init__(
        self,
        graph: Graph,
        nodes: Sequence[Node],
        windows: Mapping[str, tuple[tuple[Read, RowWindow], ...]],
    ) -> None:
        self._graph, self._nodes, self._windows = graph, nodes, windows
        self._made = {node.output for node in nodes}
        self._taken = {*graph.values, *graph.constants, *(node.name for node in graph.nodes)}

    def fresh(self, name: str) -> str:
        """A name that nothing has."""
        while name in self._taken:
            name += "'"
        self._taken.add(name)
        return name

    def strip(self, nominal: Span, number: int, *, last: bool) -> Strip | None:
        """A strip of at least some columns of the output."""
        spans = next(self._aligned(nominal), None) or self._spans(nominal)
        return None if spans is None else _Copied(self, spans, number, last).strip()

    def _aligned(self, nominal: Span) -> Iterator[dict[str, Span]]:
        """Columns of all tensors, with rows that begin where kernels can read them."""
        width = self._width(self._nodes[-1].output)
        for more in range(_MOST_MORE):
            for left in range(more + 1):
                wider = max(nominal[0] - left, 0), min(nominal[1] + more - left, width)
                spans = self._spans(wider)
                if spans is not None and all(self._are_words(*each) for each in spans.items()):
                    yield spans

    def _are_words(self, name: str, span: Span) -> bool:
        """Whether rows of a part begin at words, where those of the whole tensor do."""
        shape, each = self._graph.shape(name), self._graph.dtype(name).size_bytes
        whole = shape[COLUMNS] * shape[-1] * each
        return whole % ALIGNED_BYTES > 0 or (span[1] - span[0]) * shape[-1] * each % 4 == 0

    def _width(self, name: str) -> int:
        return self._graph.shape(name)[COLUMNS]

    def _spans(self, output: Span) -> dict[str, Span] | None:
        """Columns that the strip has of each tensor; None where some node has nothing to read."""
        spans = {self._nodes[-1].output: output}
        for node in reversed(self._nodes):
            if node.output not in spans:
                return None  # nobody reads it
            for read, window in self._windows[node.name]:
                first, end = self.needed(spans[node.output], window, read.name)
                if first >= end:
                    return None
                before = spans.get(read.name, (first, end))
                spans[read.name] = min(first, before[0]), max(end, before[1])
        for name, (first, end) in spans.items():
            if name not in self._made:
                spans[name] = first, self._roomy(name, (first, end), spans)
        return spans

    def _roomy(self, name: str, span: Span, spans: Mapping[str, Span]) -> int:
        """End of what is copied of a tensor: with columns more that nobody minds, for words."""
        for end in range(span[1], min(span[1] + ALIGNED_BYTES, self._width(name) + 1)):
            if self._are_words(name, (span[0], end)) and all(
                self.fits((span[0], end), spans[node.output], window, read.name)
                for node in self._nodes
                for read, window in self._windows[node.name]
                if read.name == name
            ):
                return end
        return span[1]

    def needed(self, output: Span, window: RowWindow, name: str) -> Span:
        """Columns of an operand that columns of an output are computed from."""
        first = output[0] * window.stride - window.top
        end = (output[1] - 1) * window.stride - window.top + window.size
        return max(first, 0), min(end, self._width(name))

    def padding(self, output: Span, window: RowWindow, name: str) -> Span:
        """Columns of padding left and right of these."""
        first = output[0] * window.stride - window.top
        end = (output[1] - 1) * window.stride - window.top + window.size
        return max(-first, 0), max(end - self._width(name), 0)

    def fits(self, span: Span, output: Span, window: RowWindow, name: str) -> bool:
        """Whether a node that reads all of `span` computes the columns `output`."""
        first, end = self.needed(output, window, name)
        more = span[1] - end
        return span[0] == first and 0 <= more < window.stride

    def renamed(self, value: Value, width: int, name: str) -> Value:
        """A part of a tensor."""
        shape = (*value.shape[:COLUMNS], width, *value.shape[COLUMNS + 1 :])
        return replace(value, name=name, shape=shape)


class _Copied:
    """The nodes of one strip."""

    def __init__(
        self, cutter: _Cutter, spans: Mapping[str, Span], number: int, last: bool
    ) -> None:
        self._cutter, self._spans, self._last = cutter, spans, last
        self._title = f"patch {number + 1}"
        self._parts: dict[tuple[str, Span], str] = {}
        self._nodes: list[Node] = []
        self._values: list[Value] = []
        self._columns: dict[str, tuple[str, Span]] = {}

    def strip(self) -> Strip:
        """The strip."""
        graph, cutter = self._cutter._graph, self._cutter
        for node in cutter._nodes:
            output = self._spans[node.output]
            inputs, padding = list(node.inputs), (0, 0)
            for read, window in cutter._windows[node.name]:
                inputs[read.place] = self._operand(read.name, output, window)
                if window != EACH_ROW:
                    padding = cutter.padding(output, window, read.name)
            attrs = node.attrs_as(IntegerOperator).with_column_padding(*padding)
            part = self._part(node.output, output)
            name = cutter.fresh(f"{node.name} {self._title}")
            self._nodes.append(
                replace(node, name=name, attrs=attrs, inputs=tuple(inputs), outputs=(part,))
            )
            self._columns[name] = node.output, output
        whole, (first, _) = node.output, output
        y = cutter.fresh(f"{whole} with {self._title}")
        self._values.append(replace(graph.values[whole], name=y))
        width = graph.shape(whole)[COLUMNS]
        place = Node(cutter.fresh(f"place of {self._title} of {whole}"), qops.QColumnsInto(first, width), (part,), (y,))
        self._nodes.append(place)
        self._columns[place.name] = whole, (0, width) if self._last else (0, 0)
        return Strip(tuple(self._nodes), tuple(self._values), self._columns)

    def _operand(self, name: str, output: Span, window: RowWindow) -> str:
        """The part of an operand that a node reads, copied where there is none such."""
        cutter, span = self._cutter, self._spans[name]
        if not cutter.fits(span, output, window, name):
            own = cutter.needed(output, window, name)
            source = name if name not in cutter._made else self._parts[name, span]
            start = own[0] - (0 if source == name else span[0])
        elif name in cutter._made:
            return self._parts[name, span]
        else:
            own, source, start = span, name, span[0]
        if (name, own) not in self._parts:
            part = self._part(name, own)
            title = cutter.fresh(f"{part} for {self._title}")
            self._nodes.append(
                Node(title, qops.QColumnsFrom(start, own[1] - own[0]), (source,), (part,))
            )
            self._columns[title] = name, own
        return self._parts[name, own]

    def _part(self, name: str, span: Span) -> str:
        """A new value for columns of a tensor."""
        graph, cutter = self._cutter._graph, self._cutter
        part = self._parts[name, span] = cutter.fresh(f"{name} {self._title}")
        self._values.append(cutter.renamed(graph.values[name], span[1] - span[0], part))
        return part
