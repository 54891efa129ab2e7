"""Change of element type."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.ir.graph import Tensor, Value
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.real import check_int32


@dataclass(frozen=True, slots=True)
class Cast(OneInput):
    """int32 to float32."""

    def verify(self, inputs: OneInput.Inputs[Tensor], output: Value) -> None:
        check_int32(inputs.x)
