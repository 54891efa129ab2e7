"""Numbers among the attributes of a node."""

from __future__ import annotations

import math

from edgec.importers.common.tensors import UnsupportedError


def finite_number(number: float) -> float:
    """The number itself.

    Raises:
        UnsupportedError: it is infinite or NaN.
    """
    if not math.isfinite(number):
        raise UnsupportedError(f"{number} is no finite number", "correct the model")
    return number
