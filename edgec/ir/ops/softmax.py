"""Softmax over the last axis, and its logarithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.layout import Freedom
from edgec.ir.ops.elementwise import OneInput


@dataclass(frozen=True, slots=True)
class Softmax(OneInput):
    """``exp(beta * x) / sum(exp(beta * x))`` over the last axis.

    Attributes:
        beta: one over the temperature, > 0.  It is 1 wherever values have no scales yet: there a
            product before the operator says the same, and every rewrite understands it.
    """

    beta: float = 1.0

    ENDS_IN_CLAMP: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST


@dataclass(frozen=True, slots=True)
class LogSoftmax(OneInput):
    """``x - log(sum(exp(x)))`` over the last axis."""

    ENDS_IN_CLAMP: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST
