"""Reports of the work on calibration samples, and the check of what the network gives for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import QuantizationError

Progress = Callable[[int, int], None]
"""Called with samples done and samples in all, for each step of the work from the start."""


def check_finite(name: str, values: Array) -> None:
    """Check activations of the float network.

    Raises:
        QuantizationError: some are NaN or infinite.
    """
    if not np.isfinite(values).all():
        raise QuantizationError(
            "the float network computes NaN or infinite values here",
            where=name,
            hint="check the weights and the calibration data",
        )
