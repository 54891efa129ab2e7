"""Choice of the rounding that all operators of a network compute with."""

from __future__ import annotations

import enum


class Rounding(enum.Enum):
    """Rule by which a sum becomes a code, in every operator of a network.

    TFLM: as TensorFlow Lite Micro does it, to the last bit.  EDGEC: edgec's own single rounding.
    """

    TFLM = "tflm"
    EDGEC = "edgec"
