"""Copies of the rows of an image that a row of outputs needs: `_neon_strip.c.j2`."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.kernels.common.window import Window

SPARE_BYTES = 16
"""A vector may begin at the last value."""


@dataclass(frozen=True, slots=True)
class Strip:
    """The rows of a window, as wide as all windows of a row of outputs, padding included.

    Attributes:
        window: geometry.
        element_bytes: bytes of an element of x: 1, or 2 of int16, whose zero point is 0.
        splits: the two bytes of an element go to planes of their own (`edgec/dense/split_neon.h`).
    """

    window: Window
    element_bytes: int = 1
    splits: bool = False

    @property
    def width(self) -> int:
        """Columns of x from the first tap of a row of outputs to its last."""
        return (self.window.out_width - 1) * self.window.stride_w + self.window.reach_w

    @property
    def pixel(self) -> int:
        """Bytes of a column of a copied row."""
        return self.window.channels * (1 if self.splits else self.element_bytes)

    @property
    def pitch(self) -> int:
        """Bytes of a copied row."""
        return self.width * self.pixel

    @property
    def copied(self) -> int:
        """Elements of x in a copied row."""
        columns = min(self.window.width, self.width - self.window.pad_left)
        return max(columns, 0) * self.window.channels

    @property
    def copied_bytes(self) -> int:
        """Bytes of x in a copied row."""
        return self.copied * self.element_bytes

    @property
    def plane_bytes(self) -> int:
        """Bytes of all copied rows, or of one plane of them, and of what a vector reads beyond."""
        return self.window.kernel_h * self.pitch + SPARE_BYTES

    @property
    def size_bytes(self) -> int:
        """Bytes of all copied rows, and of what a vector reads beyond them."""
        return self.plane_bytes * (2 if self.splits else 1)
