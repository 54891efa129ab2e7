"""End of a node's kernel: the layer's form of requantization as kernels see it.

The instructions that a kernel is made of hang on the target: kernels of layers with a weight pool
are assembly for Armv6-M, for Armv7-M and for the DSP extension, or C
(`firmware/runtime/include/edgec/weight_pool`).
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from edgec.base.dtypes import DType
from edgec.base.errors import LoweringError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node, Tensor
from edgec.ir.qops.layer_end import largest_sum
from edgec.ir.qops.operands import span_of
from edgec.ir.weighted import form_of, is_int8_layer, residual_of, weighted_inputs
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd, tflite31
from edgec.target.target import Target

LEAST_HIGH_SHIFT = 17
"""Shift of `qops.Once15` from which on the high word of a product is enough: its half step is a
whole number of the 2^16 that this word drops."""
_TYPED = (qops.Requant31, qops.Once15)
"""Forms in which layers that read or give int16 end."""


class End(NamedTuple):
    """The end of a layer with weights, in the order of the fields of specifications.

    Attributes:
        shift: right shift of the product with the multiplier.
        residual_shift: right shift of the addition that follows (`qops.AddParams`), if any.
        rescale16: numbers of a layer that ends in `qops.Rescale16x15`; None for other forms.
        tflite31: what is compiled in of a layer that ends in `qops.TwoRoundings31` or
            `qops.Offset31`; None for other forms.
    """

    shift: int
    residual_shift: int | None
    rescale16: Rescale16 | None
    tflite31: Tflite31 | None


def end_of(graph: Graph, node: Node) -> End:
    """The end of a layer with weights.

    Raises:
        LoweringError: it has none.
    """
    match form_of(node.attrs):
        case qops.Requant31() as form:
            added = residual_of(node.attrs)
            shift = added.shift if isinstance(added, qops.AddParams) else None
            return End(form.shift, shift, None, None)
        case qops.TwoRoundings31() | qops.Offset31() as form:
            return End(0, None, None, tflite31(graph, node, form))
        case qops.Once15():
            return End(0, None, None, None)
        case qops.Rescale16x15() as form:
            return End(form.shift, None, _rescale16(node, form), None)
        case _:
            raise LoweringError(f"{node.op} ends in no requantization", where=node.name)


def typed_end(graph: Graph, node: Node) -> TypedEnd | None:
    """Element types and end of a layer with weights of which some are int16; None of all others."""
    form = form_of(node.attrs)
    if is_int8_layer(graph, node) or not isinstance(form, _TYPED):
        return None
    inputs: qops.Weighted.Inputs[Tensor] = qops.Weighted.Inputs.of(graph.tensors(node))
    reach = getattr(node.attrs, "reach", span_of(inputs.x))
    bits = 64 if largest_sum(inputs.w, inputs.b, reach) > INT32_MAX else 32
    once = isinstance(form, qops.Once15)
    high = isinstance(form, qops.Once15) and bits == 32 and min(form.shifts) >= LEAST_HIGH_SHIFT
    return TypedEnd(inputs.x.dtype, form.dtype, bits, once, from_high=high)


def has_plain_c(graph: Graph, node: Node) -> bool:
    """Whether plain C has code for the types and the form of a layer with weights."""
    if reads_int8(graph, node):
        return True
    return isinstance(form_of(node.attrs), _TYPED) and residual_of(node.attrs) is None


def gives_int16_twice(graph: Graph, node: Node) -> bool:
    """Whether a layer of int8 gives int16 by two roundings, as those of TensorFlow Lite's LSTM."""
    form = form_of(node.attrs)
    x = graph.tensor(weighted_inputs(node).x)
    twice = isinstance(form, qops.TwoRoundings31) and form.dtype is DType.INT16
    return twice and x.dtype is DType.INT8


def reads_int8(graph: Graph, node: Node) -> bool:
    """Whether a layer has int8 activations, but for outputs of int16 by two roundings."""
    return is_int8_layer(graph, node) or gives_int16_twice(graph, node)


def _rescale16(node: Node, form: qops.Rescale16x15) -> Rescale16:
    table = getattr(node.attrs.Inputs.of(node.inputs), "table", None)
    return Rescale16(form, table is not None, residual_of(node.attrs) is not None)


def no_kernel(node: Node) -> LoweringError:
    """The error of a node in a form that its kernels have not."""
    return LoweringError(f"no kernel of {node.op} ends in this form", where=node.name)


def requant31_of(node: Node) -> qops.Requant31:
    """The form of a node whose kernels have this one only.

    Raises:
        LoweringError: it ends otherwise.
    """
    form = form_of(node.attrs)
    if not isinstance(form, qops.Requant31) or form.dtype is not DType.INT8:
        raise no_kernel(node)
    return form


class SingleEnd(NamedTuple):
    """The end of an operator with one multiplier.

    Attributes:
        shift: right shift of the product.
        left: left shift before the product, in a form that rounds twice; None: it rounds once.
    """

    shift: int
    left: int | None


def single31(node: Node) -> SingleEnd:
    """The end of an operator with one multiplier of 31 bits.

    Raises:
        LoweringError: it ends otherwise.
    """
    form = form31_of(node)
    if isinstance(form, qops.Requant31):
        return SingleEnd(form.shift, None)
    return SingleEnd(max(-form.shifts[0], 0), max(form.shifts[0], 0))


def form31_of(node: Node) -> qops.Requant31 | qops.TwoRoundings31:
    """The form of an operator with one multiplier of 31 bits.

    Raises:
        LoweringError: it ends otherwise.
    """
    form = form_of(node.attrs)
    wide = isinstance(form, qops.Requant31) and form.dtype is not DType.INT8
    if wide or not isinstance(form, qops.Requant31 | qops.TwoRoundings31):
        raise no_kernel(node)
    return form


def rescale16x15_of(node: Node) -> qops.Rescale16x15:
    """The form of a node whose kernels have this one only.

    Raises:
        LoweringError: it ends otherwise.
    """
    form = form_of(node.attrs)
    if not isinstance(form, qops.Rescale16x15):
        raise no_kernel(node)
    return form


def ends_in_requant31(node: Node, low: int, high: int) -> bool:
    """Whether a node ends in `qops.Requant31` with these bounds."""
    form = form_of(node.attrs)
    return isinstance(form, qops.Requant31) and (form.low, form.high) == (low, high)


def ends_in_rescale16(node: Node) -> bool:
    """Whether a node ends in `qops.Rescale16x15`."""
    return isinstance(form_of(node.attrs), qops.Rescale16x15)


def accepts_rescale16(_graph: Graph, node: Node, _target: Target) -> bool:
    """`ends_in_rescale16` as a family asks it (`KernelFamily.accepts`)."""
    return ends_in_rescale16(node)


class KernelForm(enum.Enum):
    """A form of the kernels."""

    ARMV6M = "Armv6-M"
    ARMV7M = "Armv7-M"
    ARMV7EM = "Armv7-M with DSP"
    ARMV7A = "Armv7-A"
    A64 = "A64"

    @classmethod
    def of(cls, target: Target) -> KernelForm:
        """The form on a target; a computer that is no Arm core plans as a Cortex-M4 does."""
        if target.is_aarch64:
            return cls.A64
        if not target.has_long_multiply:
            return cls.ARMV6M
        if target.is_cortex_m:
            return cls.ARMV7EM if target.has_dsp else cls.ARMV7M
        return cls.ARMV7A if target.has_wide_thumb else cls.ARMV7EM

    @property
    def is_thumb2(self) -> bool:
        """Builders of responses have assembly with 32-bit Thumb instructions."""
        return self in (KernelForm.ARMV7M, KernelForm.ARMV7EM, KernelForm.ARMV7A)

    @property
    def has_dsp(self) -> bool:
        """They use the DSP extension."""
        return self in (KernelForm.ARMV7EM, KernelForm.ARMV7A)
