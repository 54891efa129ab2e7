"""Operands of integer operators: role, legal types, and views for oracle and kernels.

The record of an operator's operands (`ir.operator.Operands`) is the one place that says, besides
their order, which of them a kernel reads as tensors and which are compiled into its arguments.
Each field of a record carries one of the marks below in its metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Constant, Tensor
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.ir.shapes import need

_KEY = "operand"
MULTIPLIERS = (DType.INT16, DType.INT32)
"""Types of multipliers of output channels; the form of a layer says which one it has."""
CODES = (DType.INT8, DType.INT16)
"""Types of tensors that stand for real numbers."""
INT8_SPAN = 256
"""Bound of |q - zero point| of int8 codes; kernels may take the zero point out of the bias."""
MOVABLE = (*CODES, DType.INT32)
"""Types of tensors that may be moved: indices, too."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Role and legal types of one operand in the definition of an operator.

    Attributes:
        dtypes: element types that it may have.
        is_tensor: a kernel reads it as a tensor, by a pointer among its own arguments, in the order
            of the fields; otherwise it is a parameter: a part of the argument struct.
        constant: True if it must be a constant, False if it must be a value; None: either.
    """

    dtypes: tuple[DType, ...]
    is_tensor: bool
    constant: bool | None


def value(*dtypes: DType) -> Mapping[str, Mark]:
    """The mark of a tensor that only exists at run time."""
    return MappingProxyType({_KEY: Mark(dtypes, is_tensor=True, constant=False)})


def tensor(*dtypes: DType) -> Mapping[str, Mark]:
    """The mark of a tensor that is computed at run time or is a constant."""
    return MappingProxyType({_KEY: Mark(dtypes, is_tensor=True, constant=None)})


def table(*dtypes: DType) -> Mapping[str, Mark]:
    """The mark of a constant that kernels read as a tensor."""
    return MappingProxyType({_KEY: Mark(dtypes, is_tensor=True, constant=True)})


def parameter(*dtypes: DType) -> Mapping[str, Mark]:
    """The mark of a constant that goes into the argument struct of a kernel."""
    return MappingProxyType({_KEY: Mark(dtypes, is_tensor=False, constant=True)})


def marks_of(kind: type[Operands[Any]]) -> Mapping[str, Mark]:
    """The marks of the fields of a record by name, in order."""
    return {field.name: field.metadata[_KEY] for field in fields(kind)}


def tensors_of(operands: Operands[str]) -> tuple[str, ...]:
    """The names of the operands that are there and that a kernel reads as tensors, in order."""
    marks = marks_of(type(operands))
    return tuple(name for field, name in operands.items() if marks[field].is_tensor)


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """An operand as an oracle takes it.

    Attributes:
        array: int8 or int16 codes, or parameters.
        zero_point: zero point of codes quantized per tensor; 0 for all else.
    """

    array: Array
    zero_point: int = 0

    @property
    def centred(self) -> Array:
        """``array - zero_point``, int64."""
        return np.asarray(self.array.astype(np.int64) - self.zero_point)

    @property
    def wide(self) -> Array:
        """`array` as int64."""
        return self.array.astype(np.int64)


def span_of(item: Tensor) -> int:
    """Bound of |q - zero point| of a tensor's codes, whatever they are."""
    return 1 << 15 if item.dtype is DType.INT16 else INT8_SPAN


def need_reach(item: Tensor, reach: int) -> None:
    """Check a bound of |q - zero point| of a tensor's codes.

    Raises:
        ValueError: it is none for this type.
    """
    need(0 < reach <= span_of(item), f"bad reach {reach}")
    need(item.dtype is DType.INT16 or reach == span_of(item), "int8 codes reach 256")


def numbers(tensor: Tensor) -> Array:
    """The numbers of a constant as int64; ValueError for a value."""
    if not isinstance(tensor, Constant):
        raise ValueError(f"{tensor.name!r} is no constant")
    return tensor.array.astype(np.int64)


def quant_of(tensor: Tensor) -> QuantParams:
    """The quantization of a tensor; ValueError where there is none."""
    if tensor.quant is None:
        raise ValueError(f"{tensor.name!r} has no quantization")
    return tensor.quant


def largest_code(dtype: DType) -> int:
    """The largest magnitude of an int8 or int16 code: 128 or 32768."""
    return -int(np.iinfo(dtype.numpy).min)


def largest_distance(dtype: DType) -> int:
    """The largest |code - zero point|: 255 of int8, 32768 of int16, whose zero point is 0."""
    return 255 if dtype is DType.INT8 else largest_code(dtype)
