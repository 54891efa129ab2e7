"""Softmax over the last axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.layout import Freedom
from edgec.ir.ops.elementwise import OneInput


@dataclass(frozen=True, slots=True)
class Softmax(OneInput):
    """``exp(x) / sum(exp(x))`` over the last axis."""

    ENDS_IN_CLAMP: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST
