"""What every real operator says of itself, beyond `Operator`: its freedom of layout."""

from __future__ import annotations

from typing import ClassVar, Self

from edgec.ir.layout import Freedom, Perm
from edgec.ir.operator import Operator


class RealOperator(Operator):
    """Base of the operators of the stages REAL and ANNOTATED (`ir.ops`)."""

    __slots__ = ()

    CONSTANTS_FOLLOW: ClassVar[bool] = False
    """Whether constant operands are laid out as the output, and transposed with it."""
    QUANTIZED_MODELS_ONLY: ClassVar[bool] = False
    """Whether the operator is gone once quantization is planned (stage ANNOTATED)."""

    @property
    def freedom(self) -> Freedom:
        """Frames that the operator can work in when its operands have the rank of its output."""
        return Freedom.FIXED

    def in_frame(self, frame: Perm) -> Self:
        """The operator that computes ``y.transpose(frame)`` from operands transposed likewise.

        Args:
            frame: permutation of the axes of y that `freedom` allows.
        """
        return self
