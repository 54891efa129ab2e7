"""Inputs and outputs of a running model, as the compiled library or the firmware describes them."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.base.dtypes import DType


@dataclass(frozen=True, slots=True)
class PortTensor:
    """An input or output of a running model.

    Attributes:
        size_bytes: its size.
        dtype: INT8, INT16 or INT32.
        zero_point: code of the real number 0.
    """

    size_bytes: int
    dtype: DType
    zero_point: int
