"""Converter of comparisons, by the rules of TensorFlow Lite Micro.

It scales both codes to whole numbers, and codes of a fine scale may become equal by that.  Which
pairs of codes have the relation is known beforehand, so codes, or ranks that tables give them, are
compared instead.

Source: TensorFlow Lite Micro, micro/kernels/comparisons_common.cc, and TensorFlow Lite,
kernels/internal/reference/comparisons.h (ComparisonWithScaling).
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.base.tflite_arithmetic import quantized_factor, scaled_twice
from edgec.ir import ops, qops
from edgec.ir.graph import Value
from edgec.ir.operator import OperatorTable
from edgec.ir.ops.arithmetic import CompareKind, compared
from edgec.ir.qparams import QuantParams
from edgec.quant.convert import choice
from edgec.quant.convert.codes import Coded
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS = OperatorTable[Converter]()
_LEFT_SHIFT = 8
_CODES = np.arange(INT8_MIN, INT8_MAX + 1, dtype=np.int64)
_RANK = QuantParams.per_tensor(1.0, 0)


@CONVERTERS.entry(ops.Compare)
def compare(c: Conversion) -> None:
    """Compare to QCompare; edgec's own where TensorFlow Lite Micro refuses the scales.

    One pair of codes may differ where EQUAL would need 257 ranks: two tensors with scales so close
    together (within 1e-6 or so) that, of all pairs of equal codes, a single one is told apart.
    """
    real, kind = ops.Compare.Inputs.of(c.node.inputs), c.node.attrs_as(ops.Compare).kind
    if c.reads_integers or max(c.operand(name).scale for name in (real.a, real.b)) >= 1.0:
        choice.compare(c)
        return
    a, b = c.operand(real.a), c.operand(real.b)
    left, right = _scaled(a), _scaled(b)
    attrs, different = _of_codes(kind, a, b, compared(kind, left[:, None], right))
    ranks = (_matches if kind is CompareKind.EQUAL else _thresholds)(kind, left, right)
    if not different or ranks is None:
        c.emit(attrs, qops.QCompare.Inputs(a.name, b.name))
        return
    relation = kind if kind is CompareKind.EQUAL else CompareKind.LESS_OR_EQUAL
    names = (_ranked(c, x, of, rank) for x, of, rank in zip((a, b), "ab", ranks, strict=True))
    c.emit(qops.QCompare(relation), qops.QCompare.Inputs(*names))


def _scaled(x: Coded) -> Array:
    """The whole numbers that stand for the codes; int64 [256]."""
    return scaled_twice((_CODES - x.zero_point) << _LEFT_SHIFT, *quantized_factor(x.scale))


def _of_codes(kind: CompareKind, a: Coded, b: Coded, wanted: Array) -> tuple[qops.QCompare, int]:
    """The comparison of codes that differs least from a relation of each pair of them.

    Args:
        kind: the relation of the numbers.
        a, b: the operands.
        wanted: 1 where their codes are so related, int32 [256, 256].

    Returns:
        The operator, and the number of pairs that differ.
    """
    found = []
    for numbers in ((1, 1, 0), (1, 1, a.zero_point - b.zero_point), choice.common_scale(a, b)):
        factor, other, offset = numbers
        given = compared(kind, _CODES[:, None] * factor, _CODES * other + offset)
        found.append((qops.QCompare(kind, *numbers), int(np.count_nonzero(given != wanted))))
    return min(found, key=lambda each: each[1])


def _matches(_kind: CompareKind, left: Array, right: Array) -> tuple[Array, Array] | None:
    """Ranks that are equal where the numbers are; None if there are too many."""
    common = np.intersect1d(left, right)
    ranks = []
    for numbers, other in ((left, len(common)), (right, len(common) + 1)):
        found = np.searchsorted(common, numbers)
        ranks.append(np.where(np.isin(numbers, common), found, other))
    return _as_codes(ranks[0], ranks[1])


def _thresholds(kind: CompareKind, left: Array, right: Array) -> tuple[Array, Array] | None:
    """Ranks whose first is at most the second where the numbers have the relation.

    Both numbers rise with their codes, so each code of b is related to the first codes of a.
    """
    counts = compared(kind, left[:, None], right).sum(axis=0)
    steps = np.unique(counts)
    ranks = np.searchsorted(steps, np.arange(len(left)), side="right")
    return _as_codes(ranks, np.searchsorted(steps, counts))


def _as_codes(a: Array, b: Array) -> tuple[Array, Array] | None:
    if max(a.max(), b.max()) >= len(_CODES):
        return None
    return (a + INT8_MIN).astype(np.int8), (b + INT8_MIN).astype(np.int8)


def _ranked(c: Conversion, x: Coded, operand: str, ranks: Array) -> str:
    """The tensor of the ranks of an operand's codes."""
    if x.name in c.graph.constants:
        codes = c.graph.constants[x.name].array.astype(np.int64)
        return c.builder.constant(f"{c.node.name}_{operand}", ranks[codes - INT8_MIN], _RANK)
    stem = f"{c.node.output}/{operand}"
    name = c.builder.fresh(stem)
    c.builder.value(Value(name, c.graph.shape(x.name), DType.INT8, _RANK))
    inputs = qops.QLut.Inputs(x.name, c.constant(f"{operand}_ranks", ranks))
    c.builder.node(stem, qops.QLut(), inputs, (name,), c.node.sources)
    return name
