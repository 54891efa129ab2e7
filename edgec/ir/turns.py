"""Loops: parts of a graph that repeat, with values that are carried from turn to turn.

A graph stays one list of nodes.  Operators at the border of a loop say where it begins and ends:
`TurnSlice` gives the part of a tensor that a turn reads, `Carry` a value that a turn hands to the
next one by `Update`; `TurnStack` collects the values of all turns and `TurnLast` keeps that of the
last.  What depends on the first two and not yet on the last two runs once a turn, so the loop of a
node follows from its operands.  A `Carry` without a loop is the state of the model: its turns are
the runs of the model.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgec.ir.graph import Node

CARRY_OPERAND = 1
"""Place of the carried value among the operands of an `Update`."""
MOST_TURNS = (1 << 31) - 1
"""A turn is counted in int32."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop with a number of turns that is known at compile time.

    Attributes:
        name: unique in the graph; untrusted, like the names of nodes.
        count: number of turns, at least 1.
        within: the loop that runs this one once a turn; None: a run of the model does.
        operator: ONNX's name of the recurrent operator whose cell the loop repeats; "": none.
    """

    name: str
    count: int
    within: Loop | None = None
    operator: str = ""

    @property
    def chain(self) -> tuple[Loop, ...]:
        """The loops around a turn, the outermost first, this one last."""
        return (*(self.within.chain if self.within else ()), self)

    def fewer(self, names: Set[str], less: int) -> Loop:
        """The loop in a run in which the loops of these names have `less` turns less."""
        count = self.count - less if self.name in names else self.count
        within = None if self.within is None else self.within.fewer(names, less)
        return replace(self, count=count, within=within)


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a tensor that a turn reads or writes, which moves on from turn to turn.

    Turn t has the positions ``[start + t * step, start + t * step + size)`` of the axis.

    Attributes:
        axis: axis of the tensor.
        size: positions of a turn.
        step: distance of the parts of two turns; negative where the last part comes first.
        start: first position of the part of turn 0.
    """

    axis: int
    size: int = 1
    step: int = 1
    start: int = 0

    @classmethod
    def backwards(cls, axis: int, count: int) -> Part:
        """One position a turn, of `count`, the last one first."""
        return cls(axis, step=-1, start=count - 1)

    def at(self, turn: int) -> slice:
        """The positions of a turn."""
        first = self.start + turn * self.step
        return slice(first, first + self.size)

    def index(self, turn: int) -> tuple[slice, ...]:
        """Index of an array for the part of a turn."""
        return (*[slice(None)] * self.axis, self.at(turn))

    def of_turn(self, whole: tuple[int, ...], count: int) -> tuple[int, ...]:
        """Shape of the part of a turn.

        Raises:
            ValueError: the parts do not lie in the tensor.
        """
        if not 0 <= self.axis < len(whole):
            raise ValueError(f"no axis {self.axis}")
        last = self.start + (count - 1) * self.step
        room = whole[self.axis] - self.size
        if self.size < 1 or min(self.start, last) < 0 or max(self.start, last) > room:
            raise ValueError("the parts of the turns do not lie in the tensor")
        return (*whole[: self.axis], self.size, *whole[self.axis + 1 :])

    def of_all(self, part: tuple[int, ...], count: int) -> tuple[int, ...]:
        """Shape of the tensor that is made of the parts of all turns.

        Raises:
            ValueError: the parts do not fill a tensor without gaps.
        """
        if not 0 <= self.axis < len(part) or part[self.axis] != self.size:
            raise ValueError("a part has another size")
        first = 0 if self.step > 0 else (count - 1) * self.size
        if abs(self.step) != self.size or self.start != first:
            raise ValueError("the parts of the turns leave gaps or lie over one another")
        return (*part[: self.axis], count * self.size, *part[self.axis + 1 :])

    def in_frame(self, frame: tuple[int, ...]) -> Part:
        """The part of ``x.transpose(frame)``."""
        return replace(self, axis=frame.index(self.axis))

    def fewer(self, less: int) -> Part:
        """The part in a run with `less` turns less: the last part, if it comes first, is nearer."""
        return replace(self, start=self.start + min(self.step, 0) * less)


Scope = Loop | None
"""The innermost loop that a node or a value belongs to; None: outside of all loops."""


def depth(scope: Scope) -> int:
    """Number of loops around a node."""
    return len(scope.chain) if scope else 0


def times_run(scope: Scope) -> int:
    """Number of times that a run of the model runs a node."""
    return math.prod(loop.count for loop in scope.chain) if scope else 1


def contains(outer: Scope, inner: Scope) -> bool:
    """Whether a node of `inner` may read a value of `outer`."""
    return outer is None or (inner is not None and outer in inner.chain)


def turns_between(outer: Scope, inner: Scope) -> int:
    """Turns of a loop, and of all loops around it, in a turn of another one."""
    loops = inner.chain[depth(outer) :] if inner else ()
    return math.prod(loop.count for loop in loops)


def joined(scopes: Iterable[Scope]) -> Scope:
    """The scope in which values of several scopes are known together: the innermost of them.

    Raises:
        ValueError: two of them belong to loops of which neither runs the other.
    """
    found: Scope = None
    for scope in scopes:
        if contains(found, scope):
            found = scope
        elif not contains(scope, found):
            raise ValueError("it reads values of two loops of which neither is within the other")
    return found


@dataclass(frozen=True, slots=True)
class Border:
    """Change of scope from the operands to the output of an operator at the border of a loop.

    Attributes:
        loop: the loop; None: the runs of the model.
        enters: whether the output belongs to the loop, not the operands.
        each_turn: whether the node itself runs once a turn.
    """

    loop: Scope
    enters: bool
    each_turn: bool

    @property
    def carries(self) -> bool:
        """Whether the output is a carried value: known before the first turn, new in each."""
        return self.enters and not self.each_turn


@dataclass(frozen=True, slots=True, eq=False)
class Scopes:
    """Scopes of nodes and values.

    Attributes:
        nodes: scope in which a node runs, by its name.
        values: scope of a value, by its name; graph inputs and constants have none.
    """

    nodes: Mapping[str, Scope]
    values: Mapping[str, Scope]

    @property
    def is_straight(self) -> bool:
        """True where nothing repeats."""
        return not any(self.nodes.values())


def find_scopes(nodes: Iterable[Node]) -> Scopes:
    """Scopes of nodes in topological order.

    Raises:
        ValueError: loops are not nested; the message names the node.
    """
    of_node: dict[str, Scope] = {}
    of_value: dict[str, Scope] = {}
    for node in nodes:
        try:
            read = joined(of_value.get(name) for name in node.inputs)
            of_node[node.name], written = _placed(node, read)
        except ValueError as error:
            raise ValueError(f"{node.name!r}: {error}") from error
        of_value.update(dict.fromkeys(node.outputs, written))
    return Scopes(of_node, of_value)


def _placed(node: Node, read: Scope) -> tuple[Scope, Scope]:
    """Scopes of a node and of what it computes, from that of its operands."""
    border = node.attrs.border
    if border is None:
        return read, read
    loop = border.loop
    outside = loop.within if loop else None
    if border.enters:
        if not contains(read, outside):
            raise ValueError("a loop begins with a value of its own turns, or of another loop")
        return (loop if border.each_turn else outside), loop
    if not contains(read, loop):
        raise ValueError("a loop ends with a value of another loop")
    return (loop if border.each_turn else outside), outside


@dataclass(frozen=True, slots=True)
class Turns:
    """The nodes that a loop repeats.

    Attributes:
        loop: the loop.
        body: in the order of a turn.
    """

    loop: Loop
    body: tuple[Node | Turns, ...]

    def nodes(self) -> Iterator[Node]:
        """All nodes, those of inner loops too, in order."""
        yield from flat(self.body)


def flat(items: Iterable[Node | Turns]) -> Iterator[Node]:
    """The nodes of a sequence in order."""
    for item in items:
        if isinstance(item, Turns):
            yield from item.nodes()
        else:
            yield item


def sequence(nodes: Sequence[Node], scopes: Scopes) -> tuple[Node | Turns, ...]:
    """Nodes as a tree of loops.

    Args:
        nodes: in the order of `in_turns`.
        scopes: their scopes.
    """
    items, end = _nested(nodes, scopes, 0, None)
    if end != len(nodes):
        raise ValueError(f"{nodes[end].name!r} stands outside of its loop")
    return items


def _nested(
    nodes: Sequence[Node], scopes: Scopes, start: int, scope: Scope
) -> tuple[tuple[Node | Turns, ...], int]:
    """Items of one scope from a node on, and the number of the first node after them."""
    items: list[Node | Turns] = []
    index = start
    while index < len(nodes):
        own = scopes.nodes[nodes[index].name]
        if own == scope:
            items.append(nodes[index])
            index += 1
        elif contains(scope, own) and own is not None:
            inner = own.chain[depth(scope)]
            body, index = _nested(nodes, scopes, index, inner)
            items.append(Turns(inner, body))
        else:
            break
    return tuple(items), index


def in_turns(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Nodes in an order in which each loop stands in one piece; stable.

    An `Update` comes after everything that reads the carried value of the turn, but for other
    updates: carried values may be exchanged.

    Args:
        nodes: in topological order.

    Raises:
        ValueError: there is no such order: a loop needs a value that depends on its own result.
    """
    scopes = find_scopes(nodes)
    if scopes.is_straight and not any(node.attrs.updates for node in nodes):
        return tuple(nodes)
    return tuple(_ordered(nodes, None, scopes))


def _ordered(nodes: Sequence[Node], scope: Scope, scopes: Scopes) -> Iterator[Node]:
    """Nodes of one scope in order, each loop in it in one piece."""
    groups: dict[Loop | str, list[Node]] = {}
    for node in nodes:
        own = scopes.nodes[node.name]
        key = node.name if own == scope or own is None else own.chain[depth(scope)]
        groups.setdefault(key, []).append(node)
    for key in _sorted_groups(groups):
        if isinstance(key, Loop):
            yield from _ordered(groups[key], key, scopes)
        else:
            yield from groups[key]


def _sorted_groups(groups: Mapping[Loop | str, Sequence[Node]]) -> Iterator[Loop | str]:
    """The keys of groups of nodes, each after those that it needs; stable."""
    keys = list(groups)
    needs = _needs(groups)
    followers: dict[int, list[int]] = {index: [] for index in range(len(keys))}
    for index, needed in enumerate(needs):
        for other in needed:
            followers[other].append(index)
    missing = [len(needed) for needed in needs]
    ready = [index for index, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    found = 0
    while ready:
        index = heapq.heappop(ready)
        found += 1
        yield keys[index]
        for follower in followers[index]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, follower)
    if found < len(keys):
        raise ValueError("a loop needs a value that depends on its own result")


def _needs(groups: Mapping[Loop | str, Sequence[Node]]) -> list[set[int]]:
    """The numbers of the groups that must come before each group."""
    maker: dict[str, int] = {}
    readers: dict[str, set[int]] = {}
    for index, (key, group) in enumerate(groups.items()):
        for node in group:
            maker.update(dict.fromkeys(node.outputs, index))
            if isinstance(key, Loop) or not node.attrs.updates:
                for name in node.inputs:
                    readers.setdefault(name, set()).add(index)
    found = []
    for index, group in enumerate(groups.values()):
        needed = {maker[name] for node in group for name in node.inputs if name in maker}
        for node in group:
            if node.attrs.updates:
                needed |= readers.get(node.inputs[CARRY_OPERAND], set())
        found.append(needed - {index})
    return found
