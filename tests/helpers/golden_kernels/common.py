"""Shapes and rescalings that cases of several groups have."""

import specs as s

from edgec.base.dtypes import DType
from edgec.ir.qops import Rescale16x15
from edgec.kernels.common.form_ends import Tflite31
from edgec.kernels.common.window import Window
from edgec.kernels.transformer.attention import Columns

WINDOW = Window(5, 6, 4, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1)
VALID = Window(5, 6, 4, 3, 2, 3, 3, 1, 2, 0, 0, 1, 1)
DILATED = Window(9, 9, 4, 9, 9, 3, 3, 1, 1, 2, 2, 2, 2)
ODD = Window(5, 5, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1)
POINTWISE = Window(5, 5, 12, 5, 5, 1, 1, 1, 1, 0, 0, 1, 1)
LOOPS = (s.Loop(6, (4, 0)), s.Loop(4, (1, 1)))
INDEX = Rescale16x15(3, 9, -512, 511)
BYTE = Rescale16x15(3, 9, -127, 127)
WIDE = Rescale16x15(0, 9, -32768, 32767, DType.INT16)
OFFSET = Tflite31("offset31", 5, saturates=True)
TWICE = Tflite31("two_roundings31", 0, saturates=True)
ANY = Tflite31("two_roundings31_any", 0, saturates=False)
HEADS = (Columns(96, 0, 16), Columns(96, 32, 16), Columns(96, 64, 16))


def planes(side: int, stride: int) -> Window:
    """A padded 3x3 window over eight planes, as depthwise kernels take them."""
    return Window(side, side, 8, *(-(-side // stride),) * 2, 3, 3, stride, stride, 1, 1, 1, 1)
