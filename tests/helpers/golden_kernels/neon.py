"""Small cases of the kernels for NEON."""

import specs as s

from edgec.base.dtypes import DType
from edgec.kernels.common.form_ends import Rescale16
from edgec.kernels.family import KernelSpec
from golden_kernels.common import ANY, BYTE, HEADS, INDEX, ODD, OFFSET, POINTWISE, TWICE, WIDE

CASES: dict[str, KernelSpec] = {
    "dense_4x4_offset31": s.Dense4x4(POINTWISE, 7, 0, tflite31=OFFSET),
    "dense_4x4_two_roundings31": s.Dense4x4(POINTWISE, 7, 0, tflite31=TWICE),
    "dense_4x4_two_roundings31_any": s.Dense4x4(POINTWISE, 7, 0, tflite31=ANY),
    "dense_4x4_table": s.Dense4x4(POINTWISE, 7, 9, rescale16=Rescale16(INDEX, table=True)),
    "dense_4x4_residual": s.Dense4x4(POINTWISE, 8, 9, rescale16=Rescale16(WIDE, residual=True)),
    "dense_4x4_gathered": s.Dense4x4(ODD, 6, 32, residual_shift=12),
    "attention_neon": s.AttentionNeon(1, 9, 8, 2, *HEADS, 15, None),
    "attention_neon_masked": s.AttentionNeon(2, 8, 9, 2, *HEADS, 13, 9),
    "attention_neon_biased": s.AttentionNeon(
        4, 5, 7, 2, *HEADS, 15, None, bias_steps=11, bias_stride=35
    ),
    "norm_neon": s.NormNeon(4, 67, True, 4, 17, -127, 127, DType.INT8),
    "rescale_neon": s.RescaleNeon(100, DType.INT16, Rescale16(BYTE)),
    "add_s16_neon": s.StreamAddNeon(100),
    "lut_neon": s.LutNeon(100),
}
