"""Small cases of the kernels with 16-bit activations."""

import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.family import KernelSpec
from golden_kernels.common import DILATED, LOOPS, ODD, WINDOW

_FACTORS = ("1571329543, -1", "1073741824, 0", "1760936541, -14")

CASES: dict[str, KernelSpec] = {
    "wide_conv_padded": s.WideConv(WINDOW, 8, 1, 64, 0, 32767),
    "wide_conv_grouped": s.WideConv(DILATED, 6, 2, 32, -32768, 32767),
    "wide_add": s.WideAdd(LOOPS, -32768, 32767, *_FACTORS, subtracts=False),
    "wide_sub": s.WideAdd(LOOPS, 0, 32767, *_FACTORS, subtracts=True),
    "wide_mul": s.WideMul(LOOPS, -32768, 32767, "1760936576, -14"),
    "wide_rescale": s.WideRescale(100, DType.INT16, DType.INT8, "1573741824, -8", 0, -7, -128, 127),
    "wide_average": s.WideAverage(ODD, -32768, 32767),
    "wide_logistic": s.WideSigmoid(100, False, 20132, 12),
    "wide_tanh": s.WideSigmoid(100, True, 3, 0),
    "wide_softmax": s.WideSoftmax(3, 10, "1288490189, 2"),
}
