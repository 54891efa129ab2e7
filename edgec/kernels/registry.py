"""The families of kernels, one line each: of several that serve a node, the first one wins.

Families for some cores stand above plain C, which accepts every node of its operators.
"""

from __future__ import annotations

from typing import Any

from edgec.kernels.dsp.attention.family import FAMILY as DSP_ATTENTION
from edgec.kernels.dsp.depthwise_bands.family import FAMILY as DSP_DEPTHWISE_BANDS
from edgec.kernels.dsp.depthwise_narrow.family import FAMILY as DSP_DEPTHWISE_NARROW
from edgec.kernels.dsp.depthwise_planes.family import FAMILY as DSP_DEPTHWISE_PLANES
from edgec.kernels.dsp.line_4x2.family import FAMILY as DSP_LINE_4X2
from edgec.kernels.dsp.tile_1x4.family import FAMILY as DSP_TILE_1X4
from edgec.kernels.dsp.tile_3x2.family import FAMILY as DSP_TILE_3X2
from edgec.kernels.dsp.tile_4x2.family import FAMILY as DSP_TILE_4X2
from edgec.kernels.family import KernelFamily
from edgec.kernels.generic.add.family import FAMILY as GENERIC_ADD
from edgec.kernels.generic.add20.family import FAMILY as GENERIC_ADD20
from edgec.kernels.generic.arg_max.family import FAMILY as GENERIC_ARG_MAX
from edgec.kernels.generic.average_codes.family import FAMILY as GENERIC_AVERAGE_CODES
from edgec.kernels.generic.average_pool.family import FAMILY as GENERIC_AVERAGE_POOL
from edgec.kernels.generic.compare.family import FAMILY as GENERIC_COMPARE
from edgec.kernels.generic.concat.family import FAMILY as GENERIC_CONCAT
from edgec.kernels.generic.conv2d.family import FAMILY as GENERIC_CONV2D
from edgec.kernels.generic.conv_transpose.family import FAMILY as GENERIC_CONV_TRANSPOSE
from edgec.kernels.generic.depthwise.family import FAMILY as GENERIC_DEPTHWISE
from edgec.kernels.generic.div.family import FAMILY as GENERIC_DIV
from edgec.kernels.generic.extremum.family import FAMILY as GENERIC_EXTREMUM
from edgec.kernels.generic.from_integer.family import FAMILY as GENERIC_FROM_INTEGER
from edgec.kernels.generic.gemm.family import FAMILY as GENERIC_GEMM
from edgec.kernels.generic.log_softmax.family import FAMILY as GENERIC_LOG_SOFTMAX
from edgec.kernels.generic.lut.family import FAMILY as GENERIC_LUT
from edgec.kernels.generic.matmul_twice.family import FAMILY as GENERIC_MATMUL_TWICE
from edgec.kernels.generic.max_pool.family import FAMILY as GENERIC_MAX_POOL
from edgec.kernels.generic.mul.family import FAMILY as GENERIC_MUL
from edgec.kernels.generic.pad.family import FAMILY as GENERIC_PAD
from edgec.kernels.generic.prelu.family import FAMILY as GENERIC_PRELU
from edgec.kernels.generic.prelu_codes.family import FAMILY as GENERIC_PRELU_CODES
from edgec.kernels.generic.reduce.family import FAMILY as GENERIC_REDUCE
from edgec.kernels.generic.reduce_norm.family import FAMILY as GENERIC_REDUCE_NORM
from edgec.kernels.generic.resize_linear.family import FAMILY as GENERIC_RESIZE_LINEAR
from edgec.kernels.generic.resize_nearest.family import FAMILY as GENERIC_RESIZE_NEAREST
from edgec.kernels.generic.softmax.family import FAMILY as GENERIC_SOFTMAX
from edgec.kernels.generic.softmax31.family import FAMILY as GENERIC_SOFTMAX31
from edgec.kernels.generic.squared_difference.family import FAMILY as GENERIC_SQUARED_DIFFERENCE
from edgec.kernels.generic.strided_copy.family import FAMILY as GENERIC_STRIDED_COPY
from edgec.kernels.generic.top_k.family import FAMILY as GENERIC_TOP_K
from edgec.kernels.generic.tree_ensemble.family import FAMILY as GENERIC_TREE_ENSEMBLE
from edgec.kernels.generic.where.family import FAMILY as GENERIC_WHERE
from edgec.kernels.mixed.mixed_add.family import FAMILY as MIXED_ADD
from edgec.kernels.mixed.mixed_average.family import FAMILY as MIXED_AVERAGE
from edgec.kernels.mixed.mixed_conv.family import FAMILY as MIXED_CONV
from edgec.kernels.mixed.mixed_div.family import FAMILY as MIXED_DIV
from edgec.kernels.mixed.mixed_matmul.family import FAMILY as MIXED_MATMUL
from edgec.kernels.mixed.mixed_mul.family import FAMILY as MIXED_MUL
from edgec.kernels.mixed.mixed_table.family import FAMILY as MIXED_TABLE
from edgec.kernels.mixed.mixed_tile.family import FAMILY as MIXED_TILE
from edgec.kernels.neon.attention.family import FAMILY as NEON_ATTENTION
from edgec.kernels.neon.lut.family import FAMILY as NEON_LUT
from edgec.kernels.neon.norm.family import FAMILY as NEON_NORM
from edgec.kernels.neon.rescale.family import FAMILY as NEON_RESCALE
from edgec.kernels.neon.stream_add.family import FAMILY as NEON_STREAM_ADD
from edgec.kernels.neon.tile_4x4.family import FAMILY as NEON_TILE_4X4
from edgec.kernels.packed.filters.family import packed_filters
from edgec.kernels.small.depthwise_triples.family import FAMILY as SMALL_DEPTHWISE_TRIPLES
from edgec.kernels.small.lanes_1x4.family import FAMILY as SMALL_LANES_1X4
from edgec.kernels.small.tile_5x2.family import FAMILY as SMALL_TILE_5X2
from edgec.kernels.transformer.attention.family import FAMILY as TRANSFORMER_ATTENTION
from edgec.kernels.transformer.embedding.family import FAMILY as TRANSFORMER_EMBEDDING
from edgec.kernels.transformer.is_equal.family import FAMILY as TRANSFORMER_IS_EQUAL
from edgec.kernels.transformer.matmul.family import FAMILY as TRANSFORMER_MATMUL
from edgec.kernels.transformer.mul.family import FAMILY as TRANSFORMER_MUL
from edgec.kernels.transformer.norm.family import FAMILY as TRANSFORMER_NORM
from edgec.kernels.transformer.reduce.family import FAMILY as TRANSFORMER_REDUCE
from edgec.kernels.transformer.rescale.family import FAMILY as TRANSFORMER_RESCALE
from edgec.kernels.transformer.softmax.family import FAMILY as TRANSFORMER_SOFTMAX
from edgec.kernels.transformer.stream_add.family import FAMILY as TRANSFORMER_STREAM_ADD
from edgec.kernels.weightpool.decode.family import FAMILY as WEIGHTPOOL_DECODE
from edgec.kernels.weightpool.decode_dsp.family import FAMILY as WEIGHTPOOL_DECODE_DSP
from edgec.kernels.weightpool.direct.family import FAMILY as WEIGHTPOOL_DIRECT
from edgec.kernels.weightpool.gather.family import FAMILY as WEIGHTPOOL_GATHER
from edgec.kernels.wide.wide_add.family import FAMILY as WIDE_ADD
from edgec.kernels.wide.wide_average.family import FAMILY as WIDE_AVERAGE
from edgec.kernels.wide.wide_conv.family import FAMILY as WIDE_CONV
from edgec.kernels.wide.wide_mul.family import FAMILY as WIDE_MUL
from edgec.kernels.wide.wide_rescale.family import FAMILY as WIDE_RESCALE
from edgec.kernels.wide.wide_sigmoid.family import FAMILY as WIDE_SIGMOID
from edgec.kernels.wide.wide_softmax.family import FAMILY as WIDE_SOFTMAX

DENSE: tuple[KernelFamily[Any], ...] = (
    NEON_TILE_4X4,
    DSP_TILE_1X4,
    DSP_TILE_4X2,
    DSP_TILE_3X2,
    SMALL_TILE_5X2,
    GENERIC_GEMM,
    GENERIC_CONV2D,
)
"""The families that compute with the weights of few bits that another one unpacks."""
PACKED_FILTERS = packed_filters(DENSE)

FAMILIES: tuple[KernelFamily[Any], ...] = (
    WEIGHTPOOL_GATHER,
    WEIGHTPOOL_DIRECT,
    WEIGHTPOOL_DECODE_DSP,
    WEIGHTPOOL_DECODE,
    PACKED_FILTERS,
    NEON_TILE_4X4,
    DSP_DEPTHWISE_NARROW,
    DSP_DEPTHWISE_BANDS,
    DSP_DEPTHWISE_PLANES,
    DSP_TILE_1X4,
    DSP_LINE_4X2,
    DSP_TILE_4X2,
    DSP_TILE_3X2,
    SMALL_DEPTHWISE_TRIPLES,
    SMALL_LANES_1X4,
    SMALL_TILE_5X2,
    NEON_LUT,
    NEON_RESCALE,
    NEON_STREAM_ADD,
    NEON_NORM,
    NEON_ATTENTION,
    DSP_ATTENTION,
    GENERIC_GEMM,
    GENERIC_DEPTHWISE,
    GENERIC_CONV2D,
    GENERIC_CONV_TRANSPOSE,
    GENERIC_ADD20,
    GENERIC_ADD,
    GENERIC_SQUARED_DIFFERENCE,
    TRANSFORMER_MUL,
    GENERIC_MUL,
    GENERIC_LUT,
    GENERIC_PRELU,
    GENERIC_PRELU_CODES,
    GENERIC_SOFTMAX,
    GENERIC_SOFTMAX31,
    GENERIC_MAX_POOL,
    GENERIC_AVERAGE_POOL,
    GENERIC_AVERAGE_CODES,
    TRANSFORMER_REDUCE,
    GENERIC_REDUCE_NORM,
    GENERIC_REDUCE,
    GENERIC_STRIDED_COPY,
    GENERIC_CONCAT,
    GENERIC_PAD,
    GENERIC_RESIZE_NEAREST,
    GENERIC_RESIZE_LINEAR,
    GENERIC_ARG_MAX,
    GENERIC_DIV,
    GENERIC_TOP_K,
    GENERIC_LOG_SOFTMAX,
    GENERIC_TREE_ENSEMBLE,
    GENERIC_MATMUL_TWICE,
    GENERIC_EXTREMUM,
    GENERIC_COMPARE,
    GENERIC_WHERE,
    GENERIC_FROM_INTEGER,
    TRANSFORMER_MATMUL,
    TRANSFORMER_RESCALE,
    TRANSFORMER_STREAM_ADD,
    TRANSFORMER_NORM,
    TRANSFORMER_ATTENTION,
    TRANSFORMER_EMBEDDING,
    TRANSFORMER_SOFTMAX,
    TRANSFORMER_IS_EQUAL,
    WIDE_CONV,
    WIDE_ADD,
    WIDE_MUL,
    WIDE_RESCALE,
    WIDE_AVERAGE,
    WIDE_SIGMOID,
    WIDE_SOFTMAX,
    MIXED_TILE,
    MIXED_CONV,
    MIXED_ADD,
    MIXED_MATMUL,
    MIXED_MUL,
    MIXED_DIV,
    MIXED_AVERAGE,
    MIXED_TABLE,
)
