"""Small cases of the kernels for cores without the DSP extension."""

import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.common.form_ends import Rescale16, TypedEnd
from edgec.kernels.common.short_product import ShortProduct
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec
from edgec.target.target import Sharing
from golden_kernels.common import ANY, INDEX, OFFSET, POINTWISE, TWICE, WIDE, WINDOW, planes

_LINE = Window(7, 1, 12, 3, 1, 5, 1, 1, 1, 0, 0, 1, 1)
_TALL = Window(9, 7, 3, 9, 3, 5, 2, 1, 2, 4, 0, 2, 1)

CASES: dict[str, KernelSpec] = {
    "dense_5x2_offset31": s.Dense5x2(WINDOW, 5, 0, step=1, segment=40, tflite31=OFFSET),
    "dense_5x2_two_roundings31": s.Dense5x2(WINDOW, 5, 0, step=1, segment=40, tflite31=ANY),
    "dense_1x4_s8_m0": s.Dense1x4M0(30, 10, 32, product=ShortProduct(2, 20, 12)),
    "dense_1x4_s16_m0": s.Dense1x4S16M0(32, 10, 38, typed=TypedEnd(DType.INT16, DType.INT16)),
    "dense_1x4_s16_m0_rest": s.Dense1x4S16M0(30, 36, 33, typed=TypedEnd(DType.INT16, DType.INT8)),
    "dense_1x4_s8_m0_to_int16": s.Dense1x4M0(30, 10, 33, typed=TypedEnd(DType.INT8, DType.INT16)),
    "dense_1x4_m0_table": s.Dense1x4M0(30, 36, 9, rescale16=Rescale16(INDEX, table=True)),
    "dense_1x4_m0_two_roundings31": s.Dense1x4M0(8, 7, 0, tflite31=TWICE),
    "depthwise_s8_m0": s.DepthwiseM0(planes(9, 1), 32, saturates=True, product=ShortProduct(3)),
    "depthwise_m0_dilated": s.DepthwiseM0(_TALL, 9, rescale16=Rescale16(INDEX, table=True)),
    "depthwise_line_s8_m0": s.DepthwiseLineM0(_LINE, 34, product=ShortProduct(3)),
    "depthwise_line_m0_two_roundings31": s.DepthwiseLineM0(_LINE, 0, tflite31=TWICE),
    "depthwise_m0_offset31": s.DepthwiseM0(planes(9, 2), 0, tflite31=OFFSET),
    "dense_5x2_short": s.Dense5x2(
        WINDOW, 5, 32, step=4, segment=40, product=ShortProduct(4), saturates=True
    ),
    "dense_5x2_padded": s.Dense5x2(WINDOW, 5, 32, 7, step=1, segment=40),
    "dense_5x2_rows": s.Dense5x2(
        POINTWISE,
        7,
        9,
        rescale16=Rescale16(WIDE, residual=True),
        variable=True,
        step=4,
        segment=8,
    ),
    "dense_5x2_layer": s.Dense5x2(
        POINTWISE, 5, 32, step=4, segment=12, product=ShortProduct(4), sharing=Sharing.LOOPS
    ),
    "dense_5x2_window": s.Dense5x2(
        WINDOW, 5, 32, step=1, segment=8, saturates=True, sharing=Sharing.PRODUCTS
    ),
}
