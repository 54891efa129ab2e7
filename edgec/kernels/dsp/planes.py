"""What depthwise convolutions have in common that take channels apart to planes of int16."""

from __future__ import annotations

from abc import ABC, abstractmethod

from edgec.kernels.common.depthwise import DepthwiseFunction
from edgec.kernels.common.overlap import with_ending
from edgec.kernels.family import Distances

PLANES = 4
"""Channels whose planes are made together (`edgec/planes.h`)."""


class PlanesFunction(DepthwiseFunction, ABC):
    """A depthwise convolution that makes codes from the high word of a product.

    Attributes:
        shift: right shift of the product with a multiplier of 31 bits.
    """

    __slots__ = ()
    shift: int

    @property
    @abstractmethod
    def is_whole(self) -> bool:
        """Outputs take the place of the image."""

    @property
    @abstractmethod
    def distance(self) -> int:
        """How far outputs lie before the image, if they do not take its place."""

    @property
    def high_shift(self) -> int:
        """The shift after the high word of the product."""
        return self.shift - 32 if self.exact31 is None else self.exact31.shift

    @property
    def is_rounded(self) -> bool:
        """The high word is rounded."""
        return self.exact31 is not None or self.high_shift == 0


def overlap(spec: PlanesFunction) -> Distances:
    """Strips of rows, in each of them four channels at a time; or the whole image in place."""
    return with_ending(spec, None if spec.is_whole else spec.distance)
