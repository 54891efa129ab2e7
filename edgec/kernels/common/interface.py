"""The function of a layer with weights as its template writes it: how it ends, its C parameters."""

from __future__ import annotations

from typing import ClassVar, Self

from edgec.base.dtypes import DType
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.short_product import ANY, ShortProduct


def end_kind(
    rescale16: Rescale16 | None,
    residual_shift: int | None,
    tflite31: Tflite31 | None = None,
    typed: TypedEnd | None = None,
) -> str:
    """Kind of a kernel's end, from sums to outputs: the one value that templates choose by there.

    Returns:
        "requant31": by a multiplier of 31 bits; "requant31_added": and a residual; "rescale16": by
        16 by 15 bits; "rescale16_table": and a table; "rescale16_added": and a residual;
        "offset31", "two_roundings31", "two_roundings31_any": see `Tflite31`; "requant31_s8",
        "requant31_s16", "once15": see `TypedEnd`.
    """
    if typed is not None:
        return typed.end
    if tflite31 is not None:
        return tflite31.end
    if rescale16 is None:
        return "requant31" if residual_shift is None else "requant31_added"
    return f"rescale16_{rescale16.then}" if rescale16.then else "rescale16"


def c_parameters(
    end: str, y_type: str, others: tuple[tuple[str, ...], tuple[str, ...]]
) -> tuple[str, ...]:
    """The C parameters after x of the function of a layer.

    Args:
        end: one of the kinds of `end_kind`.
        y_type: C type of an element of y.
        others: those before what an addition needs, y among them, and those after it.
    """
    own, last = others
    table = ("const int8_t *table",) if end == "rescale16_table" else ()
    residual = (f"const {y_type} *residual",) if end.endswith("_added") else ()
    add = ("const edgec_add_params_t *add",) if end == "requant31_added" else ()
    return (*table, *residual, *own, *add, *last)


class LayerFunction:
    """Base class of specifications of layers with weights: end, argument struct, parameters.

    Attributes:
        rescale16: the end of a layer with 16 by 15 bits; None: its multiplier has 31 bits.
        residual_shift: right shift of the addition after a multiplier of 31 bits, if there is one.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        typed: element types and end of a layer that reads or gives int16; None: of all others.
        product: how a sum is multiplied by a multiplier of 31 bits.
        params_types: C types of the argument struct, with multipliers of 31 and of 16 bits.
        scratch_name: name of the scratch memory in C; None: there is none.
        flips_signs: weights are stored as `dense_weights.flipped_words`.
    """

    __slots__ = ()
    rescale16: Rescale16 | None
    residual_shift: int | None
    tflite31: Tflite31 | None = None
    typed: TypedEnd | None = None
    product: ShortProduct = ANY
    params_types: ClassVar[tuple[str, str]] = ("edgec_conv_params_t", "edgec_rescale16_params_t")
    scratch_name: ClassVar[str | None] = "scratch"
    flips_signs: ClassVar[bool] = False

    @property
    def end(self) -> str:
        """One of the kinds of `end_kind`."""
        return end_kind(self.rescale16, self.residual_shift, self.tflite31, self.typed)

    @property
    def adds(self) -> bool:
        """There is a residual."""
        return self.end.endswith("_added")

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        if self.typed is not None:
            return self.typed.y.c_name
        if self.tflite31 is not None:
            return self.tflite31.dtype.c_name
        return "int8_t" if self.rescale16 is None else self.rescale16.c_type

    @property
    def x_dtype(self) -> DType:
        """Element type of x."""
        return DType.INT8 if self.typed is None else self.typed.x

    @property
    def y_dtype(self) -> DType:
        """Element type of y."""
        if self.typed is not None:
            return self.typed.y
        if self.tflite31 is not None:
            return self.tflite31.dtype
        return DType.INT8 if self.rescale16 is None else self.rescale16.output.dtype

    @property
    def out_bytes(self) -> int:
        """Bytes of an element of y."""
        return self.y_dtype.size_bytes

    @property
    def reads_int16(self) -> bool:
        """Elements of x are int16, whose zero point is 0."""
        return self.x_dtype is DType.INT16

    @property
    def centre(self) -> str:
        """C that takes its zero point, a local variable, from an element of x."""
        return "" if self.reads_int16 else " - x_zero_point"

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return self.x_dtype.c_name

    @property
    def sum_type(self) -> str:
        """C type of a sum."""
        return "int32_t" if self.typed is None else f"int{self.typed.sum_bits}_t"

    @property
    def interleaves(self) -> bool:
        """The kernel takes the numbers of an `Tflite31` beside each other."""
        return False

    @property
    def streams(self) -> bool:
        """The kernel takes all that its filters need in one stream."""
        return False

    def with_weights_alone(self) -> Self:
        """The specification of a kernel whose weights hold nothing else."""
        return self

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""
        if self.streams:
            return "edgec_residual_params_t"
        if self.interleaves:
            return "edgec_tflite_params_t"
        if self.typed is not None:
            return self.typed.params_type
        if self.tflite31 is not None:
            return "edgec_twice_params_t" if self.tflite31.has_shifts else "edgec_offset_params_t"
        return self.params_types[self.rescale16 is not None]

    @property
    def multiplier_type(self) -> str:
        """C type of a multiplier."""
        return "int32_t" if self.rescale16 is None else "int16_t"

    @property
    def parameters(self) -> tuple[str, ...]:
        """The C parameters after x."""
        scratch = () if self.scratch_name is None else (f"int8_t *{self.scratch_name}",)
        own = (f"{self.y_type} *y", *scratch, f"const {self.params_type} *params")
        return c_parameters(self.end, self.y_type, (own, self.run_parameters()))

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of these parameters."""
        return tuple(parameter.split()[-1].lstrip("*") for parameter in self.parameters)

    def run_parameters(self) -> tuple[str, ...]:
        """The C parameters that only a run knows: its rows, or a width of activations."""
        return ()
