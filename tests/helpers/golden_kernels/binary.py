"""Small cases of the kernels of layers of signs and of bit planes."""

import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec

_PADDED = Window(5, 6, 2, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1)
_DILATED = Window(9, 9, 1, 5, 9, 3, 2, 2, 1, 2, 0, 2, 2)
_ROWS = Window(1, 5, 3, 1, 5, 1, 1, 1, 1, 0, 0, 1, 1)

_PLANES = Window(5, 6, 4, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1)
_DILATED_PLANES = Window(9, 9, 2, 5, 9, 3, 2, 2, 1, 2, 0, 2, 2)
_PLANE_ROWS = Window(1, 5, 6, 1, 5, 1, 1, 1, 1, 0, 0, 1, 1)
_TWO_BY_TWO = {"x_planes": 2, "w_planes": 2, "slope": -1}
_TO_TWO = {**_TWO_BY_TWO, "y_planes": 2}

CASES: dict[str, KernelSpec] = {
    "binary_words": s.BinaryWords(_PADDED, 40, 33, True),
    "binary_words_codes": s.BinaryWords(_DILATED, 20, 7, False, 127, 32),
    "binary_words_product": s.BinaryWords(_ROWS, 96, 64, True),
    "binary_words_residual": s.BinaryWords(_ROWS, 96, 5, False, 1, 20, 12),
    "binary_4x4": s.Binary4x4(_PADDED, 40, 33, True),
    "binary_4x4_codes": s.Binary4x4(_DILATED, 20, 7, False, 127, 40),
    "binary_4x4_product": s.Binary4x4(_ROWS, 96, 64, True),
    "binary_4x4_residual": s.Binary4x4(_ROWS, 96, 8, False, 1, 20, 12),
    "plane_words": s.PlaneWords(_PLANES, 40, 33, True, **_TO_TWO),
    "plane_words_codes": s.PlaneWords(_DILATED_PLANES, 20, 7, False, 1, 32, **_TWO_BY_TWO),
    "plane_words_product": s.PlaneWords(_PLANE_ROWS, 96, 64, True, x_planes=2, y_planes=1),
    "plane_words_residual": s.PlaneWords(_PLANE_ROWS, 96, 5, False, 1, 20, 12, **_TWO_BY_TWO),
    "plane_4x4": s.Plane4x4(_PLANES, 40, 33, True, **_TO_TWO),
    "plane_4x4_codes": s.Plane4x4(_DILATED_PLANES, 20, 7, False, 1, 40, **_TWO_BY_TWO),
    "plane_4x4_product": s.Plane4x4(_PLANE_ROWS, 96, 64, True, x_planes=2, y_planes=1),
    "plane_4x4_residual": s.Plane4x4(_PLANE_ROWS, 96, 8, False, 1, 20, 12, **_TWO_BY_TWO),
    "planes": s.Planes(6, 40, 2),
    "planes_neon": s.PlanesNeon(6, 64, 2),
    "planes_neon_rest": s.PlanesNeon(6, 40, 3),
    "signs": s.Signs(6, 40),
    "signs_int16": s.Signs(6, 7, DType.INT16),
    "signs_neon": s.SignsNeon(6, 64),
    "signs_neon_rest": s.SignsNeon(6, 40),
}
