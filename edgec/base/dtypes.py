"""Element types of tensors, and their names in numpy and C."""

from __future__ import annotations

import enum
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class DType(enum.Enum):
    """Element type of a tensor; the value is numpy's name for it."""

    FLOAT32 = "float32"
    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    BOOL = "bool"

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype."""
        return np.dtype(self.value)

    @property
    def size_bytes(self) -> int:
        """Bytes an element takes."""
        return int(self.numpy.itemsize)

    @property
    def c_name(self) -> str:
        """The C11 type, e.g. `int8_t`."""
        match self:
            case DType.FLOAT32:
                return "float"
            case DType.BOOL:
                return "bool"
            case _:
                return f"{self.value}_t"

    @classmethod
    def of(cls, array: Array) -> DType:
        """The element type of a numpy array; ValueError if the IR has no such type."""
        return _of(array.dtype)


@functools.cache
def _of(dtype: np.dtype[Any]) -> DType:
    """Numpy builds the name anew each time that it is asked for."""
    return DType(dtype.name)


def frozen(array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
    """A read-only, C-contiguous array; a copy unless `array` already is one."""
    result = np.ascontiguousarray(array, dtype=dtype)
    # ascontiguousarray makes a 0-d array 1-d; keep scalars scalar.
    result = result.reshape(np.shape(array))
    if result.flags.writeable:
        result = result.copy()
        result.setflags(write=False)
    return result
