"""What the layers with trained weights share: `Conv`, `ConvTranspose`, `Gemm`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir.graph import Constant, Node, Tensor, Value
from edgec.ir.operator import Operands, T
from edgec.ir.real import RealOperator
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class Weighted(RealOperator):
    """A layer ``y = weights * x + bias``."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Input x, weights w (const, outputs O on axis 0), bias b (const [O])."""

        x: T
        w: T
        b: T | None = None

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"w", "b"})
    ENDS_IN_CLAMP: ClassVar[bool] = True

    def verify_annotated(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(inputs.w.dtype is DType.INT8, "weights are not int8")
        for constant in (inputs.w, inputs.b):
            if isinstance(constant, Constant):
                _check_quant(constant)
        need(inputs.b is None or inputs.b.dtype is DType.INT32, "the bias is not int32")


def layer_inputs(node: Node) -> Weighted.Inputs[str]:
    """The operands of a layer by name; InternalError for a node that is none."""
    return node.attrs_as(Weighted).Inputs.of(node.inputs)


def _check_quant(constant: Constant) -> None:
    quant = constant.quant
    if quant is None or quant.axis != 0:
        raise ValueError("weights are not per channel")
    need(not any(quant.zero_point), "weights are not symmetric")
    need(len(quant.scale) == constant.shape[0], "one scale per output channel is needed")
