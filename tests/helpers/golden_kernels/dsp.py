"""Small cases of the kernels for the DSP extension."""

from dataclasses import replace

import specs as s

from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec
from edgec.target.target import Sharing
from golden_kernels.common import (
    ANY,
    BYTE,
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

CASES: dict[str, KernelSpec] = {
    "tile_3x2_padded": s.Tile3x2(WINDOW, 8, 32),
    "tile_3x2_odd_residual": s.Tile3x2(VALID, 7, 32, residual_shift=12),
    "tile_3x2_gathered": s.Tile3x2(ODD, 6, 32),
    "tile_3x2_rescale16_residual": s.Tile3x2(
        POINTWISE, 7, 9, rescale16=Rescale16(WIDE, residual=True)
    ),
    "depthwise_planes": s.DepthwisePlanes(planes(9, 1), 32, saturates=True),
    "depthwise_planes_by_two": s.DepthwisePlanes(
        planes(20, 2), 9, rescale16=Rescale16(INDEX, table=True)
    ),
    "depthwise_narrow": s.DepthwiseNarrow(planes(6, 1), 32),
    "depthwise_narrow_by_two": s.DepthwiseNarrow(planes(9, 2), 0, exact31=OFFSET),
    "depthwise_bands": s.DepthwiseBands(planes(24, 1), 34),
    "depthwise_bands_by_two": s.DepthwiseBands(
        replace(planes(24, 2), pad_top=0, pad_left=0), 0, exact31=OFFSET
    ),
    "depthwise_planes_offset31": s.DepthwisePlanes(planes(9, 1), 0, exact31=OFFSET),
    "tile_3x2_twice31": s.Tile3x2(WINDOW, 5, 0, exact31=TWICE),
    "line_4x2_columns": s.Line4x2(24, 36, 6, None, window=_LINE, shift=32, saturates=True),
    "line_4x2_residual": s.Line4x2(
        24, 36, 6, None, window=_LINE, any_code=True, shift=34, residual_shift=9, saturates=True
    ),
    "line_4x2_patch": s.Line4x2(
        24, 28, 6, None, window=replace(_LINE, channels=3), dual_issue=True, exact31=OFFSET
    ),
    "tile_4x2_offset31": s.Tile4x2(8, 32, 6, None, exact31=OFFSET),
    "tile_4x2_twice31": s.Tile4x2(8, 32, 6, None, dual_issue=True, exact31=TWICE),
    "tile_4x2_twice31_odd": s.Tile4x2(9, 32, 5, None, any_code=True, exact31=ANY),
    "tile_1x4": s.Tile1x4(64, 10, 32),
    "tile_1x4_rest": s.Tile1x4(
        30, 36, 9, rescale16=Rescale16(INDEX, table=True), dual_issue=True, roomy=True
    ),
    "tile_4x2_window": s.Tile4x2(30, 36, 6, Rescale16(BYTE), roomy=True, window=WINDOW),
    "tile_4x2_31": s.Tile4x2(
        30, 36, 6, None, window=WINDOW, any_code=True, shift=32, residual_shift=9, saturates=True
    ),
    "tile_4x2_31_odd": s.Tile4x2(9, 32, 5, None, any_code=True, shift=33),
    "tile_4x2_31_odd_registers": s.Tile4x2(9, 28, 5, None, shift=33, saturates=True),
    "tile_4x2_layer": s.Tile4x2(
        *(8, 32, 6, None), any_code=True, shift=33, saturates=True, sharing=Sharing.LOOPS
    ),
    "tile_4x2_shared": s.Tile4x2(
        *(9, 32, 5, None), any_code=True, shift=33, saturates=True, sharing=Sharing.PRODUCTS
    ),
    "tile_4x2_fewer": s.Tile4x2(9, 32, 6, None, any_code=True, exact31=OFFSET),
    "tile_4x2_four_and_three": s.Tile4x2(
        *(25, 12, 6, None), window=_POINTWISE_10, any_code=True, shift=33, saturates=True
    ),
    "tile_4x2_strided": s.Tile4x2(
        *(12, 12, 6, None), window=_STRIDED, any_code=True, exact31=OFFSET
    ),
    "tile_4x2_shared_fewer": s.Tile4x2(
        *(10, 32, 6, None), any_code=True, shift=33, saturates=True, sharing=Sharing.PRODUCTS
    ),
    "tile_4x2_table": s.Tile4x2(8, 32, 10, Rescale16(INDEX, table=True)),
    "tile_4x2_residual": s.Tile4x2(7, 32, 9, Rescale16(WIDE, residual=True), dual_issue=True),
    "attention_dsp": s.AttentionDsp(1, 9, 8, 2, *HEADS, 15, None),
    "attention_dsp_odd": s.AttentionDsp(2, 8, 9, 2, *HEADS, 15, None, dual_issue=True),
    "attention_dsp_biased": s.AttentionDsp(
        *(1, 5, 7, 2, *HEADS, 15, None), bias_steps=11, bias_stride=0, trimmed=True
    ),
}
