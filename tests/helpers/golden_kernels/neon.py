"""Small cases of the kernels for NEON."""

import specs as s

from edgec.base.dtypes import DType
from edgec.ir.qops import CodeMean, Requant31, TwoRoundings31
from edgec.kernels.common.form_ends import Rescale16, TypedEnd
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec
from golden_kernels.common import (
    ANY,
    BYTE,
    DILATED,
    HEADS,
    INDEX,
    ODD,
    OFFSET,
    POINTWISE,
    TWICE,
    WIDE,
    WINDOW,
    planes,
)

_PAIRS = ((0, 1), (2, 3), (4, 5), (6, 7), (8,))
_FEW = ((0, 1, 2), (3,))
_LINE = Window(80, 1, 37, 10, 1, 71, 1, 1, 1, 0, 0, 1, 1)
_WIDE_LINE = Window(1, 90, 16, 1, 18, 1, 73, 1, 1, 0, 0, 1, 1)
_ROWS = Window(9, 12, 32, 7, 12, 3, 1, 1, 1, 0, 0, 1, 1)
_NEIGHBOURS = Window(8, 16, 16, 8, 16, 3, 3, 1, 1, 1, 1, 1, 1)
_ROW = Window(1, 1, 100, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1)
_RUNS = Window(9, 9, 32, 5, 5, 3, 3, 2, 2, 1, 1, 1, 1)
_COLUMN = ((0, 2), (1,))
_S16 = TypedEnd(DType.INT16, DType.INT16)
_TO_S8 = TypedEnd(DType.INT16, DType.INT8)
_TO_S16 = TypedEnd(DType.INT8, DType.INT16)
_ONCE = TypedEnd(DType.INT16, DType.INT16, has_shifts=True)
_SINGLE = tuple((tap,) for tap in range(9))
_MATRICES = ((s.Loop(3, (20, 0)),), 4, 5, 11, (5, 1), (11, 1))
_ENTRY = s.Element("lut", "Table look-up", "edgec_entry")
_LINE_OF = s.Element("lut", "Interpolated table", "edgec_line_inside", (10, 0))
_MUL = s.Element("mul", "Product", "edgec_mul_once", (32,), "edgec_mul_params_t")
_SUM = s.Element("add", "Sum", "edgec_add_once", (15,), "edgec_add_params_t")

CASES: dict[str, KernelSpec] = {
    "dense_4x4_offset31": s.Dense4x4(POINTWISE, 7, 0, tflite31=OFFSET),
    "dense_4x4_two_roundings31": s.Dense4x4(POINTWISE, 7, 0, tflite31=TWICE),
    "dense_4x4_two_roundings31_any": s.Dense4x4(POINTWISE, 7, 0, tflite31=ANY),
    "dense_4x4_table": s.Dense4x4(POINTWISE, 7, 9, rescale16=Rescale16(INDEX, table=True)),
    "dense_4x4_residual": s.Dense4x4(POINTWISE, 8, 9, rescale16=Rescale16(WIDE, residual=True)),
    "dense_4x4_gathered": s.Dense4x4(ODD, 6, 32, residual_shift=12),
    "dense_4x4_paired": s.Dense4x4(_NEIGHBOURS, 8, 38, 12, paired=True, full_range=True),
    "dense_4x4_paired_row": s.Dense4x4(_ROW, 5, 38, paired=True),
    "dense_4x4_packed_runs": s.Dense4x4(_RUNS, 7, 38, 21, full_range=True),
    "dense_1x4_packed_neon": s.Dense1x4PackedNeon(200, 10, 2, 38, full_range=True),
    "dense_1x4_packed_neon_of_3": s.Dense1x4PackedNeon(
        130, 7, 3, 9, rescale16=Rescale16(INDEX, table=True)
    ),
    "dense_1x4_packed_neon_of_4": s.Dense1x4PackedNeon(40, 9, 4, 0, tflite31=TWICE),
    "dense_1x4_packed_neon_added": s.Dense1x4PackedNeon(64, 8, 4, 32, 12),
    "dense_1x4_packed_neon_to_s16": s.Dense1x4PackedNeon(64, 8, 2, 31, typed=_TO_S16),
    "dense_1x32_table_neon": s.Dense1x32Table(200, 130, 2, 1, 38, full_range=True),
    "dense_1x32_table_signs": s.Dense1x32Table(64, 40, 1, 127, 0, tflite31=TWICE),
    "dense_1x32_table_added": s.Dense1x32Table(64, 64, 1, 1, 32, 12),
    "dense_1x32_table_of_table": s.Dense1x32Table(
        64, 33, 2, 1, 9, rescale16=Rescale16(INDEX, table=True)
    ),
    "dense_8x8": s.Dense8x8(Window(1, 21, 32, 1, 21, 1, 1, 1, 1, 0, 0, 1, 1), 13, 38),
    "dense_8x8_single": s.Dense8x8(Window(1, 1, 37, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1), 10, 30),
    "dense_8x8_strip": s.Dense8x8(Window(8, 16, 16, 8, 16, 3, 3, 1, 1, 1, 1, 1, 1), 16, 38, 12),
    "dense_8x8_windows": s.Dense8x8(Window(20, 9, 1, 10, 5, 8, 4, 2, 2, 3, 1, 1, 1), 16, 38),
    "dense_8x8_words": s.Dense8x8(Window(9, 16, 3, 9, 16, 3, 3, 1, 1, 1, 1, 1, 1), 8, 38, 21),
    "dense_8x8_offset31": s.Dense8x8(POINTWISE, 7, 0, tflite31=OFFSET),
    "dense_8x8_two_roundings31": s.Dense8x8(ODD, 8, 0, tflite31=TWICE),
    "dense_8x8_two_roundings31_any": s.Dense8x8(DILATED, 8, 0, tflite31=ANY),
    "dense_8x8_table": s.Dense8x8(POINTWISE, 7, 9, rescale16=Rescale16(INDEX, table=True)),
    "dense_8x8_residual": s.Dense8x8(POINTWISE, 9, 9, rescale16=Rescale16(WIDE, residual=True)),
    "dense_8x8_narrow": s.Dense8x8(ODD, 17, 9, rescale16=Rescale16(BYTE)),
    "dense_4x4_to_s16": s.Dense4x4(POINTWISE, 7, 31, typed=_TO_S16),
    "dense_8x8_to_s16": s.Dense8x8(ODD, 9, 31, typed=_TO_S16),
    "dense_4x16": s.Dense4x16(_NEIGHBOURS, 40, 38, typed=_S16),
    "dense_4x16_eight": s.Dense4x16(_NEIGHBOURS, 17, 38, typed=_S16, lanes=8),
    "dense_4x16_single": s.Dense4x16(_ROW, 10, 38, typed=_TO_S8, full_range=True),
    "dense_4x16_windows": s.Dense4x16(DILATED, 8, 0, typed=_ONCE),
    "dense_4x16_image": s.Dense4x16(POINTWISE, 25, 36, typed=_S16, full_range=True),
    "dense_8x8_s16": s.Dense8x8S16(_NEIGHBOURS, 40, 38, typed=_S16),
    "dense_8x8_s16_single": s.Dense8x8S16(_ROW, 10, 38, typed=_TO_S8),
    "dense_8x8_s16_windows": s.Dense8x8S16(DILATED, 8, 0, typed=_ONCE),
    "dense_8x8_s16_image": s.Dense8x8S16(POINTWISE, 25, 36, typed=_S16, full_range=True),
    "dense_8x8_s16_runs": s.Dense8x8S16(_RUNS, 7, 38, typed=_S16),
    "depthwise_s16_neon": s.DepthwiseS16Neon(planes(9, 2), _SINGLE, 38, typed=_S16),
    "depthwise_s16_neon_in_place": s.DepthwiseS16Neon(_ROWS, _SINGLE[:3], 38, typed=_S16),
    "depthwise_s16_neon_folded": s.DepthwiseS16Neon(WINDOW, _SINGLE, 30, typed=_TO_S8),
    "depthwise_s16_neon_once": s.DepthwiseS16Neon(ODD, _SINGLE[:4], 0, typed=_ONCE),
    "depthwise_s16_neon_looped": s.DepthwiseS16Neon(
        _LINE, tuple((tap,) for tap in range(71)), 38, typed=_S16
    ),
    "depthwise_neon_to_s16": s.DepthwiseNeon(planes(9, 2), _PAIRS, 30, typed=_TO_S16),
    "average_pool_neon": s.AveragePool(
        _ROWS, True, DType.INT8, -3, Requant31(32, 5), has_neon=True
    ),
    "average_pool_short_neon": s.AveragePool(
        _ROWS, True, DType.INT8, -3, Requant31(29, 5), has_neon=True
    ),
    "average_pool_s16_neon": s.AveragePool(
        _ROWS, True, DType.INT16, 0, Requant31(36, 0, -32767, 32767, DType.INT16), has_neon=True
    ),
    "max_pool_neon": s.MaxPool(_ROWS, in_words=True),
    "average_pool_codes_neon": s.AveragePool(
        _ROWS, False, DType.INT8, 0, CodeMean(0, 127), has_neon=True
    ),
    "depthwise_neon": s.DepthwiseNeon(planes(9, 2), _PAIRS, 38),
    "depthwise_neon_folded": s.DepthwiseNeon(WINDOW, _PAIRS, 30),
    "depthwise_neon_residual31": s.DepthwiseNeon(planes(6, 1), _PAIRS, 50, residual_shift=12),
    "depthwise_neon_offset31": s.DepthwiseNeon(ODD, _FEW, 0, tflite31=OFFSET),
    "depthwise_neon_two_roundings31": s.DepthwiseNeon(DILATED, _PAIRS, 0, tflite31=TWICE),
    "depthwise_neon_two_roundings31_any": s.DepthwiseNeon(_ROWS, _COLUMN, 0, tflite31=ANY),
    "depthwise_neon_in_place": s.DepthwiseNeon(_ROWS, _COLUMN, 38),
    "depthwise_neon_table": s.DepthwiseNeon(ODD, _FEW, 9, rescale16=Rescale16(INDEX, table=True)),
    "depthwise_neon_residual": s.DepthwiseNeon(
        planes(7, 2), _PAIRS, 9, rescale16=Rescale16(WIDE, residual=True)
    ),
    "depthwise_neon_narrow": s.DepthwiseNeon(_ROWS, _COLUMN, 9, rescale16=Rescale16(BYTE)),
    "depthwise_neon_looped": s.DepthwiseNeon(
        _LINE, tuple((tap,) for tap in range(71)), 9, rescale16=Rescale16(WIDE)
    ),
    "depthwise_neon_looped_pairs": s.DepthwiseNeon(
        _WIDE_LINE, (*((tap, tap + 1) for tap in range(0, 72, 2)), (72,)), 38
    ),
    "attention_neon": s.AttentionNeon(1, 9, 8, 2, *HEADS, 15, None),
    "attention_neon_masked": s.AttentionNeon(2, 8, 9, 2, *HEADS, 13, 9),
    "attention_neon_biased": s.AttentionNeon(
        4, 5, 7, 2, *HEADS, 15, None, bias_steps=11, bias_stride=35
    ),
    "matmul_neon": s.MatMulNeon(*_MATRICES, DType.INT8, DType.INT16, Requant31(40), 16),
    "matmul_neon_short": s.MatMulNeon(*_MATRICES, DType.INT8, DType.INT8, BYTE),
    "matmul_neon_twice": s.MatMulNeon(*_MATRICES, DType.INT16, DType.INT8, TwoRoundings31((-6,))),
    "norm_neon": s.NormNeon(4, 67, True, 4, 17, -127, 127, DType.INT8),
    "rescale_neon": s.RescaleNeon(100, DType.INT16, Rescale16(BYTE)),
    "elements_neon": s.ElementsNeon(
        (s.Step(_ENTRY, (0, 2)), s.Step(_MUL, (-1, 1)), s.Step(_SUM, (-2, 0))),
        (s.Loop(3, (20, 1)), s.Loop(20, (1, 0))),
        (DType.INT8, DType.INT16, DType.INT16),
        (DType.INT8,),
    ),
    "elements_neon_line": s.ElementsNeon(
        (s.Step(_LINE_OF, (0, 1)),), (s.Loop(64, (1,)),), (DType.INT16,) * 2, (DType.INT16,)
    ),
    "elements_neon_codes": s.ElementsNeon(
        (s.Step(s.Element("add", "Sum", "edgec_add_codes", (-32768, 32767)), (0, 1)),),
        (s.Loop(100, (1, 1)),),
        (DType.INT16,) * 3,
    ),
    "add_s8_neon": s.TfliteAddNeon(100, False, 2, 0, 17),
    "add_s8_neon_difference": s.TfliteAddNeon(64, True, 0, 1, 0),
    "add_s8_neon_halved": s.TfliteAddNeon(64, False, 0, 1, 17, a_halved=True, full_range=True),
    "lut_neon": s.LutNeon(100),
}
