"""Quantization as a QDQ model writes it: gone once `passes.absorb_qdq` has read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QuantizeLinear(OneInput):
    """x real; y = the codes, held as a Value with `quant` set and an integer dtype."""

    REAL_STAGE_ONLY: ClassVar[bool] = True

    def verify(self, inputs: OneInput.Inputs[Tensor], output: Value) -> None:
        need(output.dtype is not DType.FLOAT32, "QuantizeLinear gives an integer value")


@dataclass(frozen=True, slots=True)
class DequantizeLinear(OneInput):
    """x = a Value with an integer dtype and `quant` set; y real."""

    REAL_STAGE_ONLY: ClassVar[bool] = True

    def verify(self, inputs: OneInput.Inputs[Tensor], output: Value) -> None:
        need(output.dtype is DType.FLOAT32, "DequantizeLinear gives a float value")
