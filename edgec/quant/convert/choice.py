"""Converters of comparisons, choices, extremes of two tensors, and of integers made real."""

from __future__ import annotations

import numpy as np

from edgec.base.fixedpoint import INT32_MAX, round_half_up
from edgec.ir import ops, qops
from edgec.ir.operator import OperatorTable
from edgec.quant.convert.codes import Coded
from edgec.quant.convert.context import Conversion, Converter

CONVERTERS = OperatorTable[Converter]()


@CONVERTERS.entry(ops.Maximum, ops.Minimum)
def extremum(c: Conversion) -> None:
    """Maximum and Minimum to QExtremum."""
    real = ops.Arithmetic.Inputs.of(c.node.inputs)
    inputs = qops.QExtremum.Inputs(c.operand(real.a).name, c.operand(real.b).name)
    c.emit(qops.QExtremum(isinstance(c.node.attrs, ops.Maximum)), inputs)


@CONVERTERS.entry(ops.TopK)
def top_k(c: Conversion) -> None:
    """TopK to QTopK."""
    attrs, x = c.node.attrs_as(ops.TopK), c.operand(c.node.input)
    c.emit(qops.QTopK(attrs.k, attrs.largest, attrs.indices), qops.QTopK.Inputs(x.name))


@CONVERTERS.entry(ops.Compare)
def compare(c: Conversion) -> None:
    """Compare to QCompare, of codes or of int32 numbers."""
    kind = c.node.attrs_as(ops.Compare).kind
    real = ops.Compare.Inputs.of(c.node.inputs)
    if c.reads_integers:
        inputs = qops.QCompare.Inputs(c.numbers(real.a), c.numbers(real.b))
        c.emit(qops.QCompare(kind), inputs)
        return
    a, b = c.operand(real.a), c.operand(real.b)
    c.emit(qops.QCompare(kind, *common_scale(a, b)), qops.QCompare.Inputs(a.name, b.name))


def common_scale(a: Coded, b: Coded) -> tuple[int, int, int]:
    """Multipliers and offset that compare ``scale * (code - zero_point)`` of two tensors."""
    if a.scale == b.scale:
        multipliers = 1, 1
    else:
        # The finer scale is a part of the coarser one; below a step of it, it is as good as that.
        factor = 2.0 ** qops.QCompare.bits(a.dtype, b.dtype) / max(a.scale, b.scale)
        first, second = (max(int(round_half_up(x.scale * factor)), 1) for x in (a, b))
        multipliers = first, second
    return (*multipliers, a.zero_point * multipliers[0] - b.zero_point * multipliers[1])


@CONVERTERS.entry(ops.Where)
def where(c: Conversion) -> None:
    """Where to QWhere, of codes or of int32 numbers."""
    real = ops.Where.Inputs.of(c.node.inputs)
    condition = c.numbers(real.condition)
    if c.gives_integers:
        a, b = c.numbers(real.a), c.numbers(real.b)
    else:
        a, b = c.operand(real.a).name, c.operand(real.b).name
    c.emit(qops.QWhere(), qops.QWhere.Inputs(condition, a, b))


@CONVERTERS.entry(ops.Cast)
def cast(c: Conversion) -> None:
    """Cast of int32 to QRescale."""
    end = c.single31(1.0 / c.y.tensor_scale, float(INT32_MAX))
    c.emit(
        qops.QRescale(end.form, end.multiplier), qops.QRescale.Inputs(c.operand(c.node.input).name)
    )


def equals_number(c: Conversion, x: Coded, number: float) -> None:
    """Which codes are the one of a number, by QCompare."""
    code = np.clip(x.params.quantize(np.full(1, number)), -128, 127).astype(np.int8)
    inputs = qops.QCompare.Inputs(
        x.name, c.builder.constant(f"{c.node.name}_number", code, x.quant)
    )
    c.emit(qops.QCompare(ops.CompareKind.EQUAL), inputs)
