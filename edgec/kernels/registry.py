"""The families of kernels, one line each: of several that serve a node, the first one wins.

Families for some cores stand above plain C, which accepts every node of its operators.
"""

from __future__ import annotations

from typing import Any

from edgec.kernels.dsp.attention import FAMILY as DSP_ATTENTION
from edgec.kernels.dsp.conv_4x2_s8_dsp import FAMILY as DSP_CONV_4X2
from edgec.kernels.dsp.dense_1x4_dsp import FAMILY as DSP_DENSE_1X4
from edgec.kernels.dsp.dense_1x4_packed_dsp import FAMILY as DSP_DENSE_1X4_PACKED
from edgec.kernels.dsp.dense_2x2_s16_dsp import FAMILY as DSP_DENSE_2X2
from edgec.kernels.dsp.dense_3x2_s8_dsp import FAMILY as DSP_DENSE_3X2
from edgec.kernels.dsp.dense_4x2_s8_dsp import FAMILY as DSP_DENSE_4X2
from edgec.kernels.dsp.depthwise_3x3_few_columns_s8_dsp import (
    FAMILY as DSP_DEPTHWISE_3X3_FEW_COLUMNS,
)
from edgec.kernels.dsp.depthwise_3x3_many_columns_s8_dsp import (
    FAMILY as DSP_DEPTHWISE_3X3_MANY_COLUMNS,
)
from edgec.kernels.dsp.depthwise_3x3_s8_dsp import FAMILY as DSP_DEPTHWISE_3X3
from edgec.kernels.dsp.depthwise_line_s8_dsp import FAMILY as DSP_DEPTHWISE_LINE
from edgec.kernels.dsp.depthwise_s8_dsp import FAMILY as DSP_DEPTHWISE
from edgec.kernels.dsp.depthwise_s16_dsp import FAMILY as DSP_DEPTHWISE_S16
from edgec.kernels.dsp.matmul_dsp import FAMILY as DSP_MATMUL
from edgec.kernels.family import KernelFamily, KernelSpec
from edgec.kernels.generic.arg_max import FAMILY as GENERIC_ARG_MAX
from edgec.kernels.generic.average_pool import FAMILY as GENERIC_AVERAGE_POOL
from edgec.kernels.generic.binary_words import FAMILY as GENERIC_BINARY
from edgec.kernels.generic.biquad import FAMILY as GENERIC_BIQUAD
from edgec.kernels.generic.channel_scale import FAMILY as CHANNEL_SCALE
from edgec.kernels.generic.columns import FAMILY as GENERIC_COLUMNS
from edgec.kernels.generic.concat import FAMILY as GENERIC_CONCAT
from edgec.kernels.generic.conv2d import FAMILY as GENERIC_CONV2D
from edgec.kernels.generic.conv_transpose import FAMILY as GENERIC_CONV_TRANSPOSE
from edgec.kernels.generic.depthwise import FAMILY as GENERIC_DEPTHWISE
from edgec.kernels.generic.elementwise import FAMILY as ELEMENTWISE
from edgec.kernels.generic.elementwise_chain import FAMILY as ELEMENTWISE_CHAIN
from edgec.kernels.generic.fill import FAMILY as GENERIC_FILL
from edgec.kernels.generic.frame import FAMILY as GENERIC_FRAME
from edgec.kernels.generic.gemm import FAMILY as GENERIC_GEMM
from edgec.kernels.generic.log_mel import FAMILY as GENERIC_LOG_MEL
from edgec.kernels.generic.log_softmax import FAMILY as GENERIC_LOG_SOFTMAX
from edgec.kernels.generic.matmul import FAMILY as GENERIC_MATMUL
from edgec.kernels.generic.max_pool import FAMILY as GENERIC_MAX_POOL
from edgec.kernels.generic.micro_features import FAMILY as GENERIC_MICRO_FEATURES
from edgec.kernels.generic.pad import FAMILY as GENERIC_PAD
from edgec.kernels.generic.plane_words import FAMILY as GENERIC_PLANE_LAYERS
from edgec.kernels.generic.planes import FAMILY as GENERIC_PLANES
from edgec.kernels.generic.reduce import FAMILY as GENERIC_REDUCE
from edgec.kernels.generic.resize_linear import FAMILY as GENERIC_RESIZE_LINEAR
from edgec.kernels.generic.resize_nearest import FAMILY as GENERIC_RESIZE_NEAREST
from edgec.kernels.generic.sensor_features import FAMILY as GENERIC_SENSOR_FEATURES
from edgec.kernels.generic.signs import FAMILY as GENERIC_SIGNS
from edgec.kernels.generic.slide import FAMILY as GENERIC_SLIDE
from edgec.kernels.generic.softmax import FAMILY as GENERIC_SOFTMAX
from edgec.kernels.generic.sparse_rows import FAMILY as GENERIC_SPARSE_ROWS
from edgec.kernels.generic.stack_turn import FAMILY as GENERIC_STACK_TURN
from edgec.kernels.generic.strided_copy import FAMILY as GENERIC_STRIDED_COPY
from edgec.kernels.generic.top_k import FAMILY as GENERIC_TOP_K
from edgec.kernels.generic.tree_ensemble import FAMILY as GENERIC_TREE_ENSEMBLE
from edgec.kernels.generic.window_dot import FAMILY as GENERIC_WINDOW_DOT
from edgec.kernels.m0.dense_1x4_s8_m0 import FAMILY as M0_DENSE_1X4
from edgec.kernels.m0.dense_1x4_s16_m0 import FAMILY as M0_DENSE_1X4_S16
from edgec.kernels.m0.dense_5x2_s8_m0 import FAMILY as M0_DENSE_5X2
from edgec.kernels.m0.depthwise_line_s8_m0 import FAMILY as M0_DEPTHWISE_LINE
from edgec.kernels.m0.depthwise_s8_m0 import FAMILY as M0_DEPTHWISE
from edgec.kernels.neon.add_s8_neon import FAMILY as NEON_TFLITE_ADD
from edgec.kernels.neon.attention import FAMILY as NEON_ATTENTION
from edgec.kernels.neon.binary_4x4_neon import FAMILY as NEON_BINARY
from edgec.kernels.neon.dense_1x4_packed_neon import FAMILY as NEON_DENSE_1X4_PACKED
from edgec.kernels.neon.dense_1x32_table_neon import FAMILY as NEON_DENSE_1X32_TABLE
from edgec.kernels.neon.dense_4x4_s8_neon import FAMILY as NEON_DENSE_4X4
from edgec.kernels.neon.dense_4x16_s16_neon import FAMILY as NEON_DENSE_4X16
from edgec.kernels.neon.dense_8x8_s8_dot import FAMILY as DOT_DENSE_8X8
from edgec.kernels.neon.dense_8x8_s16_dot import FAMILY as DOT_DENSE_8X8_S16
from edgec.kernels.neon.depthwise_s8_neon import FAMILY as NEON_DEPTHWISE
from edgec.kernels.neon.depthwise_s16_neon import FAMILY as NEON_DEPTHWISE_S16
from edgec.kernels.neon.elements import FAMILY as NEON_ELEMENTS
from edgec.kernels.neon.lut import FAMILY as NEON_LUT
from edgec.kernels.neon.matmul import FAMILY as NEON_MATMUL
from edgec.kernels.neon.norm import FAMILY as NEON_NORM
from edgec.kernels.neon.plane_4x4_neon import FAMILY as NEON_PLANE_LAYERS
from edgec.kernels.neon.planes_neon import FAMILY as NEON_PLANES
from edgec.kernels.neon.rescale import FAMILY as NEON_RESCALE
from edgec.kernels.neon.signs_neon import FAMILY as NEON_SIGNS
from edgec.kernels.packed.filters import packed_filters
from edgec.kernels.transformer.attention import FAMILY as TRANSFORMER_ATTENTION
from edgec.kernels.transformer.embedding import FAMILY as TRANSFORMER_EMBEDDING
from edgec.kernels.transformer.norm import FAMILY as TRANSFORMER_NORM
from edgec.kernels.weightpool.decode import FAMILY as WEIGHTPOOL_DECODE
from edgec.kernels.weightpool.decode_dsp import FAMILY as WEIGHTPOOL_DECODE_DSP
from edgec.kernels.weightpool.direct import FAMILY as WEIGHTPOOL_DIRECT
from edgec.kernels.weightpool.gather.family import FAMILY as WEIGHTPOOL_GATHER
from edgec.kernels.weightpool.neon import FAMILY as WEIGHTPOOL_GATHER_NEON

DENSE: tuple[KernelFamily[Any], ...] = (
    NEON_DENSE_4X4,
    DSP_DENSE_1X4,
    DSP_DENSE_4X2,
    DSP_DENSE_3X2,
    M0_DENSE_5X2,
    GENERIC_GEMM,
    GENERIC_CONV2D,
)
"""The families that compute with the weights of few bits that another one unpacks.

Dot products take eight filters at a time, batches of unpacked filters are multiples of four.
"""
PACKED_FILTERS = packed_filters(DENSE)

FAMILIES: tuple[KernelFamily[Any], ...] = (
    WEIGHTPOOL_GATHER,
    WEIGHTPOOL_GATHER_NEON,
    WEIGHTPOOL_DIRECT,
    WEIGHTPOOL_DECODE_DSP,
    WEIGHTPOOL_DECODE,
    GENERIC_SPARSE_ROWS,
    NEON_DENSE_1X32_TABLE,
    NEON_DENSE_1X4_PACKED,
    DSP_DENSE_1X4_PACKED,
    PACKED_FILTERS,
    DOT_DENSE_8X8,
    NEON_DENSE_4X4,
    DOT_DENSE_8X8_S16,
    NEON_DENSE_4X16,
    NEON_DEPTHWISE,
    NEON_DEPTHWISE_S16,
    DSP_DEPTHWISE_3X3_FEW_COLUMNS,
    DSP_DEPTHWISE_3X3_MANY_COLUMNS,
    DSP_DEPTHWISE_3X3,
    DSP_DEPTHWISE_LINE,
    DSP_DEPTHWISE,
    DSP_DEPTHWISE_S16,
    DSP_DENSE_1X4,
    DSP_CONV_4X2,
    DSP_DENSE_4X2,
    DSP_DENSE_3X2,
    M0_DEPTHWISE_LINE,
    M0_DEPTHWISE,
    M0_DENSE_1X4,
    M0_DENSE_1X4_S16,
    M0_DENSE_5X2,
    NEON_LUT,
    NEON_RESCALE,
    NEON_TFLITE_ADD,
    NEON_ELEMENTS,
    NEON_NORM,
    NEON_ATTENTION,
    DSP_ATTENTION,
    DSP_DENSE_2X2,
    GENERIC_GEMM,
    CHANNEL_SCALE,
    GENERIC_DEPTHWISE,
    GENERIC_CONV2D,
    GENERIC_CONV_TRANSPOSE,
    ELEMENTWISE,
    ELEMENTWISE_CHAIN,
    GENERIC_SOFTMAX,
    GENERIC_MAX_POOL,
    GENERIC_AVERAGE_POOL,
    GENERIC_REDUCE,
    GENERIC_FILL,
    GENERIC_STRIDED_COPY,
    GENERIC_SLIDE,
    GENERIC_STACK_TURN,
    GENERIC_COLUMNS,
    GENERIC_CONCAT,
    GENERIC_PAD,
    GENERIC_RESIZE_NEAREST,
    GENERIC_RESIZE_LINEAR,
    GENERIC_ARG_MAX,
    GENERIC_TOP_K,
    GENERIC_WINDOW_DOT,
    GENERIC_LOG_MEL,
    GENERIC_MICRO_FEATURES,
    GENERIC_BIQUAD,
    GENERIC_FRAME,
    GENERIC_SENSOR_FEATURES,
    GENERIC_LOG_SOFTMAX,
    GENERIC_TREE_ENSEMBLE,
    NEON_MATMUL,
    DSP_MATMUL,
    GENERIC_MATMUL,
    NEON_SIGNS,
    GENERIC_SIGNS,
    NEON_PLANE_LAYERS,
    GENERIC_PLANE_LAYERS,
    NEON_PLANES,
    GENERIC_PLANES,
    NEON_BINARY,
    GENERIC_BINARY,
    TRANSFORMER_NORM,
    TRANSFORMER_ATTENTION,
    TRANSFORMER_EMBEDDING,
)

_BY_SPEC = {family.spec_type: family for family in FAMILIES}


def family_of(spec: KernelSpec) -> KernelFamily[Any]:
    """The family of a specification."""
    return _BY_SPEC[type(spec)]
