"""Operators that take several codes to one, or to the best of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops import ReduceKind
from edgec.ir.qops.arithmetic import accumulators, floor_root
from edgec.ir.qops.base import IntegerOperator, need_dtype, need_same_codes
from edgec.ir.qops.convolution import padded_image, window_sums, window_taps
from edgec.ir.qops.forms import CodeMean, Requant31, Rescale16x15, codes
from edgec.ir.qops.layer_end import need_form, need_single
from edgec.ir.qops.operands import CODES, Operand, span_of, table, tensor, value
from edgec.ir.qops.tflite_forms import TwoRoundings31
from edgec.ir.rows import RowWindow, with_columns, without_rows
from edgec.ir.shapes import Pads2D, Pair, need, pool_shape, reduced_shape

_SUMS = (ReduceKind.MEAN, ReduceKind.SUM)
N = TypeVar("N", int, Array)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class QReduce(IntegerOperator):
    """x, over `axes`, per tensor.

    MEAN and SUM: ``y = output(bias + sum (x - zx))`` with one multiplier; the bias is 0 where the
    form has a zero point.
    L1, SUM_SQUARE and L2: likewise of ``sum |x - zx|``, of ``sum (x - zx)**2``, and of the floor of
    ``sqrt(4**root_bits * sum (x - zx)**2)``; the form is `Requant31`.
    MAX and MIN: the largest or smallest code, same quantization on both sides; `output` is None.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*CODES))

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool
    output: Requant31 | TwoRoundings31 | Rescale16x15 | None = None
    multiplier: int = 0
    bias: int = 0
    root_bits: int = 0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(bool(self.axes), "no axes")
        return reduced_shape(inputs.x, self.axes, self.keepdims)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x
        if self.output is None:
            select = np.max if self.kind is ReduceKind.MAX else np.min
            return np.asarray(select(x.array, axis=self.axes, keepdims=self.keepdims))
        terms = _term(self.kind, x.centred)
        total = accumulators(np.asarray(terms.sum(axis=self.axes, keepdims=self.keepdims)))
        if self.kind is ReduceKind.L2:
            total = floor_root(accumulators(total << (2 * self.root_bits)))
        return codes(self.output, total + self.bias, self.multiplier)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        if self.output is None:
            return {}
        x = inputs.x
        total = _term(self.kind, span_of(x)) * math.prod(x.shape[axis] for axis in self.axes)
        if self.kind is ReduceKind.L2:
            found = {"the square below the root": float(total << (2 * self.root_bits))}
            acc = math.isqrt(total << (2 * self.root_bits))
            return found | self.output.bounds(float(acc), float(abs(self.multiplier)))
        return self.output.bounds(float(total + abs(self.bias)), float(abs(self.multiplier)))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        selects = self.kind.selects
        need((self.output is None) is selects, "a maximum or minimum alone needs no rescaling")
        plain = isinstance(self.output, Requant31 | None) or self.kind in _SUMS
        need(plain, "a norm ends in another form than Requant31")
        if self.output is None:
            need_same_codes((inputs.x,), output)
        else:
            need_single(self.output, self.multiplier, self.bias, output)


def _term(kind: ReduceKind, centred: N) -> N:
    """Term of an element in the sum of a reduction."""
    if kind is ReduceKind.L1:
        return abs(centred)
    return centred if kind in _SUMS else centred * centred


@dataclass(frozen=True, slots=True)
class QAveragePool(IntegerOperator):
    """x [N, H, W, C] of int8 or int16; multiplier int32 const [KH*KW + 1], none in `CodeMean`.

    ``y = output(sum (x - zx))`` with multiplier[count]; the sum runs over the taps inside the image
    and count is their number (KH*KW everywhere if count_include_pad).  A count of 0 gives the code
    of 0.

    In `CodeMean` ``y = output(sum x, count)``, whatever the scales; every window meets the image:
    pads are smaller than the kernel, dilations are 1.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))
        multiplier: T | None = field(default=None, metadata=table(DType.INT32))

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair
    count_include_pad: bool
    output: Requant31 | CodeMean

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        taps = None if isinstance(self.output, CodeMean) else (math.prod(self.kernel) + 1,)
        need(inputs.multiplier == taps, "one multiplier per tap count is needed")
        return pool_shape(inputs.x, self.kernel, self)

    def row_window(self, inputs: Inputs[Shape]) -> RowWindow | None:
        # The number of taps inside the image is that of a window without padding rows.
        if self.pads[0] or self.pads[2]:
            return None
        return RowWindow((self.kernel[0] - 1) * self.dilations[0] + 1, self.strides[0])

    def column_window(self, inputs: Inputs[Shape]) -> RowWindow:
        size = (self.kernel[1] - 1) * self.dilations[1] + 1
        return RowWindow(size, self.strides[1], self.pads[1])

    def without_row_padding(self) -> Self:
        return replace(self, pads=without_rows(self.pads))

    def with_column_padding(self, left: int, right: int) -> Self:
        return replace(self, pads=with_columns(self.pads, left, right))

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide if isinstance(self.output, CodeMean) else inputs.x.centred
        total, count = window_sums(self, self.kernel, x, self.count_include_pad)
        if isinstance(self.output, CodeMean):
            return self.output.apply(total, count).astype(self.output.dtype.numpy)
        assert inputs.multiplier is not None
        return codes(self.output, total, inputs.multiplier.array[count])

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        return {"the sum": float(span_of(inputs.x) * math.prod(self.kernel))}

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        if isinstance(self.output, Requant31):
            assert inputs.multiplier is not None
            need_form(self.output, inputs.multiplier, output)
            return
        self.output.verify()
        need_dtype(output, self.output.dtype)
        need(inputs.x.dtype is output.dtype, "a mean of codes has the type of its input")
        need(math.prod(self.kernel) * span_of(inputs.x) <= INT32_MAX, "its sums exceed 32 bits")
        need(self.dilations == (1, 1), "its windows have gaps")
        need(not self.count_include_pad, "it counts padding")
        sizes = (*self.kernel, *self.kernel)
        inside = all(pad < size for pad, size in zip(self.pads, sizes, strict=True))
        need(inside, "a window lies outside the image")


@dataclass(frozen=True, slots=True)
class QMaxPool(IntegerOperator):
    """x int8 or int16 [N, H, W, C]; maximum of the taps inside the image.

    The quantization is the same on both sides.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return pool_shape(inputs.x, self.kernel, self)

    def row_window(self, inputs: Inputs[Shape]) -> RowWindow:
        return self._window(0)

    def column_window(self, inputs: Inputs[Shape]) -> RowWindow:
        return self._window(1)

    def _window(self, axis: int) -> RowWindow:
        size = (self.kernel[axis] - 1) * self.dilations[axis] + 1
        return RowWindow(size, self.strides[axis], self.pads[axis], least_code=True)

    def without_row_padding(self) -> Self:
        return replace(self, pads=without_rows(self.pads))

    def with_column_padding(self, left: int, right: int) -> Self:
        return replace(self, pads=with_columns(self.pads, left, right))

    def compute(self, inputs: Inputs[Operand]) -> Array:
        padded = padded_image(self, inputs.x.array, np.iinfo(inputs.x.array.dtype).min)
        return np.asarray(np.maximum.reduce(list(window_taps(self, self.kernel, padded))))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)


@dataclass(frozen=True, slots=True)
class QArgMax(IntegerOperator):
    """x int8 or int16, y int32: index of the largest code along `axis`, first or last on ties.

    With `smallest` that of the smallest code.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))

    axis: int
    keepdims: bool
    select_last_index: bool
    smallest: bool = False

    @property
    def gives_integers(self) -> bool:
        return True

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return reduced_shape(inputs.x, (self.axis,), self.keepdims)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x, axis = inputs.x.wide, self.axis
        x = -x if self.smallest else x
        if self.select_last_index:
            flipped = np.flip(x, axis).argmax(axis=axis, keepdims=self.keepdims)
            return np.asarray(x.shape[axis] - 1 - flipped).astype(np.int32)
        return np.asarray(x.argmax(axis=axis, keepdims=self.keepdims)).astype(np.int32)


@dataclass(frozen=True, slots=True)
class QTopK(IntegerOperator):
    """x int8 or int16 [..., N]: the `k` largest (or smallest) codes of a row, most extreme first.

    y [..., k] with the type and quantization of x; with `indices` int32, where they are; with
    `both` first the one and then the other.  Of equal codes the first comes first.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))

    k: int
    largest: bool
    indices: bool
    both: bool = False

    @property
    def gives_integers(self) -> bool:
        return self.indices or self.both

    def infer_shapes(self, inputs: Inputs[Shape]) -> tuple[Shape, ...]:
        need(bool(inputs.x) and 0 < self.k <= inputs.x[-1], "k does not fit the last axis")
        return self._given((*inputs.x[:-1], self.k), (*inputs.x[:-1], self.k))

    def compute_outputs(self, inputs: Inputs[Operand]) -> tuple[Array, ...]:
        ranks = -inputs.x.wide if self.largest else inputs.x.wide
        order = np.argsort(ranks, axis=-1, kind="stable")[..., : self.k]
        return self._given(np.take_along_axis(inputs.x.array, order, axis=-1), order.astype("i4"))

    def verify_outputs(self, inputs: Inputs[Tensor], outputs: tuple[Value, ...]) -> None:
        if self.both or not self.indices:
            need_same_codes((inputs.x,), outputs[0])
        if self.both or self.indices:
            need_dtype(outputs[-1], DType.INT32)

    def _given(self, codes: R, indices: R) -> tuple[R, ...]:
        """The outputs, of what could be them."""
        return (codes, indices) if self.both else (indices if self.indices else codes,)
