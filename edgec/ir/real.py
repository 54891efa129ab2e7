"""Base class of real operators: layout, evaluation and contract, beyond `Operator`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Constant, Tensor
from edgec.ir.layout import Freedom, Perm
from edgec.ir.operator import Operands, Operator
from edgec.ir.shapes import need

NO_LABEL = -1
"""The label of an element that no labelled one comes to: a number to fill with, another operand."""


class RealOperator(Operator):
    """Base of the operators of the stages REAL and ANNOTATED (`ir.ops`)."""

    __slots__ = ()

    CONSTANTS_FOLLOW: ClassVar[bool] = False
    """Whether constant operands are laid out as the output, and transposed with it."""
    ENDS_IN_CLAMP: ClassVar[bool] = False
    """Whether the integer form has clamp bounds (`act_min`, `act_max`); see `ends_in_clamp`."""
    MOVES_CODES: ClassVar[bool] = False
    """Whether the integer form has one quantization on both sides; see `moves_codes`."""
    REAL_STAGE_ONLY: ClassVar[bool] = False
    """Whether the operator is gone when the graph is ANNOTATED."""

    @property
    def freedom(self) -> Freedom:
        """Frames that the operator can work in when its operands have the rank of its output."""
        return Freedom.FIXED

    @property
    def ends_in_clamp(self) -> bool:
        """Whether the integer form has clamp bounds, which a Clip after it becomes."""
        return self.ENDS_IN_CLAMP

    @property
    def moves_codes(self) -> bool:
        """Whether the integer form moves codes, so that operands and output share parameters."""
        return self.MOVES_CODES

    def in_frame(self, frame: Perm) -> Self:
        """The operator that computes ``y.transpose(frame)`` from operands transposed likewise.

        Args:
            frame: permutation of the axes of y that `freedom` allows.
        """
        return self

    def mixes_positions(self, inputs: Any, axis: int) -> bool:
        """Whether an element of the output depends on several positions along an axis of x.

        Only what has no form for an axis whose length a run chooses counts: attention and means
        mix positions, too, and have one.

        Args:
            inputs: the operands' shapes, a record of `Inputs`.
            axis: an axis of the first operand.
        """
        return False

    def labelled(self, inputs: Any) -> Array | None:
        """Labels of the output's elements from those of the operands' (`ir.labels`).

        An operator that moves elements moves their labels; one that computes says as much as is
        known: what it makes of elements of one label alone has that label.

        Args:
            inputs: int64 arrays of the operands' shapes, a record of `Inputs`.

        Returns:
            int64 of the output's shape; None where elements of several labels meet.
        """
        return None

    def evaluate(self, inputs: Any) -> Array | None:
        """The output on constant operands; None for an operator that is not evaluated at import.

        The float executor calls it for each sample of an operator that it has no rule for, as one
        from outside of the package.

        Args:
            inputs: the operands' real values, a record of `Inputs`.
        """
        return None

    def verify_annotated(self, inputs: Any, output: Any) -> None:
        """Check the contract of the stage ANNOTATED beyond `verify`: quantization of constants.

        Args:
            inputs: as for `verify`.
            output: as for `verify`.

        Raises:
            ValueError: the first violation found.
        """


def alike_along(labels: Array, axes: Sequence[int]) -> Array | None:
    """Labels of length 1 along axes along which they are the same; None where they are not."""
    first = labels[tuple(slice(0, 1 if axis in axes else None) for axis in range(labels.ndim))]
    return first if bool((labels == first).all()) else None


def check_int32(tensor: Tensor) -> None:
    """An operand of token ids or of a mask is int32, else ValueError."""
    need(tensor.dtype is DType.INT32, f"it reads {tensor.dtype.value} numbers")


def check_int8_constants(inputs: Operands[Tensor]) -> None:
    """Constant operands are quantized to int8, else ValueError."""
    for tensor in inputs.present():
        quantized = tensor.dtype is DType.INT8 and tensor.quant is not None
        need(not isinstance(tensor, Constant) or quantized, "a constant operand is not int8")
