"""Constants of a program under construction, and the numbers that argument structs hold.

Arguments of kernels that differ between layers: the structs of `edgec/arithmetic/params.h` as data.

Each struct is a frozen dataclass beside the families that take it; its fields and their order are
those of the C struct.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from edgec.base.dtypes import Array, DType, frozen
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX, INT32_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.base import LIMITS


@dataclass(frozen=True, slots=True)
class ConstantRef:
    """A constant of the program, by its index in `Program.constants`."""

    index: int


class Params(Hashable, Protocol):
    """An argument struct: a frozen dataclass of integers and references to constants, None where
    there is none.

    `c_type` is the name of the C struct.
    """

    c_type: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


@dataclass(frozen=True, slots=True, eq=False)
class ProgramConstant:
    """A constant array: weights, biases, multipliers, tables.

    Attributes:
        stem: what it holds, a legal C identifier chosen by edgec, e.g. `weights`.
        array: read-only int8, int16 or int32, already in the kernel's layout.
        shared: other models have it as well: linked into one firmware, they keep it once.
    """

    stem: str
    array: Array
    shared: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "array", frozen(self.array))

    @property
    def dtype(self) -> DType:
        """Element type."""
        return DType.of(self.array)


@dataclass(slots=True)
class ConstantPool:
    """The constants of a program under construction; equal ones are kept once."""

    constants: list[ProgramConstant] = field(default_factory=list)
    _known: dict[tuple[str, str, bytes], ConstantRef] = field(default_factory=dict)

    def add(self, stem: str, array: Array, *, shared: bool = False) -> ConstantRef:
        """A reference to an equal array of the same stem, added if there is none.

        Args:
            stem, array, shared: fields of `ProgramConstant`.
        """
        key = (stem, str(array.dtype), hashlib.sha256(array.tobytes()).digest())
        if key not in self._known:
            self._known[key] = ConstantRef(len(self.constants))
            self.constants.append(ProgramConstant(stem, array, shared))
        return self._known[key]


def zero_point(graph: Graph, name: str) -> int:
    """The zero point of a tensor with one quantization."""
    return graph.quant(name).tensor_zero_point


def end_fields(form: qops.Requant31 | qops.TwoRoundings31) -> dict[str, int]:
    """The last three fields of most structs, as keyword arguments."""
    return {"y_zero_point": form.zero_point, "act_min": form.low, "act_max": form.high}


def check_codes(params: Params, graph: Graph, node: Node) -> None:
    """Check that the zero points in a struct fit int8, and the bounds the type of the output.

    Raises:
        InternalError: one does not.
    """
    for name in ("x_zero_point", "a_zero_point", "b_zero_point", "y_zero_point"):
        code = getattr(params, name, 0)
        if not INT8_MIN <= code <= INT8_MAX:
            raise InternalError(f"{name} = {code} is no int8 code", where=node.name)
    dtype = graph.values[node.outputs[0]].dtype
    if isinstance(node.attrs, qops.QChain):  # a struct may be that of any link
        dtype = max((link.dtype for link in node.attrs.links), key=lambda each: each.size_bytes)
    low, high = LIMITS.get(dtype, (INT8_MIN, INT8_MAX))
    for name in ("act_min", "act_max"):
        code = getattr(params, name, 0)
        if not low <= code <= high:
            raise InternalError(f"{name} = {code} is no {dtype.value} code", where=node.name)


def int32_of(values: Array, node: Node) -> Array:
    """Numbers that an accumulator starts from, as int32.

    Raises:
        InternalError: one does not fit, which the quantizer has excluded.
    """
    if np.any((values < INT32_MIN) | (values > INT32_MAX)):
        raise InternalError("an accumulator can overflow 32 bits", where=node.name)
    return frozen(values, np.int32)
