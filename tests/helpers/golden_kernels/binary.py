"""Small cases of the kernels of layers of signs."""

import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec

_PADDED = Window(5, 6, 2, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1)
_DILATED = Window(9, 9, 1, 5, 9, 3, 2, 2, 1, 2, 0, 2, 2)
_ROWS = Window(1, 5, 3, 1, 5, 1, 1, 1, 1, 0, 0, 1, 1)

CASES: dict[str, KernelSpec] = {
    "binary_words": s.BinaryWords(_PADDED, 40, 33, True),
    "binary_words_codes": s.BinaryWords(_DILATED, 20, 7, False, 127, 32),
    "binary_words_product": s.BinaryWords(_ROWS, 96, 64, True),
    "binary_words_residual": s.BinaryWords(_ROWS, 96, 5, False, 1, 20, 12),
    "binary_4x4": s.Binary4x4(_PADDED, 40, 33, True),
    "binary_4x4_codes": s.Binary4x4(_DILATED, 20, 7, False, 127, 40),
    "binary_4x4_product": s.Binary4x4(_ROWS, 96, 64, True),
    "binary_4x4_residual": s.Binary4x4(_ROWS, 96, 8, False, 1, 20, 12),
    "signs": s.Signs(6, 40),
    "signs_int16": s.Signs(6, 7, DType.INT16),
    "signs_neon": s.SignsNeon(6, 64),
    "signs_neon_rest": s.SignsNeon(6, 40),
}
