"""Convolutions and products of matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir.graph import Constant, Node, Tensor, Value
from edgec.ir.layout import Freedom
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator
from edgec.ir.shapes import (
    Pads2D,
    Pair,
    check_per_output,
    conv_shape,
    conv_transpose_shape,
    gemm_shape,
    matmul_shape,
    need,
)


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


@dataclass(frozen=True, slots=True)
class Conv(Weighted):
    """x [N, H, W, I], w const [O, KH, KW, I/group], b const [O]; y [N, OH, OW, O]."""

    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    group: int = 1

    def infer_shape(self, inputs: Weighted.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b)
        return conv_shape(inputs.x, inputs.w, self)

    def macs(self, inputs: Weighted.Inputs[Shape], output: Shape) -> int:
        # Each output element reads one row of weights.
        return math.prod(output) * math.prod(inputs.w[1:])

    def mixes_positions(self, inputs: Weighted.Inputs[Shape], axis: int) -> bool:
        return (*inputs.w[1:3], *self.strides) != (1, 1, 1, 1) or any(self.pads)


@dataclass(frozen=True, slots=True)
class ConvTranspose(Weighted):
    """x [N, H, W, I], w const [O, KH, KW, I/group], b const [O]; y [N, OH, OW, O].

    Output size: ``(H-1)*stride + (KH-1)*dilation + 1 + output_padding - top - bottom``.
    """

    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    group: int = 1
    output_padding: Pair = (0, 0)

    def infer_shape(self, inputs: Weighted.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b)
        return conv_transpose_shape(inputs.x, inputs.w, self)

    def macs(self, inputs: Weighted.Inputs[Shape], output: Shape) -> int:
        # Each input position meets every weight of its group.
        return math.prod(inputs.x[:3]) * math.prod(inputs.w)

    def mixes_positions(self, inputs: Weighted.Inputs[Shape], axis: int) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Gemm(Weighted):
    """x [..., K], w const [N, K], b const [N]; ``y = x @ w.T + b`` [..., N]."""

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST

    def infer_shape(self, inputs: Weighted.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b)
        return gemm_shape(inputs.x, inputs.w)

    def macs(self, inputs: Weighted.Inputs[Shape], output: Shape) -> int:
        # Each output element reads one row of weights.
        return math.prod(output) * math.prod(inputs.w[1:])


@dataclass(frozen=True, slots=True)
class MatMul(RealOperator):
    """scale * (a @ b) of two values: a [..., M, K], b [..., K, N]; leading axes broadcast.

    transpose_a: a is stored [..., K, M]; transpose_b: b is stored [..., N, K].
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """The two matrices."""

        a: T
        b: T

    transpose_a: bool = False
    transpose_b: bool = False
    scale: float = 1.0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return matmul_shape(inputs.a, inputs.b, self.transpose_a, self.transpose_b)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * self.terms(inputs)

    def terms(self, inputs: Inputs[Shape]) -> int:
        """Number of products in one element of the output."""
        return inputs.a[-2 if self.transpose_a else -1]

    def mixes_positions(self, inputs: Inputs[Shape], axis: int) -> bool:
        return True
