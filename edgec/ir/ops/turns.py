"""Border of a loop: parts of tensors that turns read and write, and values that turns hand on."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from edgec.ir.layout import Freedom, Perm
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.real import RealOperator
from edgec.ir.shapes import need
from edgec.ir.turns import Border, Loop, Part, Scope


@dataclass(frozen=True, slots=True)
class _Moved(OneInput):
    """A value that passes the border of a loop as it is."""

    CONSTANTS_FOLLOW: ClassVar[bool] = True
    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY


@dataclass(frozen=True, slots=True)
class _OfPart(_Moved):
    """A value of which each turn has a part."""

    loop: Loop
    part: Part

    def in_frame(self, frame: Perm) -> Self:
        return replace(self, part=self.part.in_frame(frame))

    def in_fewer_turns(self, loops: Set[str], less: int) -> Self:
        part = self.part.fewer(less) if self.loop.name in loops else self.part
        return replace(self, loop=self.loop.fewer(loops, less), part=part)


@dataclass(frozen=True, slots=True)
class TurnSlice(_OfPart):
    """The part of x that a turn reads: y = x[..., start : start + size, ...] of `part`."""

    @property
    def border(self) -> Border:
        return Border(self.loop, enters=True, each_turn=True)

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        return self.part.of_turn(inputs.x, self.loop.count)


@dataclass(frozen=True, slots=True)
class TurnStack(_OfPart):
    """The values x of all turns as one tensor: y[..., start : start + size, ...] = x of `part`."""

    @property
    def border(self) -> Border:
        return Border(self.loop, enters=False, each_turn=True)

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        return self.part.of_all(inputs.x, self.loop.count)


@dataclass(frozen=True, slots=True)
class TurnLast(_Moved):
    """The value x of the last turn."""

    loop: Loop

    @property
    def border(self) -> Border:
        return Border(self.loop, enters=False, each_turn=False)

    def in_fewer_turns(self, loops: Set[str], less: int) -> Self:
        return replace(self, loop=self.loop.fewer(loops, less))


@dataclass(frozen=True, slots=True)
class Carry(_Moved):
    """A carried value: x in the first turn, in each later one the `Update` of the turn before.

    Without a loop it is a part of the state of the model: x is a constant, the value after a reset,
    and the turns are the runs of the model.
    """

    loop: Scope

    @property
    def border(self) -> Border:
        return Border(self.loop, enters=True, each_turn=False)

    def in_fewer_turns(self, loops: Set[str], less: int) -> Self:
        loop = None if self.loop is None else self.loop.fewer(loops, less)
        return replace(self, loop=loop)


@dataclass(frozen=True, slots=True)
class Update(RealOperator):
    """The number that a carried value has in the next turn: y = x.

    Everything that reads `carry` in a turn runs before it.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T
        carry: T

    CONSTANTS_FOLLOW: ClassVar[bool] = True
    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    @property
    def updates(self) -> bool:
        return True

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.x == inputs.carry, "a carried value has one shape for all turns")
        return inputs.x
