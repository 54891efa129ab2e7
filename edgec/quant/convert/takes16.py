"""Operators that take tensors of int16 beside those of int8; all others read int8 copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from edgec.base.dtypes import DType
from edgec.ir import ops
from edgec.ir.operator import OperatorTable
from edgec.ir.ops.elementwise import UnaryKind
from edgec.quant.convert.context import Conversion
from edgec.quant.convert.rules import quotient_numbers
from edgec.quant.convert.softmax16 import has_softmax16
from edgec.quant.scales.groups import is_real

Predicate: TypeAlias = Callable[[Conversion], bool]
TAKES16 = OperatorTable[Predicate]()
"""Whether a node can be converted as it is; operators without an entry never can."""


def takes16(c: Conversion) -> bool:
    """Whether a node some of whose tensors are int16 is converted as it is."""
    found = TAKES16.get(type(c.node.attrs))
    return found is not None and found(c)


@TAKES16.entry(ops.Add, ops.Sub, ops.Mul, ops.AveragePool, ops.MatMul)
@TAKES16.entry(ops.Conv, ops.ConvTranspose, ops.Gemm)
@TAKES16.entry(ops.LayerNormalization, ops.RMSNormalization, ops.Clip, ops.ArgMax)
def always(_c: Conversion) -> bool:
    """Operators whose integer form takes codes of any type."""
    return True


@TAKES16.entry(ops.Div)
def div(c: Conversion) -> bool:
    """All but quotients that are too large for the output."""
    real = ops.Div.Inputs.of(c.node.inputs)
    return quotient_numbers(c.operand(real.a), c.operand(real.b), c.end) is not None


@TAKES16.entry(ops.Reduce)
def reduce(c: Conversion) -> bool:
    """Means and sums; the largest or smallest of the same int16 codes."""
    kind = c.node.attrs_as(ops.Reduce).kind
    return moved(c) if kind.selects else kind in (ops.ReduceKind.MEAN, ops.ReduceKind.SUM)


@TAKES16.entry(ops.Compare)
def compare(c: Conversion) -> bool:
    """All but equality: numbers that are equal have the same codes only where these are few."""
    return c.node.attrs_as(ops.Compare).kind is not ops.CompareKind.EQUAL


@TAKES16.entry(ops.Softmax)
def softmax(c: Conversion) -> bool:
    """What the table of int16 reaches."""
    x, row = c.operand(c.node.input), c.graph.shape(c.node.input)[-1]
    return has_softmax16(x.scale * c.node.attrs_as(ops.Softmax).beta, row)


@TAKES16.entry(ops.Unary)
def unary(c: Conversion) -> bool:
    """Functions of numbers."""
    return c.node.attrs_as(ops.Unary).kind is not UnaryKind.NOT


@TAKES16.entry(ops.Reshape, ops.Transpose, ops.Slice, ops.Concat, ops.MaxPool)
@TAKES16.entry(ops.TurnSlice, ops.TurnStack, ops.TurnLast, ops.Carry, ops.Update)
@TAKES16.entry(ops.Maximum, ops.Minimum, ops.Where)
def moved(c: Conversion) -> bool:
    """Between tensors of the same int16 codes."""
    real = [name for name in c.node.inputs if is_real(c.graph, name)]
    found = [c.codes16(name) for name in real]
    return c.y.dtype is DType.INT16 and all(x is not None and x.quant == c.y for x in found)


@TAKES16.entry(ops.LogMel)
def log_mel(_c: Conversion) -> bool:
    """Samples of any codes; logarithms of int16 codes of their own."""
    return True


@TAKES16.entry(ops.TopK)
def top_k(c: Conversion) -> bool:
    """Indices, or elements of the same int16 codes."""
    return c.node.attrs_as(ops.TopK).indices or moved(c)


@TAKES16.entry(ops.Pad)
def pad(c: Conversion) -> bool:
    """Padding is bytes of 0."""
    attrs = c.node.attrs_as(ops.Pad)
    return moved(c) and (attrs.mode is not ops.PadMode.CONSTANT or attrs.value == 0)


@TAKES16.entry(ops.Resize)
def resize(c: Conversion) -> bool:
    """Copies of pixels, no lines between them."""
    return moved(c) and c.node.attrs_as(ops.Resize).mode is ops.ResizeMode.NEAREST
