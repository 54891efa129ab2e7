"""What every integer operator says of itself, beyond `Operator`."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from edgec.base.errors import InternalError
from edgec.ir.graph import Node
from edgec.ir.operator import Operator


class IntegerOperator(Operator):
    """Base of the operators of the integer stage (`ir.qops`): all their numbers are final."""

    __slots__ = ()


@runtime_checkable
class Clamped(Protocol):
    """An operator whose output is limited to codes from `act_min` to `act_max`."""

    @property
    def act_min(self) -> int:
        """Least code."""

    @property
    def act_max(self) -> int:
        """Largest code."""


def clamp_of(node: Node) -> tuple[int, int]:
    """(act_min, act_max) of a node whose operator is `Clamped`; InternalError for any other."""
    if not isinstance(node.attrs, Clamped):
        raise InternalError(f"{node.op} has no clamp", where=node.name)
    return node.attrs.act_min, node.attrs.act_max
