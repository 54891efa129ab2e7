"""Constants that differ from turn to turn: the number of the turn, and what is computed of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.turns import Loop, Part, contains, find_scopes

_REMEDY = "use it as an index of Gather or Slice, or cast it to float"


MAX_EVALUATED = 20_000
"""Most turns for which numbers are computed at import."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Turned(Constant):
    """A tensor that is known at compile time and differs from turn to turn.

    Attributes:
        array: what it is in the first turn.
        loop: whose turns.
        turns: what it is in all turns, [count, ...].
    """

    loop: Loop
    turns: Array


def turned(name: str, loop: Loop, turns: Array) -> Constant:
    """A constant of all turns; a plain one where it is the same in each."""
    if np.array_equal(turns, np.broadcast_to(turns[:1], turns.shape)):
        return Constant(name, turns[0])
    return Turned(name, turns[0], loop=loop, turns=turns)


def is_number(x: Tensor) -> TypeGuard[Constant]:
    """Whether a tensor holds whole numbers or truth values that are known."""
    return isinstance(x, Constant) and x.quant is None and x.array.dtype.kind in "iub"


def starts_of(numbers: Iterable[Tensor]) -> list[Array]:
    """The whole numbers with which a loop begins to count.

    Raises:
        UnsupportedError: they differ from turn to turn of a loop around it.
    """
    found = []
    for x in numbers:
        if isinstance(x, Turned):
            raise UnsupportedError("it begins with the number of a turn", "begin with a constant")
        if is_number(x):
            found.append(x.array)
    return found


def turn_number(name: str, loop: Loop) -> Constant:
    """The number of the turn, a scalar."""
    return turned(name, loop, np.arange(loop.count, dtype=np.int64))


def as_value(ctx: RealBuilder, x: Turned) -> Tensor:
    """The real numbers of a constant of all turns, as a part of a tensor for each turn.

    Raises:
        UnsupportedError: they are whole numbers.
    """
    if x.turns.dtype.kind != "f":
        raise UnsupportedError("it computes with the number of the turn", _REMEDY)
    whole = Constant(f"{x.name}/turns", x.turns.astype(np.float32))
    part = ctx.emit(ops.TurnSlice(x.loop, Part(0)), whole)
    return ctx.reshape(part, x.turns.shape[1:])


def part_of_turn(
    ctx: RealBuilder, x: Value, loop: Loop, axis: int, first: Array, size: int
) -> Value:
    """The positions of an axis that a turn reads.

    Args:
        ctx: the graph under construction.
        x: known before the loop.
        loop: whose turns.
        axis: an axis of x.
        first: the first position of each turn, int [count].
        size: positions of a turn.

    Raises:
        UnsupportedError: the positions do not move on evenly, lie outside of x, or x is computed in
            the loop.
    """
    step = int(first[1] - first[0]) if len(first) > 1 else 1
    if not np.array_equal(np.diff(first), np.full(len(first) - 1, step)):
        raise UnsupportedError(
            "the positions that it reads do not move on evenly from turn to turn",
            "read the next positions in each turn",
        )
    if first.min() < 0 or first.max() + size > x.shape[axis]:
        raise UnsupportedError("a turn reads outside of the tensor", "correct the model")
    scopes = find_scopes(ctx.builder.nodes.values()).values
    if not contains(scopes.get(x.name), loop.within):
        raise UnsupportedError(
            "it reads a part of what the turn computes by the number of the turn",
            "read parts of tensors that are known before the loop",
        )
    return ctx.emit(ops.TurnSlice(loop, Part(axis, size, step, int(first[0]))), x)
