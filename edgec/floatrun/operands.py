"""What a rule of the float executor takes: arrays of a whole batch of samples.

Every array has an axis for the samples before the axes that the graph knows: a value of shape
[1, H, W, C] is [S, 1, H, W, C] for S samples, a constant has S = 1.  Axes of attributes count from
the graph's first axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.ir.qparams import QuantParams


@dataclass(frozen=True, slots=True, eq=False)
class Operands:
    """Inputs of one node.

    Attributes:
        arrays: float64 (int32 for token ids, masks and indices; codes as they are), one for each
            input; None where an optional one is absent.
        quants: parameters of the inputs that hold codes.
        output_quant: parameters of the output, if it holds codes.
    """

    arrays: Sequence[Array | None]
    quants: Sequence[QuantParams | None]
    output_quant: QuantParams | None

    def __getitem__(self, index: int) -> Array:
        """An input that is there."""
        array = self.arrays[index]
        if array is None:
            raise InternalError(f"operand {index} is absent")
        return array

    def optional(self, index: int) -> Array | None:
        """An input that may be absent."""
        return self.arrays[index] if index < len(self.arrays) else None

    def aligned(self) -> list[Array]:
        """All inputs with as many axes as the largest has, as numpy broadcasts the graph's."""
        arrays = [self[index] for index in range(len(self.arrays))]
        rank = max(array.ndim for array in arrays)
        return [_raised(array, rank) for array in arrays]


Rule = Callable[[Any, Operands], Array]
"""The output of a node from its attributes and operands."""
Rules = Mapping[type, Rule]


def _raised(array: Array, rank: int) -> Array:
    """More axes, after that of the samples."""
    missing = (1,) * (rank - array.ndim)
    return array.reshape(array.shape[:1] + missing + array.shape[1:])
