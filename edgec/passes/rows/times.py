"""Search for the times at which the layers of a chain fire, and the rows that each tensor keeps.

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from edgec.base.calls import Firing
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.rows import ROWS
from edgec.passes.rows.reads import ALIGNED_BYTES, Read, padding_byte, row_bytes
from edgec.passes.rows.timeline import Handed, Pace, RowSlice, Timeline

_MOST_ROWS = 64
"""Rows of a time at most."""


def timelines(
    graph: Graph,
    nodes: Sequence[Node],
    reads: Mapping[str, tuple[Read, ...]],
    kept: frozenset[str],
    paces: Iterable[Pace],
    handed: str | None = None,
) -> Iterator[Timeline]:
    """Times of a chain at several paces, without those of the same rows as at one before.

    Args:
        graph: INTEGER stage, straight.
        nodes: neighbours in the order of the graph.
        reads: what each of them reads by rows.
        kept: values of theirs that others read, or outputs of the graph.
        paces: rows of a time; those at which these nodes cannot run in turns are left out.
        handed: an input of the graph that the caller hands over by rows; None: all are whole.
    """
    try:
        chain = _Chain(graph, tuple(nodes), reads, kept, handed)
    except _Impossible:
        return
    tried = set()
    for pace in paces:
        try:
            rows = chain.rows(pace)
            if (key := tuple(rows.values())) not in tried:
                tried.add(key)
                yield _Planner(chain, rows).found()
        except _Impossible:
            continue


def timeline(
    graph: Graph,
    nodes: Sequence[Node],
    reads: Mapping[str, tuple[Read, ...]],
    kept: frozenset[str],
    pace: Pace,
    handed: str | None = None,
) -> Timeline | None:
    """Times of a chain at one pace (`timelines`); None where it cannot run in turns at that."""
    return next(timelines(graph, nodes, reads, kept, (pace,), handed), None)


class _Impossible(Exception):
    """A chain that cannot run in turns, or not at a pace."""


class _Chain:
    """The nodes of a chain and their windows, whatever the pace.

    Raises:
        _Impossible: they cannot run in turns.
    """

    def __init__(
        self,
        graph: Graph,
        nodes: tuple[Node, ...],
        reads: Mapping[str, tuple[Read, ...]],
        kept: frozenset[str],
        handed: str | None,
    ) -> None:
        self.graph, self.nodes, self.kept, self.handed = graph, nodes, kept, handed
        self.reads = [(node.name, node.output, reads[node.name]) for node in nodes]
        made = ([handed] if handed else []) + [output for _, output, _ in self.reads]
        self.height = {name: graph.shape(name)[ROWS] for name in made}
        self.inner = self.height.keys() - kept
        self.highest = max(self.height.values())
        self.readers: dict[str, list[tuple[str, Read]]] = {}
        for _, output, own in self.reads:
            for read in own:
                self.readers.setdefault(read.name, []).append((output, read))
        self.row_bytes = {name: row_bytes(graph, name) for name in (*made, *self.readers)}
        self.margins, self.bytes_of_padding = self._margins(), self._bytes()

    def rows(self, pace: Pace) -> dict[str, int]:
        """Rows of a time of each value.

        Raises:
            _Impossible: there are none such.
        """
        found: dict[str, int] = {}
        if self.handed is not None:
            found[self.handed] = self._rows_of(self.handed, (), found, pace)
        for _, output, reads in self.reads:
            found[output] = self._rows_of(output, reads, found, pace)
        return found

    def _rows_of(
        self, name: str, reads: Sequence[Read], rows: Mapping[str, int], pace: Pace
    ) -> int:
        height = self.height[name]
        least = pace.least(height, self.highest)
        fitting = [
            number
            for number in _parts(height)
            if all(number % read.window.repeat == 0 for read in reads)
            and all(r.window.advance(number) % rows[r.name] == 0 for r in reads if r.name in rows)
        ]
        if not fitting:
            raise _Impossible
        return next((number for number in fitting if number >= least), fitting[-1])

    def _beyond(self, output: str, read: Read) -> tuple[int, int]:
        """Rows of padding above and below an operand that its reader needs; none: 0 or less."""
        height = self.graph.shape(read.name)[ROWS]
        last = read.window.height(self.height[output]) - read.window.top
        return read.window.top, last - height

    def _margins(self) -> dict[str, tuple[int, int]]:
        """Padding of whole tensors.

        Raises:
            _Impossible: the tensor is a view of another one, around which there is no room.
        """
        found: dict[str, tuple[int, int]] = {}
        for _, output, reads in self.reads:
            for read in reads:
                if read.name not in self.inner:
                    above, below = self._beyond(output, read)
                    top, bottom = found.get(read.name, (0, 0))
                    found[read.name] = max(above, top), max(below, bottom)
        padded = {name: pair for name, pair in found.items() if any(pair)}
        makers = (self.graph.producers.get(name) for name in padded)
        if any(maker is not None and isinstance(maker.attrs, qops.QReshape) for maker in makers):
            raise _Impossible
        return padded

    def _bytes(self) -> dict[str, int]:
        """Every byte of the padding of each value that is read with some.

        Raises:
            _Impossible: readers want different padding.
        """
        found: dict[str, int] = {}
        for _, output, reads in self.reads:
            for read in reads:
                above, below = self._beyond(output, read)
                if above or below > 0:
                    byte = padding_byte(self.graph, read)
                    if byte is None or found.setdefault(read.name, byte) != byte:
                        raise _Impossible
        return found


@cache
def _parts(height: int) -> tuple[int, ...]:
    """Numbers of rows that a height is a multiple of."""
    return tuple(rows for rows in range(1, min(height, _MOST_ROWS) + 1) if height % rows == 0)


class _Planner:
    """The times of a chain whose values have their rows of a time."""

    def __init__(self, chain: _Chain, rows: Mapping[str, int]) -> None:
        self._chain, self._rows, self._inner = chain, rows, chain.inner
        self._period: dict[str, int] = {}
        self._phase: dict[str, int] = {}
        self._base = next(iter(rows.values()))

    def found(self) -> Timeline:
        """The times.

        Raises:
            _Impossible: there are none.
        """
        chain = self._chain
        if chain.handed is not None:
            self._begin(chain.handed, ())
        for _, output, reads in chain.reads:
            self._begin(output, reads)
        self._delay_first()
        self._delay_branches()
        padding = self._padding()
        depths = {name: self._depth(name) for name in self._rows if name in self._inner}
        if any(padding[name] and depths[name] == self._rows[name] for name in padding):
            raise _Impossible  # windows of padding alone, and no buffer that would hold it
        firings = {
            name: Firing(
                self._phase[name], self._period[name], self._count(name), rows, padding.get(name, 0)
            )
            for name, rows in self._rows.items()
        }
        made = Timeline(
            chain.nodes,
            chain.kept,
            {name: firings[output] for name, output, _ in chain.reads},
            Handed(chain.handed, firings[chain.handed]) if chain.handed else None,
            self._slices(depths),
            depths,
            chain.margins,
            chain.bytes_of_padding,
            self._waiting(depths),
        )
        if not self._is_aligned(made):
            raise _Impossible
        return made

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
        each = self._chain.row_bytes[name]
        return all(number * each % ALIGNED_BYTES == 0 for number in rows)

    def _count(self, name: str) -> int:
        return self._chain.height[name] // self._rows[name]

    def _begin(self, name: str, reads: Sequence[Read]) -> None:
        """Period and phase of a value whose operands have theirs."""
        rows, sources = self._rows[name], [read for read in reads if read.name in self._rows]
        if not sources:
            found = {self._of_highest(name)}
        else:
            found = {
                self._period[read.name] * read.window.advance(rows) // self._rows[read.name]
                for read in sources
            }
        if len(found) != 1:
            raise _Impossible
        self._period[name] = found.pop()
        self._phase[name] = max((self._earliest(read, rows) for read in sources), default=0)

    def _of_highest(self, name: str) -> int:
        """Period of a node that begins a branch, beside that of the node that begins the chain."""
        chain = self._chain
        ratio, rest = divmod(self._rows[name] * chain.highest, chain.height[name] * self._base)
        if rest or not ratio:
            raise _Impossible
        return ratio

    def _earliest(self, read: Read, rows: int) -> int:
        """The first turn in which an operand has what the first `rows` rows need."""
        last = max(read.window.height(rows) - 1 - read.window.top, 0)
        return self._phase[read.name] + self._period[read.name] * (last // self._rows[read.name])

    def _latest(self, name: str) -> Iterator[int]:
        """For each reader of a value the phase of the value at which that need not wait for it."""
        for reader, read in self._chain.readers.get(name, ()):
            lag = self._earliest(read, self._rows[reader]) - self._phase[name]
            yield self._phase[reader] - lag

    def _delay_first(self) -> None:
        """Let branches that begin with whole tensors begin when their rows are needed."""
        for _, name, reads in reversed(self._chain.reads):
            if not any(read.name in self._rows for read in reads):
                latest = min(self._latest(name), default=0)
                self._phase[name] = max(latest, self._phase[name])

    def _delay_branches(self) -> None:
        """Let nodes whose readers wait for others begin later, where that makes buffers smaller."""
        for _, name, reads in reversed(self._chain.reads):
            if name not in self._inner:
                continue
            latest, begin = min(self._latest(name)), self._phase[name]
            if latest <= begin:
                continue
            # The rows that the node keeps, and those that wait for it; no others.
            near = {name, *(read.name for read in reads if read.name in self._inner)}
            sizes = {}
            for phase in range(begin, min(latest, begin + self._period[name]) + 1):
                self._phase[name] = phase
                sizes[phase] = sum(self._depth(v) * self._chain.row_bytes[v] for v in near)
            self._phase[name] = min(sizes, key=lambda phase: (sizes[phase], phase))

    def _padding(self) -> dict[str, int]:
        """Times that give rows of padding after the image, while others need later rows."""
        found: dict[str, int] = {}
        for name in self._inner & self._chain.readers.keys():
            for reader, _ in self._chain.readers[name]:
                last = self._phase[reader] + self._period[reader] * (self._count(reader) - 1)
                times = (last - self._phase[name]) // self._period[name] + 1
                found[name] = max(times - self._count(name), found.get(name, 0))
        return found

    def _lag(self, name: str, reader: str, read: Read) -> int:
        """Rows from the first one that a reader needs to the newest one."""
        gone = (self._phase[reader] - self._phase[name]) // self._period[name]
        return self._rows[name] * (gone + 1) + read.window.top

    def _depth(self, name: str) -> int:
        """Rows of the buffer of a value."""
        readers = self._chain.readers.get(name, ())
        return max(self._rows[name], *(self._lag(name, *each) for each in readers), 0)

    def _slices(self, depths: Mapping[str, int]) -> tuple[RowSlice, ...]:
        """Rows that are read each time."""
        slices = []
        for name, output, reads in self._chain.reads:
            for read in reads:
                window, rows = read.window, self._rows[output]
                if read.name in depths:
                    start, step = depths[read.name] - self._lag(read.name, output, read), 0
                else:
                    start, step = -window.top, window.advance(rows)
                slices.append(RowSlice(name, read, window.height(rows), start, step))
        return tuple(slices)

    def _waiting(self, depths: Mapping[str, int]) -> frozenset[str]:
        """Values of the rows of a time that are read in another turn than they are computed in."""
        return frozenset(
            name
            for name, depth in depths.items()
            if depth == self._rows[name]
            if any(
                (self._phase[reader] - self._phase[name]) % self._period[name]
                for reader, _ in self._chain.readers.get(name, ())
            )
        )
