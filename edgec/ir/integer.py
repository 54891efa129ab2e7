"""What every integer operator says of itself, beyond `Operator`."""

from __future__ import annotations

from edgec.ir.operator import Operator


class IntegerOperator(Operator):
    """Base of the operators of the integer stage (`ir.qops`): all their numbers are final."""

    __slots__ = ()
