"""Distances between arrays of numbers: the measures that ST's tools print."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array


@dataclass(frozen=True, slots=True)
class Distance:
    """Distance of what was found, x, from what was wanted, r, over all elements and samples.

    Attributes:
        rmse: root of the mean of (x - r)^2.
        mae: mean of |x - r|.
        l2: |x - r| / |r| in the Euclidean norm; None where r is 0.
        nse: Nash-Sutcliffe efficiency, 1 - sum (x - r)^2 / sum (r - mean r)^2: 1 is equality, 0 as
            good as the mean; None where r is constant.  Source: Nash and Sutcliffe, Journal of
            Hydrology 10 (1970), equation 3.
        cosine: x r / (|x| |r|); None where one of them is 0.
    """

    rmse: float
    mae: float
    l2: float | None
    nse: float | None
    cosine: float | None


def distance(found: Array, wanted: Array) -> Distance:
    """The distance of two arrays of equally many elements.

    Args:
        found, wanted: numbers, computed with in float64; any shape.
    """
    x, r = (np.asarray(each, np.float64).reshape(-1) for each in (found, wanted))
    gap = x - r
    squares = float(gap @ gap)
    norm_x, norm_r = float(np.sqrt(x @ x)), float(np.sqrt(r @ r))
    spread = float(np.sum((r - r.mean()) ** 2))
    return Distance(
        rmse=float(np.sqrt(squares / r.size)),
        mae=float(np.mean(np.abs(gap))),
        l2=float(np.sqrt(squares)) / norm_r if norm_r else None,
        nse=1.0 - squares / spread if spread else None,
        cosine=float(x @ r) / (norm_x * norm_r) if norm_x and norm_r else None,
    )
