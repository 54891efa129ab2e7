"""Random integer graphs of loops and state, made to reach every way in which bytes are shared."""

from __future__ import annotations

import numpy as np
from loop_nets import ALL_SORTS, LoopMaker

from edgec.base.errors import InternalError
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.turns import Loop, Part, Scope

_MOST_DEPTH = 3


class _Random:
    """One graph: values of one shape [1, 1, width], and stacks of them [1, n, width]."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.m = LoopMaker(seed)
        self.width = int(self.rng.choice([3, 8, 8, 16]))
        self.loops = 0
        self.stacks: dict[Scope, list[tuple[str, int]]] = {}

    def pick(self, items: list[str]) -> str:
        """One of the values, recent ones more often."""
        near = items[-3:] if self.rng.random() < 0.6 else items
        return near[int(self.rng.integers(len(near)))]

    def grow(self, items: list[str], count: int) -> None:
        """Add some values that are computed from others."""
        m = self.m
        for _ in range(count):
            x = self.pick(items)
            match int(self.rng.integers(6)):
                case 0:
                    items.append(m.table(x))
                case 1 | 2:
                    items.append(m.sum_of(x, self.pick(items)))
                case 3:
                    flat = m.same(qops.QReshape((1, self.width)), x)
                    flat = m.table(flat) if self.rng.random() < 0.5 else flat
                    items.append(m.same(qops.QReshape((1, 1, self.width)), flat))
                case 4:
                    items.append(m.front(x, 1, 0, 1))
                case 5:
                    flat = m.dense(m.same(qops.QReshape((1, self.width)), x), self.width)
                    items.append(m.same(qops.QReshape((1, 1, self.width)), flat))

    def start(self, items: list[str]) -> str:
        """An initial value of a loop."""
        if self.rng.random() < 0.5:
            return self.pick(items)
        value = None if self.rng.random() < 0.5 else ALL_SORTS
        return self.m.start(1, 1, self.width, value=value)

    def loop(self, outer: list[str], scope: Scope, stacks: list[tuple[str, int]]) -> None:
        """A loop; what it gives is added to the values and stacks around it."""
        m, rng = self.m, self.rng
        self.loops += 1
        known = [(s, n) for s, n in stacks if n > 1]
        turns = int(rng.integers(2, 5)) if not known else known[int(rng.integers(len(known)))][1]
        loop = Loop(f"loop{self.loops}", turns, scope)
        inside: list[str] = []
        for stack, size in stacks:
            if size == turns and rng.random() < 0.8:
                part = Part(1) if rng.random() < 0.5 else Part.backwards(1, turns)
                inside.append(m.slice_of(stack, loop, part))
        carries = [m.carry(self.start(outer), loop) for _ in range(int(rng.integers(0, 4)))]
        inside += carries
        if not inside:
            return
        items = [*outer[-2:], *inside]
        self.grow(items, int(rng.integers(1, 5)))
        deep = len(loop.chain)
        if deep < _MOST_DEPTH and self.loops < 5 and rng.random() < 0.5:
            self.loop(items, loop, [])
        self.grow(items, int(rng.integers(0, 3)))
        mine = [name for name in items if name not in outer]
        for carry in carries:
            m.update(self.pick(items if rng.random() < 0.3 else mine), carry)
        updates = [f"next {carry}" for carry in carries]
        for name in {self.pick(mine + updates) for _ in range(2)}:
            if rng.random() < 0.6:
                part = Part(1) if rng.random() < 0.6 else Part.backwards(1, turns)
                stacks.append((m.stacked(name, loop, part, m.builder.fresh("stack")), turns))
            else:
                outer.append(m.last(name, loop, m.builder.fresh("last")))


def random_loops(seed: int) -> Graph | None:
    """A graph; None where the one of this seed would have no order or no output."""
    made = _Random(seed)
    m, rng = made.m, made.rng
    x = m.input(1, 1, made.width)
    rows = int(rng.integers(2, 5))
    stacks = [(m.input(1, rows, made.width, name="rows"), rows)]
    items = [x]
    states = [
        m.carry(m.start(1, 1, made.width, value=ALL_SORTS), None, m.builder.fresh("state"))
        for _ in range(int(rng.integers(0, 3)))
    ]
    items += states
    made.grow(items, int(rng.integers(0, 3)))
    for _ in range(int(rng.integers(1, 4))):
        made.loop(items, None, stacks)
    made.grow(items, int(rng.integers(0, 3)))
    for state in states:
        m.update(made.pick(items), state)
    outputs = {made.pick(items), stacks[-1][0], *(f"next {s}" for s in states[:1])}
    wanted = [name for name in sorted(outputs) if name not in ("x", "rows")]
    try:
        return m.ready(*wanted) if wanted else None
    except InternalError as error:
        if "depends on its own result" in error.what or "cycle" in error.what:
            return None
        raise
