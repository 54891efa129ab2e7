"""Ends of layers whose outputs are made in vectors of eight or sixteen: `_neon_ends.c.j2`."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import form_of, input_zero_point, is_int8_layer, residual_of
from edgec.kernels.common.form_ends import TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import typed_end

WIDE = 16
HALF = 8
"""Channels of a vector of int8: sixteen or eight."""
_LEAST_HIGH_SHIFT = 32
"""Least shift after which the high half of a doubled product is enough (Arm A64 ISA, SQDMULH)."""
_HALF_BITS = 16
"""Shift of RADDHN for 32-bit elements (Arm A64 ISA)."""
_SUM_BITS = 32
_NARROWING_SHIFTS = range(1, 17)
"""Shifts of SQRSHRN for 32-bit elements (Arm A64 ISA)."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a vector.

    Attributes:
        number: its number in the vector.
        at: the first of its lanes.
        halves: the numbers of the vectors of half its size that it is made of.
    """

    number: int
    at: int
    halves: tuple[int, int]

    @classmethod
    def of(cls, number: int, lanes: int) -> Part:
        """The part with a number, of this many lanes."""
        return cls(number, number * lanes, (2 * number, 2 * number + 1))


@dataclass(frozen=True, slots=True)
class Block:
    """A vector of channels.

    Attributes:
        lanes: 16 or 8.
        count: channels that are stored.
    """

    lanes: int
    count: int

    @property
    def is_full(self) -> bool:
        """All lanes are channels."""
        return self.lanes == self.count

    @property
    def is_wide(self) -> bool:
        """There are sixteen lanes."""
        return self.lanes == WIDE

    @property
    def fours(self) -> tuple[Part, ...]:
        """Vectors of four sums."""
        return tuple(Part.of(number, 4) for number in range(self.lanes // 4))

    @property
    def eights(self) -> tuple[Part, ...]:
        """Vectors of eight codes."""
        return tuple(Part.of(number, HALF) for number in range(self.lanes // HALF))

    @property
    def load(self) -> str:
        """The intrinsic that loads a vector of int8."""
        return "vld1q_s8" if self.is_wide else "vld1_s8"


def has_full_range(node: Node) -> bool:
    """Whether the codes of a layer with weights have no bounds but those of their type."""
    form = residual_of(node.attrs) or form_of(node.attrs)
    bounds = (getattr(form, "low", None), getattr(form, "high", None))
    wide = getattr(form, "dtype", DType.INT8) is DType.INT16
    return bounds == ((INT16_MIN, INT16_MAX) if wide else (INT8_MIN, INT8_MAX))


def reads_int8(graph: Graph, node: Node) -> bool:
    """Whether NEON ends a layer with weights that reads int8: one of int8, or one that gives
    int16.
    """
    return is_int8_layer(graph, node) or _ends_typed(graph, node, DType.INT8) is not None


def reads_int16(graph: Graph, node: Node) -> bool:
    """Whether NEON ends a layer with weights that reads int16, and gives int8 or int16."""
    return _ends_typed(graph, node, DType.INT16) is not None


def _ends_typed(graph: Graph, node: Node, x: DType) -> TypedEnd | None:
    """The end of a layer that reads `x`, if one of both types is int16 and its sums have 32
    bits.
    """
    typed = typed_end(graph, node)
    if typed is None or typed.x is not x or typed.sum_bits > _SUM_BITS:
        return None
    centred = x is DType.INT8 or input_zero_point(graph, node) == 0
    zero_point = getattr(form_of(node.attrs), "zero_point", 0)
    ends = typed.y is DType.INT8 or zero_point == 0
    return typed if centred and ends and residual_of(node.attrs) is None else None


class NeonLayer(LayerFunction):
    """A layer with weights that ends in NEON.

    Attributes:
        shift: right shift of the product with a multiplier of 31 bits.
        full_range: the bounds after a multiplier of 31 bits, or after the addition that follows,
            are those of int8.
    """

    __slots__ = ()
    shift: int
    full_range: bool

    def tile_extras(self, residual: str) -> tuple[tuple[str, str], ...]:
        """Arguments of the function of a tile besides parameters: C parameter and argument.

        Args:
            residual: the name of the parameter that points to the residual.
        """
        extra = (f"const {self.y_type} *{residual}", "added")
        found = {
            "rescale16_table": (("const int8_t *table", "table"),),
            "rescale16_added": (extra,),
            "requant31_added": (extra, ("const edgec_add_params_t *add", "add")),
        }
        return found.get(self.end, ())

    @property
    def requantize_macro(self) -> str:
        """C macro of the requantization."""
        near = self.shift < _LEAST_HIGH_SHIFT
        return "EDGEC_NEON_REQUANTIZE_NEAR" if near else "EDGEC_NEON_REQUANTIZE"

    @property
    def saturates(self) -> bool:
        """Outputs need no bounds after the narrowing to their type."""
        if self.tflite31 is not None:
            return self.tflite31.saturates
        return self.rescale16 is not None or self.full_range

    @property
    def narrow_shift(self) -> int:
        """The last shift, where an instruction narrows to int16, too.

        Of "offset31" products are taken doubled (`edgec_neon_doubled`).
        """
        if self.end == "offset31" and self.tflite31 is not None:
            return self.tflite31.shift + 1
        return self.shift - _LEAST_HIGH_SHIFT + 1

    @property
    def rounds_high(self) -> bool:
        """The sums of an addition are rounded as their high halves, and shifted further."""
        return self.residual_shift is not None and self.residual_shift > _HALF_BITS

    @property
    def half_beside_high(self) -> int:
        """The half step of the addition without that of RADDHN."""
        return (1 << ((self.residual_shift or 0) - 1)) - (1 << (_HALF_BITS - 1))

    @property
    def shift_after_high(self) -> int:
        """The last shift of sums whose high halves were taken."""
        return (self.residual_shift or 0) - _HALF_BITS

    @property
    def narrowing_end(self) -> str:
        """The end of a layer up to int16: `end`, with `_narrow` where one instruction does the last
        shift and the narrowing to int16.
        """
        end = "requant31" if self.end.startswith("requant31") else self.end
        narrows = end in ("requant31", "offset31") and self.narrow_shift in _NARROWING_SHIFTS
        return f"{end}_narrow" if narrows else end

    @property
    def codes_end(self) -> str:
        """The end of codes of 16 bits before they are stored.

        Returns:
            "zero_point": that of outputs is added; "limits16": the bounds of the argument struct
            are those of int16; "added": the addition after a multiplier of 31 bits; "rescale16":
            the bounds that are compiled in; "plain": none.
        """
        if self.end in ("requant31", "requant31_s8", "two_roundings31"):
            return "zero_point"
        if self.end == "requant31_added":
            return "added"
        if self.gives_int16 and self.has_limits:
            return "limits16"
        return "plain" if self.rescale16 is None else "rescale16"

    @property
    def y_zero_point(self) -> str:
        """C expression of the zero point that "zero_point" of `codes_end` adds.

        In the form of two roundings it is what is left of a channel's offset, which holds half a
        step of the last shift besides.
        """
        return "p.y_zero_point" if self.tflite31 is None else "(p.offset[0] >> p.shift[0])"

    @property
    def has_limits(self) -> bool:
        """Codes are bounded by those of the argument struct."""
        return not self.saturates and not self.adds

    @property
    def limits(self) -> tuple[str, str]:
        """The names of these bounds in the argument struct."""
        return ("act_min", "act_max") if self.typed is None else ("low", "high")

    @property
    def gives_int16(self) -> bool:
        """Outputs are int16 by a form that `TypedEnd` describes."""
        return self.typed is not None and self.typed.y is DType.INT16

    @property
    def stores(self) -> str:
        """The form of stored codes: from a "table", "s16" or "s8"."""
        if self.end == "rescale16_table":
            return "table"
        return "s8" if self.y_type == "int8_t" else "s16"
