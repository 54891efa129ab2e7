"""Convolutions and products of matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators
from edgec.ir.qops.base import IntegerOperator, need_dtype
from edgec.ir.qops.convolution import conv_sums, conv_transpose_sums
from edgec.ir.qops.forms import Requant31, Requantization, Rescale16x15, codes
from edgec.ir.qops.layer_end import (
    Residual,
    finished,
    need_end,
    need_end_shapes,
    need_form,
    need_single,
    weighted_bounds,
)
from edgec.ir.qops.operands import (
    CODES,
    INT8_SPAN,
    MULTIPLIERS,
    Operand,
    need_reach,
    parameter,
    table,
    tensor,
)
from edgec.ir.qops.tflite_forms import Once15, TwoRoundings31
from edgec.ir.rows import RowWindow, with_columns, without_rows
from edgec.ir.shapes import (
    Pads2D,
    Pair,
    check_per_output,
    conv_shape,
    conv_transpose_shape,
    gemm_shape,
    matmul_shape,
)


@dataclass(frozen=True, slots=True)
class Weighted(IntegerOperator):
    """An operator whose accumulator is a bias and a sum of products with weights."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Input x; weights w, outputs O on axis 0; bias b and multiplier of each output."""

        x: T = field(metadata=tensor(*CODES))
        w: T = field(metadata=parameter(DType.INT8))
        b: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(*MULTIPLIERS))

        @property
        def rows(self) -> T:
            """Operand with a row for each output: the weights."""
            return self.w

        def with_rows(self, rows: T, b: T, multiplier: T) -> Self:
            """The record with others of what has an entry for each output."""
            return replace(self, w=rows, b=b, multiplier=multiplier)


@dataclass(frozen=True, slots=True)
class PlainLayer(Weighted):
    """One that ends as `layer_end` says, and whose weights may come from a pool instead."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Weighted.Inputs[T]):
        """Operands of `Weighted`, then what the end of the layer adds or looks up."""

        residual: T | None = field(default=None, metadata=tensor(*CODES))
        table: T | None = field(default=None, metadata=table(DType.INT8))

        def pooled(self, pool: T, indices: T) -> PooledLayer.Inputs[T]:
            """The operands of the pooled layer that has `indices` into `pool`."""
            end = self.b, self.multiplier, self.residual, self.table
            return PooledLayer.Inputs(self.x, pool, indices, *end)


@dataclass(frozen=True, slots=True)
class PooledLayer(IntegerOperator):
    """A layer whose weights are vectors of a pool."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Operands of `PlainLayer`, with the pool and indices into it in place of the weights."""

        x: T = field(metadata=tensor(DType.INT8))
        pool: T = field(metadata=parameter(DType.INT8))
        indices: T = field(metadata=parameter(DType.UINT16))
        b: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(*MULTIPLIERS))
        residual: T | None = field(default=None, metadata=tensor(*CODES))
        table: T | None = field(default=None, metadata=table(DType.INT8))

        @property
        def rows(self) -> T:
            """Operand with a row for each output: the indices."""
            return self.indices

        def with_rows(self, rows: T, b: T, multiplier: T) -> Self:
            """The record with others of what has an entry for each output."""
            return replace(self, indices=rows, b=b, multiplier=multiplier)

        def plain(self, w: T) -> PlainLayer.Inputs[T]:
            """The operands of the plain layer that has the weights `w`."""
            return PlainLayer.Inputs(self.x, w, self.b, self.multiplier, self.residual, self.table)


@dataclass(frozen=True, slots=True)
class QConv(PlainLayer):
    """x int8 or int16 [N, H, W, I], w int8 const [O, KH, KW, I/group], b int32 const [O],
    multiplier const [O] of the type of the form; residual [N, OH, OW, O] (only with `residual`),
    table int8 const [1024] (only with a table).

    ``acc = b[o] + sum (x - zx) * w`` over the taps inside the image, x quantized per
    tensor; then `layer_end` with multiplier[o].

    Depthwise: group == I and I/group == 1; O may be a multiple of I.

    Bounds: |x - zx| <= reach, which what computes int16 codes keeps (`quant.precision.codes`).
    """

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output: Requantization
    residual: Residual | None = None
    reach: int = field(default=INT8_SPAN, metadata=LATER)

    def infer_shape(self, inputs: PlainLayer.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b, inputs.multiplier)
        y = conv_shape(inputs.x, inputs.w, self)
        need_end_shapes(inputs.table, inputs.residual, y)
        return y

    def row_window(self, inputs: PlainLayer.Inputs[Shape]) -> RowWindow:
        return self._window(inputs, 0)

    def column_window(self, inputs: PlainLayer.Inputs[Shape]) -> RowWindow:
        return self._window(inputs, 1)

    def _window(self, inputs: PlainLayer.Inputs[Shape], axis: int) -> RowWindow:
        size = (inputs.w[1 + axis] - 1) * self.dilations[axis] + 1
        return RowWindow(size, self.strides[axis], self.pads[axis])

    def without_row_padding(self) -> Self:
        return replace(self, pads=without_rows(self.pads))

    def with_column_padding(self, left: int, right: int) -> Self:
        return replace(self, pads=with_columns(self.pads, left, right))

    def macs(self, inputs: PlainLayer.Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.w[1:])

    def compute(self, inputs: PlainLayer.Inputs[Operand]) -> Array:
        return finished(self, conv_sums(self, inputs.x.centred, inputs.w.array), inputs)

    def bounds(self, inputs: PlainLayer.Inputs[Tensor]) -> dict[str, float]:
        numbers = inputs.w, inputs.b, inputs.multiplier
        return weighted_bounds(self.output, *numbers, self.reach)

    def verify(self, inputs: PlainLayer.Inputs[Tensor], output: Value) -> None:
        need_end(self, inputs.multiplier, output, inputs.residual, inputs.table)
        need_reach(inputs.x, self.reach)


def _sums(form: Requantization, values: Array) -> Array:
    """Sums as int64; those of other forms than `Once15` are checked to fit 32 bits.

    Raises:
        InternalError: they do not; the quantizer has promised that they do.
    """
    return values.astype(np.int64) if isinstance(form, Once15) else accumulators(values)


@dataclass(frozen=True, slots=True)
class QConvTranspose(Weighted):
    """Inputs as `QConv`, without residual and table; x is int16 where the form is `Once15`.

    ``acc[oy, ox, o] = b[o] + sum`` over all (iy, ky) with ``oy = iy * stride - top + ky *
    dilation`` (same for x) of ``(x - zx) * w[o, ky, kx, i]``; ``y = output(acc)`` with
    multiplier[o].

    Bounds: |x - zx| <= reach, which what computes int16 codes keeps.
    """

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output_padding: Pair
    output: Requantization
    reach: int = field(default=INT8_SPAN, metadata=LATER)

    def infer_shape(self, inputs: Weighted.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b, inputs.multiplier)
        return conv_transpose_shape(inputs.x, inputs.w, self)

    def macs(self, inputs: Weighted.Inputs[Shape], output: Shape) -> int:
        # Each input position meets every weight of its group.
        return math.prod(inputs.x[:3]) * math.prod(inputs.w)

    def compute(self, inputs: Weighted.Inputs[Operand]) -> Array:
        total = conv_transpose_sums(self, inputs.x.centred, inputs.w.array)
        acc = _sums(self.output, total) + inputs.b.array
        return codes(self.output, acc, inputs.multiplier.array)

    def bounds(self, inputs: Weighted.Inputs[Tensor]) -> dict[str, float]:
        numbers = inputs.w, inputs.b, inputs.multiplier
        return weighted_bounds(self.output, *numbers, self.reach)

    def verify(self, inputs: Weighted.Inputs[Tensor], output: Value) -> None:
        need_form(self.output, inputs.multiplier, output)
        need_reach(inputs.x, self.reach)
        if isinstance(self.output, Once15):
            need_dtype(inputs.x, DType.INT16)


_CODE = 128
"""Largest magnitude of a raw code; only int8 codes are raw."""


@dataclass(frozen=True, slots=True)
class QGemm(PlainLayer):
    """x int8 or int16 [..., K], w int8 const [N, K], b int32 const [N], multiplier const [N] of the
    type of the form; residual [..., N] (only with `residual`; value or constant), table int8 const
    [1024] (only with a table); y [..., N].

    ``acc = b[n] + sum_k (x - zx) * w[n, k]``; with `raw` ``acc = b[n] + sum_k x *
    w[n, k]``, raw codes: the zero points of x, which may be one for each k, are in the bias.
    Then `layer_end` with multiplier[n].

    Bounds: |x - zx| <= reach, which what computes int16 codes keeps.
    """

    output: Requantization
    residual: Residual | None = None
    raw: bool = False
    reach: int = field(default=INT8_SPAN, metadata=LATER)

    def infer_shape(self, inputs: PlainLayer.Inputs[Shape]) -> Shape:
        check_per_output(inputs.w, inputs.b, inputs.multiplier)
        y = gemm_shape(inputs.x, inputs.w)
        need_end_shapes(inputs.table, inputs.residual, y)
        return y

    def macs(self, inputs: PlainLayer.Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.w[1:])

    def compute(self, inputs: PlainLayer.Inputs[Operand]) -> Array:
        x = inputs.x.array if self.raw else inputs.x.centred
        total = x.astype(np.float64) @ inputs.w.array.astype(np.float64).T
        return finished(self, total, inputs)

    def bounds(self, inputs: PlainLayer.Inputs[Tensor]) -> dict[str, float]:
        numbers = inputs.w, inputs.b, inputs.multiplier
        return weighted_bounds(self.output, *numbers, _CODE if self.raw else self.reach)

    def verify(self, inputs: PlainLayer.Inputs[Tensor], output: Value) -> None:
        need_end(self, inputs.multiplier, output, inputs.residual, inputs.table)
        need_reach(inputs.x, self.reach)


@dataclass(frozen=True, slots=True)
class QMatMul(IntegerOperator):
    """a [..., M, K], b [..., K, N] of int8 or int16 (transpose_a, transpose_b as `ops.MatMul`),
    leading axes broadcast; y [..., M, N].

    ``y = output(bias + sum_k (a - za) * (b - zb))`` with one multiplier; both per tensor; the bias
    is 0 where the form has a zero point.

    Bounds: |a - za| <= a_reach and |b - zb| <= b_reach, which what computes int16 codes keeps;
    a_reach * b_reach * K + |bias| < 2^31; in `Once15`, between int16 tensors, < 2^48.

    Between int8 tensors the form is `Rescale16x15`, or `TwoRoundings31` where the codes must be
    TensorFlow Lite Micro's.  All elements share one factor, so 15 bits hold it to a part in 2^15,
    at most 0.01 of an output step, and no trained weight has to keep its codes: `Requant31` would
    change nothing but the cost of the product.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    output: Requant31 | TwoRoundings31 | Rescale16x15 | Once15
    multiplier: int
    bias: int = 0
    transpose_a: bool = False
    transpose_b: bool = False
    a_reach: int = INT8_SPAN
    b_reach: int = INT8_SPAN

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return matmul_shape(inputs.a, inputs.b, self.transpose_a, self.transpose_b)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * self._depth(inputs.a)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        a, b = inputs.a.centred.astype(np.float64), inputs.b.centred.astype(np.float64)
        a = a.swapaxes(-1, -2) if self.transpose_a else a
        b = b.swapaxes(-1, -2) if self.transpose_b else b
        return codes(self.output, _sums(self.output, a @ b) + self.bias, self.multiplier)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        acc = self.a_reach * self.b_reach * self._depth(inputs.a.shape) + abs(self.bias)
        return self.output.bounds(float(acc), float(abs(self.multiplier)))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, self.bias, output)
        for item, reach in ((inputs.a, self.a_reach), (inputs.b, self.b_reach)):
            need_reach(item, reach)

    def _depth(self, a: Shape) -> int:
        """The number of products in a sum, K."""
        return a[-2 if self.transpose_a else -1]
