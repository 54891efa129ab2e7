"""Ends of kernels by the form of requantization, in plain C and in registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops import Rescale16x15

SingleForm = qops.Requant31 | qops.TwoRoundings31 | qops.Rescale16x15 | qops.Once15
"""Forms of operators with one multiplier for all elements."""
F = TypeVar("F", bound=qops.Requantization)


class FormCall(NamedTuple):
    """A call whose first arguments are an accumulator and what it is multiplied or divided by.

    Attributes:
        name: the C function.
        numbers: the last arguments in C.
    """

    name: str
    numbers: str


def form_call(form: SingleForm | qops.CodeMean, zero_point: str = "", bound: int = 0) -> FormCall:
    """The call for a form, its numbers compiled in.

    Args:
        form: one factor for all elements.
        bound: the largest magnitude of an accumulator, where it may be one that cannot be doubled.
        zero_point: the zero point in C, where that of the form is not compiled in.
    """
    bits = 8 * form.dtype.size_bytes
    bounds = f"{form.low}, {form.high}"
    match form:
        case qops.Requant31():
            numbers = f"{form.shift}, {zero_point or form.zero_point}, {bounds}"
            return FormCall(f"edgec_requantize_s{bits}", numbers)
        case qops.TwoRoundings31(shifts=(shift,)):
            shifts = f"{max(shift, 0)}, {max(-shift, 0)}"
            numbers = f"{shifts}, {zero_point or form.zero_point}, {bounds}"
            fits = bound << max(shift, 0) <= _LARGEST_SUM
            return FormCall(f"edgec_twice{'' if fits else '_any'}_s{bits}", numbers)
        case qops.Rescale16x15():
            numbers = f"{form.pre_shift}, {form.shift}, {bounds}"
            return FormCall(f"edgec_rescale_s{bits}", numbers)
        case qops.Once15(shifts=(shift,)):
            return FormCall("edgec_tflite_s16_end", f"{shift}, {bounds}")
        case _:
            return FormCall(f"edgec_mean_s{bits}", bounds)


def start_of(form: SingleForm) -> str:
    """Start of an accumulator in C: a bias only where the form has no zero point."""
    return "p.bias" if isinstance(form, qops.Rescale16x15) else "0"


def shared_form(form: F) -> F:
    """The form without its zero point, which layers of one function may have each of its own."""
    if isinstance(form, qops.Requant31 | qops.TwoRoundings31):
        return replace(form, zero_point=0)
    return form


_LARGEST_SUM = (1 << 30) - 1
"""Largest accumulator that may be doubled, and the largest offset that may be added then."""


@dataclass(frozen=True, slots=True)
class Tflite31:
    """Compiled-in numbers of a kernel that ends in `qops.Offset31` or `qops.TwoRoundings31`.

    Attributes:
        end: "offset31"; of the other form "two_roundings31" where `edgec_requantize_twice_s8`
            (or `_s16`) serves it, "two_roundings31_any" where it does not.
        shift: right shift of "offset31"; the others have one for each output channel.
        saturates: the bounds are those of int8.
        int16: least and largest code of outputs that are int16; None: they are int8.
        products: what `kernels.common.short_product` says of the product.
    """

    end: str
    shift: int
    saturates: bool
    products: int = field(default=0, metadata=LATER)
    int16: tuple[int, int] | None = field(default=None, metadata=LATER)

    @property
    def dtype(self) -> DType:
        """Element type of outputs."""
        return DType.INT8 if self.int16 is None else DType.INT16

    @property
    def suffix(self) -> str:
        """End of the names of C functions for this type."""
        return f"s{8 * self.dtype.size_bytes}"

    @property
    def bounds(self) -> str:
        """The bounds of outputs in C."""
        if self.int16 is not None:
            return f"{self.int16[0]}, {self.int16[1]}"
        return "INT8_MIN, INT8_MAX" if self.saturates else "p.act_min, p.act_max"

    @property
    def has_shifts(self) -> bool:
        """There is a shift for each output channel."""
        return self.end != "offset31"

    @property
    def stays_in_registers(self) -> bool:
        """`edgec/dense/dense_4x2_tflite.h` computes it."""
        if self.int16 is not None:
            return False
        return self.end == "two_roundings31" or (self.end == "offset31" and self.shift > 0)


def tflite31(graph: Graph, node: Node, form: qops.TwoRoundings31 | qops.Offset31) -> Tflite31:
    """Compiled-in numbers of the kernel of a layer with one of the two forms."""
    saturates = (form.low, form.high) == (INT8_MIN, INT8_MAX)
    if isinstance(form, qops.Offset31):
        return Tflite31("offset31", form.shift, saturates)
    simple = _is_simple(graph, node, form)
    end = "two_roundings31" if simple else "two_roundings31_any"
    int16 = (form.low, form.high) if form.dtype is DType.INT16 else None
    return Tflite31(end, 0, saturates, int16=int16)


def _is_simple(graph: Graph, node: Node, form: qops.TwoRoundings31) -> bool:
    """Whether `edgec_requantize_twice_s8` computes the form, by the bounds that it states."""
    right = _right(form, _multipliers(graph, node))
    attrs = node.attrs_as(qops.Weighted)
    bound = attrs.bounds(attrs.Inputs.of(graph.tensors(node)))["the accumulator"]
    offsets = np.abs(_offsets(form, right)).max()
    return bool(right.min() >= 1 and max(bound, float(offsets)) <= _LARGEST_SUM)


def form_arrays(graph: Graph, node: Node, end: Tflite31) -> tuple[Array, ...]:
    """The numbers of each output channel beside bias and multiplier, in the order of the struct.

    Returns:
        Offsets int32 [O]; of `qops.TwoRoundings31` also shifts int8 [O].
    """
    multiplier = _multipliers(graph, node)
    output = node.attrs_as(qops.QConv, qops.QGemm, qops.QConvTranspose).output
    if isinstance(output, qops.Offset31):
        return (np.broadcast_to(np.asarray(output.offsets, np.int32), multiplier.shape),)
    assert isinstance(output, qops.TwoRoundings31)
    shifts = np.broadcast_to(np.asarray(output.shifts, np.int64), multiplier.shape)
    offsets = np.full(multiplier.shape, output.zero_point)
    if end.end == "two_roundings31":
        shifts = _right(output, multiplier)
        offsets = _offsets(output, shifts)
    return offsets.astype(np.int32), shifts.astype(np.int8)


def _multipliers(graph: Graph, node: Node) -> Array:
    inputs = node.attrs_as(qops.Weighted).Inputs.of(node.inputs)
    return graph.constants[inputs.multiplier].array


def _right(form: qops.TwoRoundings31, multiplier: Array) -> Array:
    """The right shift of each channel: int64 [O]; any will do where every product is 0."""
    return np.where(multiplier == 0, 1, -np.asarray(form.shifts, np.int64))


def _offsets(form: qops.TwoRoundings31, right: Array) -> Array:
    """Zero point and half step before the right shift: int64 [O]."""
    shift = np.maximum(right, 1)
    return np.asarray((form.zero_point << shift) + (np.int64(1) << (shift - 1)))


@dataclass(frozen=True, slots=True)
class TypedEnd:
    """Element types of a layer of which some are int16, and its end in them.

    Attributes:
        x, y: element types, INT8 or INT16.
        sum_bits: bits of a sum, 32 or 64.
        has_shifts: each output channel has its own right shift (`qops.Once15`, x and y are int16);
            else the form is `qops.Requant31`.
        even: the bounds are all codes of int16 but the least one, and a core takes that into
            account.
        from_high: the sums have 32 bits and all shifts are 17 or more, so that the high word of a
            product with the shifted multiplier is enough.
    """

    x: DType
    y: DType
    sum_bits: int = 32
    has_shifts: bool = False
    even: bool = field(default=False, metadata=LATER)
    from_high: bool = field(default=False, metadata=LATER)

    @property
    def end(self) -> str:
        """One of the kinds of `interface.end_kind`."""
        return "once15" if self.has_shifts else f"requant31_s{8 * self.y.size_bytes}"

    @property
    def is_measured(self) -> bool:
        """Layers that prices are fitted to end so: by one shift, with sums of 32 bits."""
        return not self.has_shifts and self.sum_bits == _MEASURED_BITS

    @property
    def requantize(self) -> str:
        """The C function of `qops.Requant31`."""
        if self.even:
            return "edgec_requantize_even_s16"
        return f"edgec_requantize_s{8 * self.y.size_bytes}"

    @property
    def once(self) -> str:
        """The C function of `qops.Once15`."""
        return f"edgec_tflite_s16_{'high' if self.from_high else 'end'}"

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""
        return "edgec_once_params_t" if self.has_shifts else "edgec_conv16_params_t"


_MEASURED_BITS = 32

_BITS: Mapping[tuple[int, int], int] = MappingProxyType(
    {(-128, 127): 8, (-127, 127): 8, (-512, 511): 10, (-32768, 32767): 16}
)
"""Bits by bounds: those of one instruction, and -127, which a second one makes of -128."""

_MOST_SHIFT_INTO_INT16 = 16


@dataclass(frozen=True, slots=True)
class Rescale16:
    """The end of a kernel: `ir.qops.Rescale16x15`, then a table or a residual.

    Attributes:
        output: shifts and bounds, which are compiled in.
        table: outputs are looked up.
        residual: int16 is added before the bounds.
    """

    output: Rescale16x15
    table: bool = False
    residual: bool = False

    @property
    def then(self) -> str:
        """Operation after the requantization: "table", "added" for a residual, or ""."""
        return "table" if self.table else "added" if self.residual else ""

    @property
    def out_bytes(self) -> int:
        """Bytes of an output."""
        return self.output.dtype.size_bytes

    @property
    def saturated_bits(self) -> int:
        """Bits to which an output is limited before anything else; 0: bounds come later."""
        bounds = (self.output.low, self.output.high)
        return 0 if self.residual else _BITS.get(bounds, 0)

    @property
    def is_saturated(self) -> bool:
        """Saturation to `saturated_bits` gives both bounds."""
        bits = self.saturated_bits
        return bits > 0 and self.output.low == -(1 << (bits - 1))

    @property
    def shifts_into_int16(self) -> bool:
        """One NEON instruction does the last shift and the narrowing to int16.

        Source: Arm A64 ISA, SQRSHRN: shifts of 1 to 16 for 32-bit elements.
        """
        return self.output.shift <= _MOST_SHIFT_INTO_INT16

    @property
    def _limit(self) -> int:
        """2^(bits - 1) of the elements that results become: bytes, or int16 (an index is one)."""
        return 1 << (8 if self.out_bytes == 1 and not self.table else 16) - 1

    @property
    def has_own_low(self) -> bool:
        """The lower bound is above the least of the elements that results become."""
        return self.output.low > -self._limit

    @property
    def has_own_high(self) -> bool:
        """The upper bound is below the largest of the elements that results become."""
        return self.output.high < self._limit - 1

    @property
    def c_type(self) -> str:
        """The C type of an output."""
        return stored_type(self.output.dtype)


def stored_type(dtype: DType) -> str:
    """The C type of elements in the arena."""
    return f"edgec_s{8 * dtype.size_bytes}_t" if dtype is not DType.INT8 else "int8_t"
