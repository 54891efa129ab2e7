"""Times at which the layers of a chain fire, and the rows that each tensor keeps.

Layer c computes r rows each time, i = 0, 1, ..., in turn ``phase + period * i``.  Of an operand v
with r_v rows a time it then needs the rows from ``F(i) = i r s - top`` to ``L(i) = F(i) + (r - 1) s
+ size - 1`` (s: stride).  Row l of v is there from turn ``phase_v + period_v floor(l / r_v)`` on.
Where r s is a multiple of r_v and the periods go with the rows, ``period = period_v r s / r_v``,
both sides grow by the same amount from i to i + 1, so that i = 0 alone gives the phase:
``phase >= phase_v + period_v floor(L(0) / r_v)``.  And the newest row of v in the turn of i, less
F(i), is one number for all i: the window lies at one place of a buffer over which the rows of v
slide, and that number is how many rows the buffer has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from edgec.base.calls import Firing
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.rows import ROWS, RowWindow
from edgec.passes.rows.reads import ALIGNED_BYTES, Read, padding_byte, row_bytes

_MOST_ROWS = 64
"""Rows of a time at most."""


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


def timeline(
    graph: Graph,
    nodes: Sequence[Node],
    reads: Mapping[str, tuple[Read, ...]],
    kept: frozenset[str],
    pace: Pace,
    handed: str | None = None,
) -> Timeline | None:
    """Times of a chain; None where these nodes cannot run in turns at this pace.

    Args:
        graph: INTEGER stage, straight.
        nodes: neighbours in the order of the graph.
        reads: what each of them reads by rows.
        kept: values of theirs that others read, or outputs of the graph.
        pace: rows of a time.
        handed: an input of the graph that the caller hands over by rows; None: all are whole.
    """
    return _Planner(graph, tuple(nodes), reads, kept, pace, handed).found()


class _Impossible(Exception):
    """A chain that cannot run at this pace."""


class _Planner:
    """The times of a chain."""

    def __init__(
        self,
        graph: Graph,
        nodes: tuple[Node, ...],
        reads: Mapping[str, tuple[Read, ...]],
        kept: frozenset[str],
        pace: Pace,
        handed: str | None,
    ) -> None:
        self._graph, self._nodes, self._reads = graph, nodes, reads
        self._kept, self._pace, self._handed = kept, pace, handed
        self._made = {node.output for node in nodes} | ({handed} if handed else set())
        self._inner = self._made - kept
        self._rows: dict[str, int] = {}
        self._period: dict[str, int] = {}
        self._phase: dict[str, int] = {}
        self._highest = max(graph.shape(name)[ROWS] for name in self._made)
        self._base: int | None = None

    def found(self) -> Timeline | None:
        """The times; None where there are none."""
        try:
            if self._handed is not None:
                self._begin(self._handed, (), ())
            for node in self._nodes:
                self._place(node)
            self._delay_first()
            self._delay_branches()
            padding, (slices, depths) = self._padding(), self._buffers()
            if any(padding[name] and depths[name] == self._rows[name] for name in padding):
                raise _Impossible  # windows of padding alone, and no buffer that would hold it
            firings = {
                name: Firing(
                    self._phase[name],
                    self._period[name],
                    self._count(name),
                    self._rows[name],
                    padding.get(name, 0),
                )
                for name in self._made
            }
            made = Timeline(
                self._nodes,
                self._kept,
                {node.name: firings[node.output] for node in self._nodes},
                Handed(self._handed, firings[self._handed]) if self._handed else None,
                slices,
                depths,
                self._margins(),
                self._bytes(),
                self._waiting(depths),
            )
            return made if self._is_aligned(made) else None
        except _Impossible:
            return None

    def _is_aligned(self, made: Timeline) -> bool:
        """Whether all rows begin where kernels can read them."""
        for part in made.slices:
            top, _ = made.margins.get(part.read.name, (0, 0))
            if not self._are_words(part.read.name, part.start + top, part.step):
                return False
        for name, rows in self._rows.items():
            top, _ = made.margins.get(name, (0, 0))
            if not self._are_words(name, made.depths.get(name, rows + top) - rows, rows):
                return False
        return True

    def _are_words(self, name: str, *rows: int) -> bool:
        each = row_bytes(self._graph, name)
        return all(number * each % ALIGNED_BYTES == 0 for number in rows)

    def _height(self, name: str) -> int:
        return self._graph.shape(name)[ROWS]

    def _count(self, name: str) -> int:
        return self._height(name) // self._rows[name]

    def _sources(self, node: Node) -> list[Read]:
        """Operands of a node that the chain itself computes."""
        return [read for read in self._reads[node.name] if read.name in self._made]

    def _place(self, node: Node) -> None:
        """Rows, period and phase of a node whose operands have theirs."""
        windows = [read.window for read in self._reads[node.name]]
        self._begin(node.output, self._sources(node), windows)

    def _begin(self, name: str, sources: Sequence[Read], windows: Sequence[RowWindow]) -> None:
        self._rows[name] = rows = self._rows_of(name, sources, windows)
        if not sources:
            self._base = self._base or rows
            found = {self._of_highest(name, rows)}
        else:
            found = {
                self._period[read.name] * read.window.advance(rows) // self._rows[read.name]
                for read in sources
            }
        if len(found) != 1:
            raise _Impossible
        self._period[name] = found.pop()
        self._phase[name] = max((self._earliest(read, rows) for read in sources), default=0)

    def _of_highest(self, name: str, rows: int) -> int:
        """Period of a node that begins a branch, beside that of the node that begins the chain."""
        assert self._base is not None
        ratio, rest = divmod(rows * self._highest, self._height(name) * self._base)
        if rest or not ratio:
            raise _Impossible
        return ratio

    def _rows_of(self, name: str, sources: Sequence[Read], windows: Sequence[RowWindow]) -> int:
        height = self._height(name)
        least = self._pace.least(height, self._highest)
        fitting = [
            rows
            for rows in range(1, min(height, _MOST_ROWS) + 1)
            if height % rows == 0
            and all(rows % window.repeat == 0 for window in windows)
            and all(s.window.advance(rows) % self._rows[s.name] == 0 for s in sources)
        ]
        if not fitting:
            raise _Impossible
        return next((rows for rows in fitting if rows >= least), fitting[-1])

    def _earliest(self, read: Read, rows: int) -> int:
        """The first turn in which an operand has what the first `rows` rows need."""
        last = max(read.window.height(rows) - 1 - read.window.top, 0)
        return self._phase[read.name] + self._period[read.name] * (last // self._rows[read.name])

    def _delay_first(self) -> None:
        """Let branches that begin with whole tensors begin when their rows are needed."""
        for node in reversed(self._nodes):
            if self._sources(node):
                continue
            name, latest = node.output, []
            for reader in self._nodes:
                for read in self._reads[reader.name]:
                    if read.name == name:
                        lag = self._earliest(read, self._rows[reader.output]) - self._phase[name]
                        latest.append(self._phase[reader.output] - lag)
            self._phase[name] = max(min(latest, default=0), self._phase[name])

    def _delay_branches(self) -> None:
        """Let nodes whose readers wait for others begin later, where that makes buffers smaller."""
        for node in reversed(self._nodes):
            name = node.output
            if name not in self._inner:
                continue
            latest = min(
                self._phase[reader.output]
                - self._earliest(read, self._rows[reader.output])
                + self._phase[name]
                for reader, read in self._readers()
                if read.name == name
            )
            begin = self._phase[name]
            if latest <= begin:
                continue
            sizes = {}
            for phase in range(begin, min(latest, begin + self._period[name]) + 1):
                self._phase[name] = phase
                sizes[phase] = self._buffer_bytes()
            self._phase[name] = min(sizes, key=lambda phase: (sizes[phase], phase))

    def _buffer_bytes(self) -> int:
        """Bytes of all buffers."""
        _, depths = self._buffers()
        return sum(depth * row_bytes(self._graph, name) for name, depth in depths.items())

    def _readers(self) -> Iterator[tuple[Node, Read]]:
        for node in self._nodes:
            for read in self._reads[node.name]:
                yield node, read

    def _padding(self) -> dict[str, int]:
        """Times that give rows of padding after the image, while others need later rows."""
        found: dict[str, int] = {}
        for node, read in self._readers():
            if read.name in self._inner:
                last = self._phase[node.output]
                last += self._period[node.output] * (self._count(node.output) - 1)
                times = (last - self._phase[read.name]) // self._period[read.name] + 1
                more = max(times - self._count(read.name), 0)
                found[read.name] = max(more, found.get(read.name, 0))
        return found

    def _buffers(self) -> tuple[tuple[RowSlice, ...], dict[str, int]]:
        """Slices that are read each time, and the rows of each buffer."""
        depths = {name: rows for name, rows in self._rows.items() if name in self._inner}
        lagging: list[tuple[Node, Read, int, int]] = []
        for node, read in self._readers():
            window, rows = read.window, self._rows[node.output]
            height = window.height(rows)
            if read.name not in depths:
                lagging.append((node, read, height, 0))
                continue
            gone = (self._phase[node.output] - self._phase[read.name]) // self._period[read.name]
            newest = self._rows[read.name] * (gone + 1) - 1
            lag = newest + window.top + 1
            depths[read.name] = max(depths[read.name], lag)
            lagging.append((node, read, height, lag))
        slices = []
        for node, read, height, lag in lagging:
            if read.name in depths:
                start, step = depths[read.name] - lag, 0
            else:
                start, step = -read.window.top, read.window.advance(self._rows[node.output])
            slices.append(RowSlice(node.name, read, height, start, step))
        return tuple(slices), depths

    def _waiting(self, depths: Mapping[str, int]) -> frozenset[str]:
        """Values of the rows of a time that are read in another turn than they are computed in."""
        return frozenset(
            read.name
            for node, read in self._readers()
            if read.name in self._inner and depths[read.name] == self._rows[read.name]
            if (self._phase[node.output] - self._phase[read.name]) % self._period[read.name]
        )

    def _margins(self) -> dict[str, tuple[int, int]]:
        """Padding of whole tensors.

        Raises:
            _Impossible: the tensor is a view of another one, around which there is no room.
        """
        found: dict[str, tuple[int, int]] = {}
        for node, read in self._readers():
            if read.name in self._inner:
                continue
            window = read.window
            last = window.height(self._height(node.output)) - window.top
            top, bottom = found.get(read.name, (0, 0))
            below = max(last - self._height(read.name), bottom, 0)
            found[read.name] = max(window.top, top), below
        padded = {name: pair for name, pair in found.items() if any(pair)}
        makers = (self._graph.producers.get(name) for name in padded)
        if any(maker is not None and isinstance(maker.attrs, qops.QReshape) for maker in makers):
            raise _Impossible
        return padded

    def _bytes(self) -> dict[str, int]:
        """Every byte of the padding of each value that is read with some.

        Raises:
            _Impossible: readers want different padding.
        """
        found: dict[str, int] = {}
        for node, read in self._readers():
            window = read.window
            last = window.height(self._height(node.output)) - window.top
            if not window.top and last <= self._height(read.name):
                continue
            byte = padding_byte(self._graph, read)
            if byte is None or found.setdefault(read.name, byte) != byte:
                raise _Impossible
        return found
