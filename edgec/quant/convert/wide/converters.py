"""The operators of networks with 16-bit activations, and the tensors that they may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from edgec.ir import ops
from edgec.ir.operator import OperatorTable
from edgec.ir.ops import PadMode
from edgec.quant.convert.wide.conversion import FileConversion

WideCheck: TypeAlias = Callable[[FileConversion], None]
WIDE_CHECKS = OperatorTable[WideCheck]()
"""What refuses a node that TensorFlow Lite Micro does not compute either."""


@WIDE_CHECKS.entry(ops.Conv, ops.Gemm, ops.AveragePool, ops.Clip, ops.Unary)
def any_types(_c: FileConversion) -> None:
    """Operators whose rules check the types."""


@WIDE_CHECKS.entry(ops.Reshape, ops.Transpose, ops.Slice, ops.Concat, ops.MaxPool, ops.Pad)
def moved(c: FileConversion) -> None:
    """Operators that move codes, between tensors of one scale; kernels pad with bytes of 0."""
    match c.node.attrs:
        case ops.Pad(mode=PadMode.CONSTANT, value=value) if value != 0:
            raise c.error("it pads with another number than 0")
    for name in c.node.inputs:
        if c.operand(name).quant != c.y:
            raise c.error(f"the scale of its operand {name!r} is not that of its output")


@WIDE_CHECKS.entry(ops.Add, ops.Sub, ops.Mul, ops.Softmax)
def all_int16(c: FileConversion) -> None:
    """Functions of int16 tensors."""
    for name in c.node.inputs:
        c.widened(name)
