"""How a kernel ends in a form that gives the codes of TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.canonical import LATER
from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node

_LARGEST_SUM = (1 << 30) - 1
"""Largest accumulator that may be doubled, and the largest offset that may be added then."""


@dataclass(frozen=True, slots=True)
class Exact31:
    """What is compiled into a kernel of `qops.Offset31` or `qops.Twice31`.

    Attributes:
        end: "offset31"; of the other form "twice31" where `edgec_requantize_twice_s8` serves it,
            "twice31_any" where it does not.
        shift: right shift of "offset31"; the others have one for each output channel.
        saturates: the bounds are those of int8.
        products: what `kernels.common.short_product` says of the product.
    """

    end: str
    shift: int
    saturates: bool
    products: int = field(default=0, metadata=LATER)

    @property
    def bounds(self) -> str:
        """The bounds of outputs in C."""
        return "INT8_MIN, INT8_MAX" if self.saturates else "p.act_min, p.act_max"

    @property
    def has_shifts(self) -> bool:
        """There is a shift for each output channel."""
        return self.end != "offset31"

    @property
    def stays_in_registers(self) -> bool:
        """`edgec/tile_4x2_exact.h` computes it."""
        return self.end == "twice31" or (self.end == "offset31" and self.shift > 0)


def exact31(graph: Graph, node: Node, form: qops.Twice31 | qops.Offset31) -> Exact31:
    """What is compiled into the kernel of a layer with one of the two forms."""
    saturates = (form.low, form.high) == (INT8_MIN, INT8_MAX)
    if isinstance(form, qops.Offset31):
        return Exact31("offset31", form.shift, saturates)
    simple = _is_simple(graph, node, form)
    return Exact31("twice31" if simple else "twice31_any", 0, saturates)


def _is_simple(graph: Graph, node: Node, form: qops.Twice31) -> bool:
    """Whether `edgec_requantize_twice_s8` computes the form, by the bounds that it states."""
    right = _right(form, _multipliers(graph, node))
    attrs = node.attrs_as(qops.Weighted)
    bound = attrs.bounds(attrs.Inputs.of(graph.tensors(node)))["the accumulator"]
    offsets = np.abs(_offsets(form, right)).max()
    return bool(right.min() >= 1 and max(bound, float(offsets)) <= _LARGEST_SUM)


def form_arrays(graph: Graph, node: Node, end: Exact31) -> tuple[Array, ...]:
    """The numbers of each output channel beside bias and multiplier, in the order of the struct.

    Returns:
        Offsets int32 [O]; of `qops.Twice31` also shifts int8 [O].
    """
    multiplier = _multipliers(graph, node)
    output = node.attrs_as(qops.QConv, qops.QGemm, qops.QConvTranspose).output
    if isinstance(output, qops.Offset31):
        return (np.broadcast_to(np.asarray(output.offsets, np.int32), multiplier.shape),)
    assert isinstance(output, qops.Twice31)
    shifts = np.broadcast_to(np.asarray(output.shifts, np.int64), multiplier.shape)
    offsets = np.full(multiplier.shape, output.zero_point)
    if end.end == "twice31":
        shifts = _right(output, multiplier)
        offsets = _offsets(output, shifts)
    return offsets.astype(np.int32), shifts.astype(np.int8)


def _multipliers(graph: Graph, node: Node) -> Array:
    inputs = node.attrs_as(qops.Weighted).Inputs.of(node.inputs)
    return graph.constants[inputs.multiplier].array


def _right(form: qops.Twice31, multiplier: Array) -> Array:
    """The right shift of each channel: int64 [O]; any will do where every product is 0."""
    return np.where(multiplier == 0, 1, -np.asarray(form.shifts, np.int64))


def _offsets(form: qops.Twice31, right: Array) -> Array:
    """Zero point and half step before the right shift: int64 [O]."""
    shift = np.maximum(right, 1)
    return np.asarray((form.zero_point << shift) + (np.int64(1) << (shift - 1)))
