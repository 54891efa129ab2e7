"""The contract of the operators of `qops_transformer`: operands, element types, numbers.

Shapes are checked by `infer_shapes`; that no intermediate overflows by `quant.intervals`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT16_MAX, PRE_SHIFT_MAX
from edgec.ir import qops
from edgec.ir import qops_transformer as qt
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import ReduceKind

Check = Callable[[bool, str], None]

WITH_31_BITS = (
    *(qops.QConv, qops.QConvTranspose, qops.QGemm, qops.QPooledConv, qops.QPooledGemm),
    *(qops.QMul, qops.QPRelu, qops.QSoftmax, qops.QAveragePool),
)
"""Operators that requantize by the 31-bit multiplier (and `QReduce`, unless it is MAX)."""

_BYTE, _WORD = (DType.INT8,), (DType.INT16,)
_CODES = (DType.INT8, DType.INT16)
_INDEX = (DType.INT32,)
_WEIGHTED = (_BYTE, _BYTE, _INDEX, _WORD)
_OPERANDS: Mapping[type, tuple[tuple[DType, ...], ...]] = MappingProxyType(
    {
        qt.QGemm16x15: _WEIGHTED,
        qt.QConv16x15: _WEIGHTED,
        qt.QMatMul16x15: (_BYTE, _BYTE),
        qt.QMul16x15: (_BYTE, _BYTE),
        qt.QReduce16x15: (_CODES,),
        qt.QRescale16x15: (_CODES,),
        qt.QAdd16: (_CODES, _CODES),
        qt.QEmbedding: (_INDEX, _CODES),
        qt.QNorm: (_CODES, _WORD, _INDEX),
        qt.QAttention: (_BYTE, _BYTE, _BYTE, _INDEX),
        qt.QIsEqual: (_INDEX,),
        qt.QSoftmax16x15: (_BYTE,),
    }
)
"""Element types that each input may have; tables, residuals, keys and biases follow."""
_CONSTANTS: Mapping[type, tuple[int, ...]] = MappingProxyType(
    {
        qt.QGemm16x15: (1, 2, 3),
        qt.QConv16x15: (1, 2, 3),
        qt.QEmbedding: (1,),
        qt.QNorm: (1, 2),
        qt.QAttention: (3,),
    }
)
"""Inputs that must be constants."""
_LIMITS: Mapping[DType, tuple[int, int]] = MappingProxyType(
    {DType.INT8: (-128, 127), DType.INT16: (-32768, 32767)}
)
_TABLE_LIMITS = (-qt.TABLE_SIZE // 2, qt.TABLE_SIZE // 2 - 1)


def check_one_arithmetic(graph: Graph, check: Check) -> None:
    """Check that a graph with an operator of `qops_transformer` has none of the 31-bit multiplier.

    Args:
        graph: INTEGER stage.
        check: called with a condition and the message of its violation.
    """
    if not any(isinstance(node.attrs, qt.TRANSFORMER) for node in graph.nodes):
        return
    for node in graph.nodes:
        summed = isinstance(node.attrs, qops.QReduce) and node.attrs.kind is not ReduceKind.MAX
        mixed = isinstance(node.attrs, WITH_31_BITS) or summed
        check(not mixed, f"{node.name}: {node.op} requantizes otherwise than the transformer")


def check_transformer_node(graph: Graph, node: Node, check: Check) -> None:
    """Check operands and numbers of one node.

    Args:
        graph: INTEGER stage, its shapes already checked.
        node: of an operator of `qops_transformer`.
        check: called with a condition and the message of its violation.
    """
    check(all(node.inputs), "an input is absent")
    _check_operands(graph, node, check)
    _check_shifts(graph, node, check)
    _check_numbers(node.attrs, check)
    _check_output(graph, node, check)


def _check_operands(graph: Graph, node: Node, check: Check) -> None:
    attrs = node.attrs
    wanted = _OPERANDS[type(attrs)]
    if getattr(attrs, "table", False):
        wanted += (_BYTE,)
    if isinstance(attrs, qt.QGemm16x15 | qt.QConv16x15) and attrs.residual:
        wanted += ((attrs.output.dtype,),)
    if _shifts(attrs):
        wanted += (_BYTE,)
    if getattr(attrs, "keys", False):
        wanted += (_INDEX,)
    if getattr(attrs, "bias", False) is True:
        wanted += (_INDEX, _WORD)
        check(all(graph.is_constant(name) for name in node.inputs[-2:]), "a bias is no constant")
    check(len(node.inputs) == len(wanted), "wrong number of inputs")
    for index, (name, dtypes) in enumerate(zip(node.inputs, wanted, strict=True)):
        found = graph.dtype(name)
        check(found in dtypes, f"{name!r} is {found.value}")
        constant = index in _CONSTANTS.get(type(attrs), ())
        check(graph.is_constant(name) or not constant, f"{name!r} is no constant")
    if getattr(attrs, "table", False):
        check(graph.is_constant(node.inputs[4]), "the table is no constant")


def _shifts(attrs: Any) -> bool:
    """The last input is the k of a stream of int8."""
    return any(getattr(attrs, name, False) for name in ("shifted", "before", "after"))


def _check_shifts(graph: Graph, node: Node, check: Check) -> None:
    """A stream of int8 where there are shifts, and only there."""
    attrs = node.attrs
    if _shifts(attrs):
        shifts = graph.constants.get(node.inputs[-1])
        check(shifts is not None, "the shifts of channels are no constant")
        if shifts is not None:
            least, most = int(shifts.array.min()), int(shifts.array.max())
            check(0 <= least <= most <= qt.MOST_CHANNEL_SHIFT, "bad shifts of channels")
    if isinstance(attrs, qt.QAdd16):
        same = all(graph.dtype(name) is attrs.dtype for name in node.inputs)
        check(same, "operands and sum differ in type")
    if isinstance(attrs, qt.QNorm):
        narrow = graph.dtype(node.inputs[0]) is DType.INT8
        check(narrow is attrs.shifted, "an int8 row without shifts, or an int16 one with them")
    if isinstance(attrs, qt.QRescale16x15):
        check(not (attrs.before and attrs.after), "shifts before and after")
    if isinstance(attrs, qt.QEmbedding) and attrs.dtype is DType.INT8:
        check(attrs.multiplier == 1, "an int8 stream with a multiplier")
        check(graph.dtype(node.inputs[1]) is DType.INT8, "the table is not int8")


def _check_numbers(attrs: Any, check: Check) -> None:
    output = getattr(attrs, "output", None)
    table = getattr(attrs, "table", False)
    check(not (table and attrs.residual), "a table and a residual")
    if output is not None:
        check(0 <= output.pre_shift <= PRE_SHIFT_MAX, f"bad shift {output.pre_shift}")
    for holder in (output, attrs if isinstance(attrs, qt.QNorm) else None):
        if holder is None:
            continue
        check(1 <= holder.shift <= 30, f"bad shift {holder.shift}")
        least, greatest = _TABLE_LIMITS if table else _LIMITS[holder.dtype]
        check(least <= holder.low <= holder.high <= greatest, "bad bounds")
        check(not table or holder.dtype is DType.INT8, "a table gives int8")
    multiplier = getattr(attrs, "multiplier", 0)
    check(abs(multiplier) <= INT16_MAX, f"bad multiplier {multiplier}")
    if isinstance(attrs, qt.QNorm):
        check(0 <= attrs.least_shift <= 15, f"bad shift {attrs.least_shift}")
        check(0 <= attrs.epsilon <= 2**29, f"bad epsilon {attrs.epsilon}")
    if isinstance(attrs, qt.QAttention | qt.QSoftmax16x15):
        check(12 <= attrs.exp_bits <= 15, f"bad width {attrs.exp_bits} of exponentials")
    if isinstance(attrs, qt.QReduce16x15):
        check(attrs.kind is not ReduceKind.MAX, "a maximum needs no rescaling")


def _check_output(graph: Graph, node: Node, check: Check) -> None:
    attrs, value = node.attrs, graph.values[node.output]
    holder = getattr(attrs, "output", attrs)
    dtype = getattr(holder, "dtype", None)
    if isinstance(attrs, qt.QAttention | qt.QSoftmax16x15):
        dtype = DType.INT8
    if isinstance(attrs, qt.QIsEqual):
        dtype = DType.INT32
    check(value.dtype is dtype, f"the output is {value.dtype.value}")
    added = node.inputs if isinstance(attrs, qt.QAdd16) else ()
    if isinstance(attrs, qt.QGemm16x15 | qt.QConv16x15) and attrs.residual:
        added = node.inputs[4:]
    for name in added:
        # A constant may have fewer axes.
        same = replace(graph.quant(name), axis=None if value.quant is None else value.quant.axis)
        check(same == value.quant, f"{name!r} and the output differ in scale")
