"""Border of a loop: parts of tensors that turns read and write, and values that turns hand on.

Codes pass unchanged: operands and output have one quantization.  The oracle of a loop is
`interp.run_graph`, which asks `compute` for the part of one turn.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import MOVABLE, Operand, tensor, value
from edgec.ir.shapes import need
from edgec.ir.turns import Border, Loop, Part, Scope


@dataclass(frozen=True, slots=True)
class _Moved(IntegerOperator):
    """An operator with one operand that passes codes on."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*MOVABLE))

    KEEPS_INTEGERS: ClassVar[bool] = True

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        """The codes as they are; of a tensor with a part for each turn, that of the turn."""
        return inputs.x.array

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)


@dataclass(frozen=True, slots=True)
class _OfPart(_Moved):
    """A value of which each turn has a part."""

    loop: Loop
    part: Part

    def in_fewer_turns(self, loops: Set[str], less: int) -> Self:
        part = self.part.fewer(less) if self.loop.name in loops else self.part
        return replace(self, loop=self.loop.fewer(loops, less), part=part)


@dataclass(frozen=True, slots=True)
class QTurnSlice(_OfPart):
    """The part of x that a turn reads; see `ops.TurnSlice`."""

    @property
    def border(self) -> Border:
        return Border(self.loop, enters=True, each_turn=True)

    def infer_shape(self, inputs: _Moved.Inputs[Shape]) -> Shape:
        return self.part.of_turn(inputs.x, self.loop.count)


@dataclass(frozen=True, slots=True)
class QTurnStack(_OfPart):
    """The values x of all turns as one tensor; see `ops.TurnStack`."""

    @property
    def border(self) -> Border:
        return Border(self.loop, enters=False, each_turn=True)

    def infer_shape(self, inputs: _Moved.Inputs[Shape]) -> Shape:
        return self.part.of_all(inputs.x, self.loop.count)


@dataclass(frozen=True, slots=True)
class QTurnLast(_Moved):
    """The value x of the last turn."""

    loop: Loop

    @property
    def border(self) -> Border:
        return Border(self.loop, enters=False, each_turn=False)

    def in_fewer_turns(self, loops: Set[str], less: int) -> Self:
        return replace(self, loop=self.loop.fewer(loops, less))


@dataclass(frozen=True, slots=True)
class QCarry(_Moved):
    """A carried value, x in the first turn; without a loop, state of the model, x after a reset.

    Attributes:
        loop: whose turns it is carried through; None: the runs of the model.
        held_runs: runs after a reset that leave it x, since they have no whole input yet.
    """

    loop: Scope
    held_runs: int = 0

    @property
    def border(self) -> Border:
        return Border(self.loop, enters=True, each_turn=False)

    def in_fewer_turns(self, loops: Set[str], less: int) -> Self:
        loop = None if self.loop is None else self.loop.fewer(loops, less)
        return replace(self, loop=loop)


@dataclass(frozen=True, slots=True)
class QUpdate(IntegerOperator):
    """The codes that a carried value has in the next turn: y = x; see `ops.Update`."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*MOVABLE))
        carry: T = field(metadata=value(*MOVABLE))

    KEEPS_INTEGERS: ClassVar[bool] = True

    @property
    def updates(self) -> bool:
        return True

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.x == inputs.carry, "a carried value has one shape for all turns")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return inputs.x.array

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x, inputs.carry), output)
