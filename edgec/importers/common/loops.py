"""Loops as a front of any file format builds them: parts of tensors, carried values, results."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.limits import MAX_LOOP_DEPTH, MAX_LOOPS, MAX_TURNS
from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.common.turned import Turned, as_value, turned
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.turns import Loop, Part, turns_between


class LoopBuilder(RealBuilder):
    """A graph under construction that may hold loops.

    Attributes:
        loop: the loop whose body is translated.
        loops: how many there are so far.
    """

    def __init__(self, name: str, reserved: frozenset[str]) -> None:
        super().__init__(name, reserved)
        self.loop: Loop | None = None
        self.loops = 0

    def loop_name(self, name: str) -> str:
        """A name of its own for a loop, or for the names in a body."""
        self.loops += 1
        return f"{name}#{self.loops}"

    def as_value(self, x: Tensor) -> Tensor:
        """A tensor that a node of the graph can read: constants of all turns become parts."""
        return as_value(self, x) if isinstance(x, Turned) else x


def new_loop(ctx: LoopBuilder, name: str, count: int, operator: str = "") -> Loop:
    """A loop within the present one, checked against the limits; `operator` as in `Loop`."""
    if count < 1:
        raise UnsupportedError("it has no turns", "leave the node out")
    found = Loop(ctx.loop_name(name), count, ctx.loop, operator)
    if len(found.chain) > MAX_LOOP_DEPTH:
        raise UnsupportedError(
            f"more than {MAX_LOOP_DEPTH} loops lie within one another", "unroll the inner ones"
        )
    if turns_between(None, found) > MAX_TURNS:
        raise UnsupportedError(
            f"it has {turns_between(None, found):,} turns; the limit is {MAX_TURNS:,}",
            "give it fewer turns, or a number of turns instead of a condition",
        )
    if ctx.loops > MAX_LOOPS:
        raise UnsupportedError(f"the model has more than {MAX_LOOPS} loops", "unroll some")
    return found


def carry(ctx: LoopBuilder, x: Tensor, loop: Loop) -> Value:
    """A value that turns hand on; x before the first."""
    if not is_real(x):
        raise UnsupportedError(
            f"it carries {x.dtype.value} numbers from turn to turn",
            "carry real numbers; count turns by the number that Loop gives",
        )
    return ctx.emit(ops.Carry(loop), ctx.as_value(x))


def is_real(x: Tensor) -> bool:
    """Whether a tensor holds real numbers, or codes of which is known what they stand for."""
    return x.dtype is DType.FLOAT32 or (isinstance(x, Constant) and x.quant is not None)


def part(ctx: LoopBuilder, x: Tensor, loop: Loop, axis: int, *, backwards: bool) -> Tensor:
    """The slice of a scanned input for a turn, without its axis."""
    x = ctx.as_value(x)
    if isinstance(x, Constant) and x.quant is None:
        turns = np.moveaxis(x.array, axis, 0)
        return turned(x.name, loop, turns[::-1] if backwards else turns)
    part = Part.backwards(axis, loop.count) if backwards else Part(axis)
    y = ctx.emit(ops.TurnSlice(loop, part), x)
    return ctx.reshape(y, (*x.shape[:axis], *x.shape[axis + 1 :]))


def updated(ctx: LoopBuilder, loop: Loop, carry: Value, x: Tensor, *, is_used: bool) -> Tensor:
    """A carried value after the last turn, if it is used; x in the turn."""
    y = ctx.emit(ops.Update(), ctx.as_value(x), carry, quant=carry.quant)
    return ctx.emit(ops.TurnLast(loop), y, quant=carry.quant) if is_used else y


def stacked(ctx: LoopBuilder, y: Tensor, loop: Loop, axis: int, *, backwards: bool) -> Tensor:
    """The results of all turns, along a new axis."""
    axis = normal_axis(axis, len(y.shape) + 1)
    if isinstance(y, Constant) and y.quant is None:
        turns = y.turns if isinstance(y, Turned) and y.loop == loop else None
        if turns is not None or not isinstance(y, Turned):
            turns = np.broadcast_to(y.array, (loop.count, *y.shape)) if turns is None else turns
            return Constant(y.name, np.moveaxis(turns[::-1] if backwards else turns, 0, axis))
    x = ctx.reshape(ctx.as_value(y), (*y.shape[:axis], 1, *y.shape[axis:]))
    part = Part.backwards(axis, loop.count) if backwards else Part(axis)
    return ctx.emit(ops.TurnStack(loop, part), x)
