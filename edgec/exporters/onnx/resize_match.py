"""Which attributes of ONNX `Resize` give the source positions of an `ops.Resize`.

`ops.Resize` holds resolved positions.  Writing it as ONNX's operator needs the attributes back; the
few combinations are tried in turn, and positions that none gives are written as Gathers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from types import MappingProxyType

import numpy as np

from edgec.ir import ops

_Coordinate = Callable[[int, int, int], float]

# Source: ONNX operator specification, Resize, "coordinate_transformation_mode"; (i, in, out) -> x.
_COORDINATES: Mapping[str, _Coordinate] = MappingProxyType(
    {
        "half_pixel": lambda i, n, m: (i + 0.5) * n / m - 0.5,
        "asymmetric": lambda i, n, m: i * n / m,
        "align_corners": lambda i, n, m: i * (n - 1) / (m - 1) if m > 1 else 0.0,
        "pytorch_half_pixel": lambda i, n, m: (i + 0.5) * n / m - 0.5 if m > 1 else 0.0,
    }
)
_NEAREST: Mapping[str, Callable[[float], int]] = MappingProxyType(
    {
        "round_prefer_floor": lambda x: math.ceil(x - 0.5),
        "round_prefer_ceil": lambda x: math.floor(x + 0.5),
        "floor": math.floor,
        "ceil": math.ceil,
    }
)
_TOLERANCE = 1e-5
"""Tolerance of a weight: positions are float32 in some runtimes."""


def match_resize(attrs: ops.Resize, height: int, width: int) -> dict[str, str] | None:
    """Attributes of an ONNX Resize with `sizes` that does the same; None if there are none."""
    rows = (attrs.row_low, attrs.row_high, attrs.row_weights)
    columns = (attrs.col_low, attrs.col_high, attrs.col_weights)
    nearest = attrs.mode is ops.ResizeMode.NEAREST
    for coordinate, rounding in product(_COORDINATES, _NEAREST if nearest else ("",)):
        if all(
            _matches(positions, size, coordinate, rounding)
            for positions, size in ((rows, height), (columns, width))
        ):
            found = {"coordinate_transformation_mode": coordinate, "mode": attrs.mode.value}
            return found | ({"nearest_mode": rounding} if nearest else {})
    return None


def _matches(
    positions: tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]],
    size: int,
    coordinate: str,
    rounding: str,
) -> bool:
    low, high, weights = (np.asarray(part, np.float64) for part in positions)
    given = low + weights * (high - low)
    steps = range(len(given))
    source = np.asarray([_COORDINATES[coordinate](i, size, len(given)) for i in steps])
    if rounding:
        source = np.asarray([_NEAREST[rounding](x) for x in source], np.float64)
    return bool(np.all(np.abs(np.clip(source, 0, size - 1) - given) <= _TOLERANCE))
