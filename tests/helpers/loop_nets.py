"""INTEGER graphs that repeat and carry values: what `passes.hold_carried` gives for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from integer_samples import IntegerMaker

from edgec.base.dtypes import Array
from edgec.interp import run_graph, state_after
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.ir.turns import Loop, Part, Scope
from edgec.ir.verify import Stage, verify
from edgec.passes.hold_carried import hold_carried

ALL_SORTS = -1000


class LoopMaker(IntegerMaker):
    """Adds the operators at the border of loops; all values have one zero point."""

    ZERO = 3

    def slice_of(self, x: str, loop: Loop, part: Part, name: str | None = None) -> str:
        return self.op(qops.QTurnSlice(loop, part), x, zero=self.zero(x), name=name)

    def stacked(self, x: str, loop: Loop, part: Part, name: str = "y") -> str:
        return self.op(qops.QTurnStack(loop, part), x, zero=self.zero(x), name=name)

    def last(self, x: str, loop: Loop, name: str = "last") -> str:
        return self.op(qops.QTurnLast(loop), x, zero=self.zero(x), name=name)

    def carry(self, start: str, loop: Scope, name: str = "h") -> str:
        return self.op(qops.QCarry(loop), start, zero=self.zero(start), name=name)

    def update(self, x: str, carry: str) -> str:
        return self.op(qops.QUpdate(), x, carry, zero=self.zero(x), name=f"next {carry}")

    def start(self, *shape: int, value: int | None = None, zero: int = ZERO) -> str:
        """Initial codes: those of zero, `value` everywhere, or with `ALL_SORTS` others."""
        array = np.full(shape, zero if value is None else value, np.int64)
        if value == ALL_SORTS:
            array = self.rng.integers(-128, 128, shape)
        return self.const(array, "int8", QuantParams.per_tensor(0.5, zero))

    def sum_of(self, a: str, b: str, zero: int = ZERO) -> str:
        """a + b in the codes of both, saturated."""
        params = qops.AddParams(self.zero(a), self.zero(b), 1 << 10, 1 << 10, 10, zero)
        return self.op(qops.QAdd(params), a, b, zero=zero)

    def front(self, x: str, axis: int, start: int, size: int) -> str:
        shape = self.shape(x)
        starts = tuple(start if a == axis else 0 for a in range(len(shape)))
        sizes = tuple(size if a == axis else n for a, n in enumerate(shape))
        return self.same(qops.QSlice(starts, (1,) * len(shape), sizes), x)

    def dense(self, x: str, units: int, zero: int = ZERO) -> str:
        weights = self.weights(units, self.shape(x)[-1], constant=0.0)
        return self.op(qops.QGemm(qops.Requant31(32, zero)), x, *weights, zero=zero)

    def table(self, x: str, zero: int = ZERO) -> str:
        codes = np.clip(np.round(90 * np.tanh(np.arange(-128, 128) / 50)), -128, 127)
        return self.op(qops.QLut(), x, self.const(codes, "int8"), zero=zero)

    def ready(self, *outputs: str) -> Graph:
        graph = hold_carried(self.graph(*outputs))
        verify(graph, Stage.INTEGER, "hold_carried")
        return graph


def constant_channels(turns: int = 4, channels: int = 6) -> Graph:
    """Convolutions with constant channels in a loop, whose carried value begins as a constant."""
    m, loop = LoopMaker(8), Loop("rows", turns)
    x = m.input(1, turns, 4, channels)
    held = m.conv(m.front(x, 1, 0, 1), channels)
    start = m.start(1, 1, 4, channels)
    carry = m.carry(start, loop)
    row = m.slice_of(x, loop, Part(1))
    first = m.sum_of(m.conv(m.depthwise(m.conv(row, 12)), channels), held)
    grown = m.conv(m.sum_of(m.conv(carry, channels), first), channels, kernel=1, zero=m.ZERO)
    m.update(grown, carry)
    return m.ready(m.stacked(m.conv(grown, 5), loop, Part(1)), m.last(grown, loop))


def cumulative_sum(turns: int = 9, width: int = 8) -> Graph:
    m, loop = LoopMaker(), Loop("rows", turns)
    x_t = m.slice_of(m.input(1, turns, width), loop, Part(1))
    total = m.carry(m.start(1, 1, width), loop)
    added = m.sum_of(total, x_t)
    m.update(added, total)
    y = m.stacked(added, loop, Part(1))
    return m.ready(y, m.last(f"next {total}", loop))


def moving_average(width: int = 8, taps: int = 4) -> Graph:
    """The mean of the last rows, one row a run; the rows are the state."""
    m = LoopMaker()
    x = m.input(1, 1, width)
    rows = m.carry(m.start(1, taps - 1, width), None, "rows")
    window = m.op(qops.QConcat(1), rows, x, zero=m.ZERO)
    m.update(m.front(window, 1, 1, taps - 1), rows)
    image = m.same(qops.QReshape((1, 1, taps, width)), window)
    return m.ready(m.mean(image))


def delay_line(width: int = 5, taps: int = 3) -> Graph:
    """What came `taps` runs ago; the state itself is an output, and begins with other codes."""
    m = LoopMaker()
    x = m.input(1, 1, width)
    line = m.carry(m.start(1, taps, width, value=ALL_SORTS), None, "line")
    old = m.front(line, 1, 0, 1)
    m.update(m.op(qops.QConcat(1), m.front(line, 1, 1, taps - 1), x, zero=m.ZERO), line)
    return m.ready(old, line)


def unit_delay(width: int = 6) -> Graph:
    """y[t] = x[t - 1]: the update reads the input itself."""
    m = LoopMaker()
    x = m.input(1, width)
    held = m.carry(m.start(1, width), None)
    m.update(x, held)
    return m.ready(m.table(held), held)


def two_layers(turns: int = 100, width: int = 8, hidden: int = 16, units: int = 8) -> Graph:
    """Gemm, table, Gemm of each row and of the value carried on."""
    m, loop = LoopMaker(4), Loop("scan", turns)
    x = m.input(1, turns, width)
    h = m.carry(m.start(1, 1, units), loop)
    row = m.slice_of(x, loop, Part(1))
    both = m.op(qops.QConcat(2), row, h, zero=m.ZERO)
    flat = m.same(qops.QReshape((1, width + units)), both)
    out = m.table(m.dense(m.table(m.dense(flat, hidden)), units))
    new = m.same(qops.QReshape((1, 1, units)), out)
    m.update(new, h)
    y = m.stacked(new, loop, Part(1))
    return m.ready(y, m.last(new, loop))


def two_states(width: int = 4) -> Graph:
    """A running sum and, a step behind, what it was; with a table after each."""
    m = LoopMaker(2)
    x = m.input(1, width)
    total = m.carry(m.start(1, width), None, "total")
    before = m.carry(m.start(1, width, value=7), None, "before")
    added = m.sum_of(m.table(total), x)
    m.update(added, total)
    m.update(total, before)
    return m.ready(m.sum_of(before, added), added)


def exchange(turns: int = 5, width: int = 8) -> Graph:
    """Two carried values that change places in each turn, beside a sum of one of them."""
    m, loop = LoopMaker(), Loop("swap", turns)
    x = m.input(1, turns, width)
    a = m.carry(m.start(1, 1, width, value=ALL_SORTS), loop, "a")
    b = m.carry(m.front(x, 1, turns - 1, 1), loop, "b")
    m.update(b, a)
    m.update(a, b)
    seen = m.sum_of(a, m.slice_of(x, loop, Part.backwards(1, turns)))
    return m.ready(m.stacked(seen, loop, Part(1)), m.last("next a", loop), m.last(b, loop))


def exchanged_states(width: int = 8) -> Graph:
    m = LoopMaker()
    x = m.input(1, width)
    a = m.carry(m.start(1, width, value=ALL_SORTS), None, "a")
    b = m.carry(m.start(1, width, value=1), None, "b")
    m.update(b, a)
    m.update(m.same(qops.QReshape((1, width)), a), b)
    return m.ready(m.sum_of(a, x), "next b")


def nested(rows: int = 3, columns: int = 5, channels: int = 8) -> Graph:
    """Sums along the columns of an image, begun anew in each row, and a sum of their last ones."""
    m = LoopMaker()
    outer = Loop("rows", rows)
    inner = Loop("columns", columns, outer)
    x = m.input(1, rows, columns, channels)
    start = m.start(1, 1, 1, channels)
    totals = m.carry(start, outer, "totals")
    row = m.slice_of(x, outer, Part(1), "row")
    total = m.carry(start, inner, "total")
    pixel = m.slice_of(row, inner, Part.backwards(2, columns), "pixel")
    added = m.sum_of(total, pixel)
    m.update(added, total)
    back = m.stacked(added, inner, Part(2), "back")
    grown = m.sum_of(totals, m.last(added, inner))
    m.update(grown, totals)
    return m.ready(m.stacked(back, outer, Part(1)), m.last(grown, outer, "grown"))


def along_columns(turns: int = 6, height: int = 3, width: int = 5) -> Graph:
    """Parts that are no neighbours in memory: copies in and out of each turn."""
    m, loop = LoopMaker(), Loop("columns", turns)
    x = m.input(1, height, turns, width)
    column = m.slice_of(x, loop, Part(2))
    total = m.carry(m.start(1, height, 1, width), loop)
    added = m.sum_of(total, column)
    m.update(added, total)
    return m.ready(m.stacked(m.table(added), loop, Part(2)), m.last(total, loop))


def windows(turns: int = 6, width: int = 8) -> Graph:
    """Overlapping windows of a constant and of an input; both loops share what lies outside."""
    m, loop = LoopMaker(), Loop("windows", turns)
    x = m.input(1, turns + 2, width)
    known = m.start(1, 2 * turns, width, value=ALL_SORTS)
    part = m.slice_of(x, loop, Part(1, 3, 1))
    row = m.slice_of(known, loop, Part(1, 1, -2, 2 * turns - 1))
    held = m.table(m.front(x, 1, 1, 1))
    joined = m.op(qops.QConcat(1), part, row, held, zero=m.ZERO)
    image = m.same(qops.QReshape((1, 1, 5, width)), joined)
    mean = m.same(qops.QReshape((1, 1, width)), m.mean(image))
    later = Loop("later", turns)
    stack = m.stacked(mean, loop, Part(1), "means")
    again = m.sum_of(m.slice_of(stack, later, Part(1)), held)
    return m.ready(m.stacked(again, later, Part.backwards(1, turns)), stack)


def sliding(width: int = 8, taps: int = 4, new: int = 1) -> Graph:
    """A window that moves on in each run; it is an output, too."""
    m = LoopMaker()
    x = m.input(1, new, width)
    window = m.carry(m.start(1, taps, width, value=ALL_SORTS), None, "window")
    moved = m.op(qops.QSlide(1), window, x, zero=m.ZERO)
    m.update(moved, window)
    return m.ready(m.table(moved), moved)


def sliding_in_turns(turns: int = 5, width: int = 8, taps: int = 3) -> Graph:
    """A window of columns that moves on in each turn; each of its rows by itself."""
    m, loop = LoopMaker(), Loop("slide", turns)
    column = m.slice_of(m.input(1, 2, turns, width), loop, Part(2))
    window = m.carry(m.start(1, 2, taps, width), loop)
    moved = m.op(qops.QSlide(2), window, column, zero=m.ZERO)
    m.update(moved, window)
    return m.ready(m.stacked(m.table(moved), loop, Part(2, taps, taps)))


LOOPS: dict[str, Callable[[], Graph]] = {
    "sliding_in_turns": sliding_in_turns,
    "sliding_in_turns_unaligned": lambda: sliding_in_turns(4, 3),
    "cumulative_sum": cumulative_sum,
    "unaligned_sum": lambda: cumulative_sum(7, 5),
    "two_layers": two_layers,
    "two_layers_unaligned": lambda: two_layers(10, 3, 7, 5),
    "exchange": exchange,
    "nested": nested,
    "nested_unaligned": lambda: nested(3, 4, 3),
    "along_columns": along_columns,
    "constant_channels": constant_channels,
    "windows": windows,
    "windows_unaligned": lambda: windows(4, 3),
}
STREAMS: dict[str, Callable[[], Graph]] = {
    "sliding": sliding,
    "sliding_by_three": lambda: sliding(5, 4, 3),
    "moving_average": moving_average,
    "delay_line": delay_line,
    "unit_delay": unit_delay,
    "two_states": two_states,
    "exchanged_states": exchanged_states,
}


def stream_of(
    graph: Graph, steps: int, seed: int = 1
) -> list[tuple[list[Array], dict[str, Array]]]:
    """Inputs of the steps of a stream, and every tensor that the oracle makes of them."""
    rng = np.random.default_rng(seed)
    state: dict[str, Array] = {}
    found = []
    for _ in range(steps):
        inputs = {
            name: rng.integers(-128, 128, graph.shape(name)).astype(np.int8)
            for name in graph.inputs
        }
        oracle = run_graph(graph, inputs, state)
        state = state_after(graph, oracle)
        found.append((list(inputs.values()), oracle))
    return found
