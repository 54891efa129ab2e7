"""Columns that a strip of neighbouring layers has of each tensor.

A strip computes columns ``[lo, hi)`` of the last layer.  Backwards from there follows which columns
of each tensor it *needs*; what it *holds* may be more, at either end, so that rows begin at
multiples of 4 bytes.  A layer with windows ``[o s - p, o s - p + size)`` that holds the columns
``[a, e)`` of its output reads ``[b, f)`` of its operand with padding of its own,

    left = b - (a s - p),   right = (e - 1) s - p + size - f,

both within ``[0, size - 1]``, the right one down to ``1 - s`` (columns that no window meets).
Where a needed column of the output lies at an edge of the image, its window needs the padding of
the network: the strip holds the operand from, or to, just that edge.  All other columns that meet
padding, or lie outside of the image, are of no use, and nobody needs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops import IntegerOperator
from edgec.ir.rows import COLUMNS, EACH_ROW, RowWindow
from edgec.passes.rows.reads import ALIGNED_BYTES, Read, padding_byte

Span = tuple[int, int]
"""Columns [first, end); below 0 and beyond the image there are none."""
_TRIES = 2000
"""Choices of columns that are tried for a strip."""


@dataclass(frozen=True, slots=True)
class ColumnRead:
    """An operand whose columns go with those of the output.

    Attributes:
        read: the operand.
        window: columns of it that a column of the output needs.
        byte: every byte of its padding; None: padding is no codes.
    """

    read: Read
    window: RowWindow
    byte: int | None

    def reach(self, output: Span) -> Span:
        """The columns of the windows of some columns of the output, padding included."""
        stride, top = self.window.stride, self.window.top
        return output[0] * stride - top, (output[1] - 1) * stride - top + self.window.size


@dataclass(frozen=True, slots=True, eq=False)
class StripColumns:
    """Columns of a strip.

    Attributes:
        needs: columns that readers need, within the image, by tensor.
        holds: columns that nodes of the strip compute, by tensor.
        reads: columns that a node reads, by its name and the place of the operand: those that the
            strip holds, or a copy of its own.
    """

    needs: Mapping[str, Span]
    holds: Mapping[str, Span]
    reads: Mapping[tuple[str, int], Span]


def column_reads(graph: Graph, node: Node, reads: Sequence[Read]) -> tuple[ColumnRead, ...] | None:
    """Operands that a node reads by rows, with windows of columns; None if it needs all columns.

    Args:
        graph: INTEGER stage, straight.
        node: one of it.
        reads: what it reads by rows.
    """
    attrs = node.attrs_as(IntegerOperator)
    window = attrs.column_window(attrs.Inputs.of(graph.shapes(node)))
    if window is None:
        return None
    width, by_rows = graph.shape(node.output)[COLUMNS], {read.place: read for read in reads}
    counts = isinstance(attrs, qops.QAveragePool)
    found, place = [], -1
    for number, name in enumerate(qops.tensors_of(attrs.Inputs.of(node.inputs))):
        place = node.inputs.index(name, place + 1)
        shape = graph.shape(name)
        if place in by_rows:
            own = window if number == 0 else EACH_ROW
            if own == EACH_ROW and shape[COLUMNS] != width:
                return None
            byte = None if counts else padding_byte(graph, by_rows[place])
            found.append(ColumnRead(by_rows[place], own, byte))
        elif len(shape) > 1 and shape[-2] != 1:
            return None
    return tuple(found)


def strip_columns(
    graph: Graph,
    nodes: Sequence[Node],
    reads: Mapping[str, Sequence[ColumnRead]],
    output: Span,
) -> StripColumns | None:
    """Columns of all tensors of a strip, as few as there can be; None where there is no way.

    Args:
        graph: INTEGER stage, straight.
        nodes: neighbours that compute for the last one alone.
        reads: operands of each node, by its name.
        output: what the last one computes.
    """
    return _Search(graph, nodes, reads, output).found()


class _Search:
    """The choice of columns, from the last tensor to the first."""

    def __init__(
        self,
        graph: Graph,
        nodes: Sequence[Node],
        reads: Mapping[str, Sequence[ColumnRead]],
        output: Span,
    ) -> None:
        self._graph, self._nodes, self._reads = graph, nodes, reads
        self._output, self._tries = output, 0
        self._readers: dict[str, list[tuple[Node, ColumnRead]]] = {}
        for node in nodes:
            for each in reads[node.name]:
                self._readers.setdefault(each.read.name, []).append((node, each))
        self._order = [node.output for node in reversed(nodes)]
        self._needs: dict[str, Span] = {}
        self._holds: dict[str, Span] = {}

    def found(self) -> StripColumns | None:
        """The columns; None: there is no way."""
        self._needs[self._order[0]] = self._output
        for node in reversed(self._nodes):
            if node.output not in self._needs:
                return None  # nobody reads it
            for each in self._reads[node.name]:
                name, own = each.read.name, each.reach(self._needs[node.output])
                own = max(own[0], 0), min(own[1], self._width(name))
                if own[0] >= own[1]:
                    return None
                other = self._needs.get(name, own)
                self._needs[name] = min(own[0], other[0]), max(own[1], other[1])
        chosen = self._choose(0)
        return None if chosen is None else StripColumns(self._needs, self._holds, chosen)

    def _choose(self, number: int) -> dict[tuple[str, int], Span] | None:
        """Choose the columns of all tensors from one on; gives what nodes read of them."""
        if number == len(self._order):
            return self._reading()
        name = self._order[number]
        for span in self._options(name, number):
            self._tries += 1
            if self._tries > _TRIES:
                return None
            self._holds[name] = span
            found = self._choose(number + 1)
            if found is not None:
                return found
        return None

    def _reading(self) -> dict[tuple[str, int], Span] | None:
        """Columns that nodes read of operands; None where one finds nothing that it could read."""
        found = {}
        for node in self._nodes:
            for each in self._reads[node.name]:
                span = self._span_of(node, each)
                if span is None:
                    return None
                found[node.name, each.read.place] = span
        return found

    def _options(self, name: str, number: int) -> Iterator[Span]:
        """Columns of a tensor that a node computes, the fewest first."""
        first, end = self._needs[name]
        if number == 0:
            yield from self._words(name, (first - 3, first), (end, end + 3))
            return
        readers = self._readers[name]
        windowed = [each for each in readers if each[1].window != EACH_ROW]
        for group in (readers, windowed or readers[:1]):
            limits = self._limits(name, group)
            if limits is not None:
                found = list(self._words(name, *limits))
                yield from found
                if found:
                    return

    def _words(self, name: str, firsts: Span, ends: Span) -> list[Span]:
        """Spans whose rows begin at words, the narrowest first; both limits are included."""
        value = self._graph.values[name]
        each = value.shape[-1] * value.dtype.size_bytes
        found = [
            (first, end)
            for first in range(firsts[1], firsts[0] - 1, -1)
            for end in range(ends[0], ends[1] + 1)
            if (end - first) * each % ALIGNED_BYTES == 0
        ]
        return sorted(found, key=lambda span: span[1] - span[0])

    def _limits(
        self, name: str, readers: Sequence[tuple[Node, ColumnRead]]
    ) -> tuple[Span, Span] | None:
        """Limits of where columns begin, and end, for some readers; None: there are none such."""
        need = self._needs[name]
        firsts, ends = [(-(1 << 30), need[0])], [(need[1], 1 << 30)]
        for node, each in readers:
            begin, end = self._limits_of(node, each)
            firsts.append(begin)
            ends.append(end)
        first = max(low for low, _ in firsts), min(high for _, high in firsts)
        last = max(low for low, _ in ends), min(high for _, high in ends)
        return (first, last) if first[0] <= first[1] and last[0] <= last[1] else None

    def _limits_of(self, node: Node, each: ColumnRead) -> tuple[Span, Span]:
        """Limits of where the columns that a node reads begin, and of where they end."""
        holds, window, width = self._holds[node.output], each.window, self._width(each.read.name)
        begin, end = each.reach(holds)
        least, most = each.reach(self._needs[node.output])
        firsts = begin, min(begin + window.size - 1, max(least, 0))
        ends = max(end - window.size + 1, min(most, width)), end + window.stride - 1
        if each.read.name not in self._order and each.byte is not None:
            # It is copied, and padding is there as codes.
            firsts = begin, min(begin + window.size - 1, least)
            return firsts, (max(end - window.size + 1, most), end + window.stride - 1)
        if least < 0:
            firsts = max(firsts[0], 0), min(firsts[1], 0)
        if most > width:
            ends = max(ends[0], width), min(ends[1], width)
        return firsts, ends

    def _span_of(self, node: Node, each: ColumnRead) -> Span | None:
        """The columns that a node reads of an operand; None: there are none such."""
        firsts, ends = self._limits_of(node, each)
        held = self._holds.get(each.read.name)
        if held is not None and firsts[0] <= held[0] <= firsts[1] and ends[0] <= held[1] <= ends[1]:
            return held
        if firsts[0] > firsts[1] or ends[0] > ends[1]:
            return None
        return next(iter(self._words(each.read.name, firsts, ends)), None)

    def _width(self, name: str) -> int:
        return self._graph.shape(name)[COLUMNS]
