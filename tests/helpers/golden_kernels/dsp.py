"""Small cases of the kernels for the DSP extension."""

from dataclasses import replace

import specs as s

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.kernels.common.form_ends import Rescale16, TypedEnd
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec
from edgec.target.target import Sharing
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
    VALID,
    WIDE,
    WINDOW,
    planes,
)

_LINE = Window(6, 6, 4, 4, 6, 3, 3, 1, 1, 0, 1, 1, 1)
_POINTWISE_10 = Window(5, 5, 10, 5, 5, 1, 1, 1, 1, 0, 0, 1, 1)
_STRIDED = Window(5, 8, 12, 3, 4, 1, 1, 2, 2, 0, 0, 1, 1)


def _taps(count: int) -> Window:
    """Taps over time, on two frames more."""
    return Window(count + 2, 1, 10, 3, 1, count, 1, 1, 1, 0, 0, 1, 1)


_MATRICES = ((s.Loop(3, (20, 0)),), 4, 5, 6, (5, 1), (1, 5))

CASES: dict[str, KernelSpec] = {
    "dense_2x2_s16_dsp": s.Dense2x2(WINDOW, 7, 32),
    "dense_2x2_widening": s.Dense2x2(ODD, 6, 31, TypedEnd(DType.INT8, DType.INT16)),
    "dense_2x2_s16_once": s.Dense2x2(
        WINDOW, 7, 0, TypedEnd(DType.INT16, DType.INT16, has_shifts=True, from_high=True)
    ),
    "dense_2x2_s16_in_parts": s.Dense2x2(
        replace(ODD, channels=300), 6, 0, TypedEnd(DType.INT16, DType.INT16, 64, has_shifts=True)
    ),
    "dense_2x2_s16_groups": s.Dense2x2(WINDOW, 6, 32, None, 2),
    "dense_2x2_s16_groups_twice": s.Dense2x2(DILATED, 8, 0, None, 4, tflite31=TWICE),
    "dense_3x2_padded": s.Dense3x2(WINDOW, 8, 32),
    "dense_3x2_odd_residual": s.Dense3x2(VALID, 7, 32, residual_shift=12),
    "dense_3x2_gathered": s.Dense3x2(ODD, 6, 32),
    "dense_3x2_rescale16_residual": s.Dense3x2(
        POINTWISE, 7, 9, rescale16=Rescale16(WIDE, residual=True)
    ),
    "depthwise_3x3_s8_dsp": s.Depthwise3x3(planes(9, 1), 32, saturates=True),
    "depthwise_3x3_by_two": s.Depthwise3x3(
        planes(20, 2), 9, rescale16=Rescale16(INDEX, table=True)
    ),
    "depthwise_3x3_few_columns_s8_dsp": s.Depthwise3x3FewColumns(planes(6, 1), 32),
    "depthwise_3x3_few_columns_by_two": s.Depthwise3x3FewColumns(planes(9, 2), 0, tflite31=OFFSET),
    "depthwise_3x3_many_columns_s8_dsp": s.Depthwise3x3ManyColumns(planes(24, 1), 34),
    "depthwise_3x3_many_columns_by_two": s.Depthwise3x3ManyColumns(
        replace(planes(24, 2), pad_top=0, pad_left=0), 0, tflite31=OFFSET
    ),
    "depthwise_3x3_many_columns_inside": s.Depthwise3x3ManyColumns(
        Window(3, 20, 24, 1, 20, 3, 3, 1, 1, 0, 1, 1, 1), 34
    ),
    "depthwise_s8_dsp": s.DepthwiseDsp(Window(9, 9, 16, 9, 9, 5, 5, 1, 1, 2, 2, 1, 1), 34),
    "depthwise_by_two": s.DepthwiseDsp(
        Window(26, 26, 12, 10, 10, 7, 7, 2, 2, 0, 0, 1, 1), 0, tflite31=OFFSET
    ),
    "depthwise_s16_dsp": s.DepthwiseS16(Window(9, 9, 16, 9, 9, 5, 5, 1, 1, 2, 2, 1, 1), 34),
    "depthwise_s16_over_time": s.DepthwiseS16(_taps(10), 34, low=0),
    "depthwise_s16_once": s.DepthwiseS16(
        _taps(9),
        0,
        typed=TypedEnd(DType.INT16, DType.INT16, has_shifts=True, from_high=True),
        low=-32768,
    ),
    "depthwise_over_time": s.DepthwiseDsp(_taps(10), 0, tflite31=TWICE),
    "depthwise_line_s8_dsp": s.DepthwiseLine(_taps(5), 34),
    "depthwise_line_looped": s.DepthwiseLine(_taps(29), 0, tflite31=TWICE),
    "depthwise_line_offsets": s.DepthwiseLine(_taps(4), 0, tflite31=OFFSET),
    "depthwise_3x3_offset31": s.Depthwise3x3(planes(9, 1), 0, tflite31=OFFSET),
    "dense_3x2_two_roundings31": s.Dense3x2(WINDOW, 5, 0, tflite31=TWICE),
    "conv_4x2_columns": s.Conv4x2(24, 36, 6, None, window=_LINE, shift=32, saturates=True),
    "conv_4x2_residual": s.Conv4x2(
        24, 36, 6, None, window=_LINE, any_code=True, shift=34, residual_shift=9, saturates=True
    ),
    "conv_4x2_patch": s.Conv4x2(
        24, 28, 6, None, window=replace(_LINE, channels=3), dual_issue=True, tflite31=OFFSET
    ),
    "dense_4x2_offset31": s.Dense4x2(8, 32, 6, None, tflite31=OFFSET),
    "dense_4x2_two_roundings31": s.Dense4x2(8, 32, 6, None, dual_issue=True, tflite31=TWICE),
    "dense_4x2_two_roundings31_odd": s.Dense4x2(9, 32, 5, None, any_code=True, tflite31=ANY),
    "dense_1x4_dsp": s.Dense1x4(64, 10, 32),
    "dense_1x4_packed_dsp": s.Dense1x4Packed(64, 10, 4, 32),
    "dense_1x4_packed_of_3": s.Dense1x4Packed(30, 36, 3, 9, rescale16=Rescale16(INDEX, table=True)),
    "dense_1x4_packed_of_2": s.Dense1x4Packed(50, 7, 2, 0, tflite31=TWICE),
    "dense_1x4_s16": s.Dense1x4(30, 10, 38, typed=TypedEnd(DType.INT16, DType.INT16)),
    "dense_1x4_s16_in_place": s.Dense1x4(
        32, 10, 38, typed=TypedEnd(DType.INT16, DType.INT16, even=True)
    ),
    "dense_1x4_s16_dual": s.Dense1x4(
        32, 10, 38, typed=TypedEnd(DType.INT16, DType.INT16), dual_issue=True
    ),
    "dense_1x4_rest": s.Dense1x4(
        30, 36, 9, rescale16=Rescale16(INDEX, table=True), dual_issue=True, roomy=True
    ),
    "dense_4x2_window": s.Dense4x2(30, 36, 6, Rescale16(BYTE), roomy=True, window=WINDOW),
    "dense_4x2_31": s.Dense4x2(
        30, 36, 6, None, window=WINDOW, any_code=True, shift=32, residual_shift=9, saturates=True
    ),
    "dense_4x2_31_odd": s.Dense4x2(9, 32, 5, None, any_code=True, shift=33),
    "dense_4x2_31_odd_registers": s.Dense4x2(9, 28, 5, None, shift=33, saturates=True),
    "dense_4x2_layer": s.Dense4x2(
        *(8, 32, 6, None), any_code=True, shift=33, saturates=True, sharing=Sharing.LOOPS
    ),
    "dense_4x2_shared": s.Dense4x2(
        *(9, 32, 5, None), any_code=True, shift=33, saturates=True, sharing=Sharing.PRODUCTS
    ),
    "dense_4x2_fewer": s.Dense4x2(9, 32, 6, None, any_code=True, tflite31=OFFSET),
    "dense_4x2_four_and_three": s.Dense4x2(
        *(25, 12, 6, None), window=_POINTWISE_10, any_code=True, shift=33, saturates=True
    ),
    "dense_4x2_strided": s.Dense4x2(
        *(12, 12, 6, None), window=_STRIDED, any_code=True, tflite31=OFFSET
    ),
    "dense_4x2_shared_fewer": s.Dense4x2(
        *(10, 32, 6, None), any_code=True, shift=33, saturates=True, sharing=Sharing.PRODUCTS
    ),
    "dense_4x2_table": s.Dense4x2(8, 32, 10, Rescale16(INDEX, table=True)),
    "dense_4x2_residual": s.Dense4x2(7, 32, 9, Rescale16(WIDE, residual=True), dual_issue=True),
    "matmul_dsp": s.MatMulDsp(*_MATRICES, DType.INT8, DType.INT8, BYTE, 6),
    "matmul_dsp_once": s.MatMulDsp(*_MATRICES, DType.INT16, DType.INT16, qops.Once15((24,)), 4),
    "matmul_dsp_s16": s.MatMulDsp(
        *(*_MATRICES, DType.INT16, DType.INT8),
        *(qops.Requant31(36, 0, -32767, 32767, DType.INT16), 6),
    ),
    "attention_dsp": s.AttentionDsp(1, 9, 8, 2, *HEADS, 15, None),
    "attention_dsp_odd": s.AttentionDsp(2, 8, 9, 2, *HEADS, 15, None, dual_issue=True),
    "attention_dsp_biased": s.AttentionDsp(
        *(1, 5, 7, 2, *HEADS, 15, None), bias_steps=11, bias_stride=0, trimmed=True
    ),
}
