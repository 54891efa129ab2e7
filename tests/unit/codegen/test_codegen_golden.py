"""The C of small cases, as text: a change of the generator shows in the difference."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import specs as s
from lower_samples import NetBuilder, emitted, small_net

import edgec
from edgec.base.dtypes import DType
from edgec.base.resources import data_dir
from edgec.codegen.contexts import KernelContext
from edgec.codegen.includes import runtime_headers
from edgec.codegen.library import render_kernel
from edgec.ir.ops import CompareKind, PadMode, ReduceKind
from edgec.ir.qops import Rescale16x15
from edgec.kernels.common.exact31 import Exact31
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.short_product import ShortProduct
from edgec.kernels.common.window import Window
from edgec.kernels.family import KernelSpec
from edgec.kernels.registry import FAMILIES
from edgec.kernels.transformer.attention.family import Columns
from edgec.kernels.weightpool.tables import ResponseKind
from edgec.target.target import Sharing
from edgec.toolchain import process
from edgec.toolchain.cc import WARNING_FLAGS

Golden = Callable[[str, str], None]

_WINDOW = Window(5, 6, 4, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1)
_VALID = Window(5, 6, 4, 3, 2, 3, 3, 1, 2, 0, 0, 1, 1)
_DILATED = Window(9, 9, 4, 9, 9, 3, 3, 1, 1, 2, 2, 2, 2)
_ODD = Window(5, 5, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1)
_TALL = Window(9, 7, 3, 9, 3, 5, 2, 1, 2, 4, 0, 2, 1)
_LINE = Window(6, 6, 4, 4, 6, 3, 3, 1, 1, 0, 1, 1, 1)
_POINTWISE = Window(5, 5, 12, 5, 5, 1, 1, 1, 1, 0, 0, 1, 1)
_POINTWISE_10 = Window(5, 5, 10, 5, 5, 1, 1, 1, 1, 0, 0, 1, 1)
_STRIDED = Window(5, 8, 12, 3, 4, 1, 1, 2, 2, 0, 0, 1, 1)
_LOOPS = (s.Loop(6, (4, 0)), s.Loop(4, (1, 1)))

_INDEX = Rescale16x15(3, 9, -512, 511)
_BYTE = Rescale16x15(3, 9, -127, 127)
_WIDE = Rescale16x15(0, 9, -32768, 32767, DType.INT16)
_FACTORS = ("1571329543, -1", "1073741824, 0", "1760936541, -14")
_OFFSET = Exact31("offset31", 5, saturates=True)
_TWICE = Exact31("twice31", 0, saturates=True)
_ANY = Exact31("twice31_any", 0, saturates=False)
_HEADS = (Columns(96, 0, 16), Columns(96, 32, 16), Columns(96, 64, 16))


def _planes(side: int, stride: int) -> Window:
    return Window(side, side, 8, *(-(-side // stride),) * 2, 3, 3, stride, stride, 1, 1, 1, 1)


_MIXED = s.Operands(_LOOPS, DType.INT8, DType.INT16, DType.INT16, -5, 0)
KERNELS: dict[str, KernelSpec] = {
    "conv2d_padded": s.Conv2D(_WINDOW, 8, 1, 32),
    "conv2d_valid_residual": s.Conv2D(_VALID, 6, 1, 32, residual_shift=12),
    "conv2d_grouped_dilated": s.Conv2D(_DILATED, 6, 2, 34),
    "conv2d_grouped_rest": s.Conv2D(_VALID, 10, 2, 34),
    "tile_3x2_padded": s.Tile3x2(_WINDOW, 8, 32),
    "tile_3x2_odd_residual": s.Tile3x2(_VALID, 7, 32, residual_shift=12),
    "tile_3x2_gathered": s.Tile3x2(_ODD, 6, 32),
    "depthwise": s.Depthwise(_WINDOW, 1, 32),
    "depthwise_multiplier_residual": s.Depthwise(_WINDOW, 2, 32, residual_shift=12),
    "depthwise_odd": s.Depthwise(_ODD, 1, 32),
    "gemm": s.Gemm(4, 16, 10, 32),
    "packed_filters": s.PackedFilters(s.Gemm(4, 32, 32, 32), 4, 32, 32),
    "packed_filters_batches": s.PackedFilters(s.Tile4x2(4, 64, 8, None, shift=32), 3, 22, 8),
    "packed_filters_residual": s.PackedFilters(s.Conv2D(_VALID, 8, 1, 32, 12), 2, 17, 8),
    "pooled_decode": s.PooledDecode(_WINDOW, 8, 4, 6, 8, 32, None, 8),
    "pooled_decode_rows": s.PooledDecode(_POINTWISE, 10, 8, 8, 8, 32, 12, 10),
    "pooled_decode_runtime": s.PooledDecode(_ODD, 10, 8, 6, None, 32, None, 4),
    "pooled_decode_dsp": s.PooledDecodeDsp(_WINDOW, 8, 4, 6, 8, 32, None, 8),
    "pooled_decode_dsp_batches": s.PooledDecodeDsp(_WINDOW, 7, 8, 6, 4, 32, 12, 4),
    "pooled_decode_dsp_runtime": s.PooledDecodeDsp(_VALID, 10, 8, 8, None, 32, None, 4),
    "pooled_decode_short": s.PooledDecode(_ODD, 10, 8, 6, 8, 32, None, 4, short=True),
    "pooled_decode_dsp_short": s.PooledDecodeDsp(_VALID, 10, 8, 8, 8, 32, None, 4, short=True),
    "pooled_direct_short": s.PooledDirect(
        _ODD, 6, 8, 8, 8, 32, None, 17, ResponseKind.NIBBLE, short=True
    ),
    "pooled_direct": s.PooledDirect(_WINDOW, 8, 4, 6, 4, 32, 12, 64, ResponseKind.BITSERIAL),
    "pooled_direct_runtime": s.PooledDirect(_ODD, 6, 8, 8, None, 32, None, 17, ResponseKind.NIBBLE),
    "pooled_conv": s.PooledConv(
        window=_WINDOW,
        out_channels=6,
        pool_size=10,
        group=4,
        chunk_groups=1,
        lanes=2,
        response_shift=3,
        shift=32,
        builder=ResponseKind.BITSERIAL,
        index_bits=4,
        bits=4,
        saturates=True,
        zero_is_code_min=True,
        residual_shift=12,
    ),
    "pooled_conv_chunks_runtime": s.PooledConv(
        window=_POINTWISE,
        out_channels=10,
        pool_size=6,
        group=8,
        chunk_groups=1,
        lanes=1,
        response_shift=0,
        shift=32,
        builder=ResponseKind.MULTIPLY,
        index_bits=16,
        bits=None,
        saturates=False,
        zero_is_code_min=False,
        tables_in_ram=True,
    ),
    "pooled_conv_short": s.PooledConv(
        window=_POINTWISE,
        out_channels=10,
        pool_size=6,
        group=8,
        chunk_groups=1,
        lanes=2,
        response_shift=2,
        shift=32,
        builder=ResponseKind.MULTIPLY,
        index_bits=3,
        bits=8,
        saturates=False,
        zero_is_code_min=False,
        short=True,
    ),
    "pooled_conv_terms": s.PooledConv(
        window=_WINDOW,
        out_channels=6,
        pool_size=10,
        group=4,
        chunk_groups=2,
        lanes=2,
        response_shift=4,
        shift=32,
        builder=ResponseKind.MULTIPLY,
        index_bits=4,
        bits=8,
        saturates=True,
        zero_is_code_min=True,
        terms=3,
    ),
    # The longest round of look-ups, beyond the reach of a conditional branch of Armv6-M.
    "pooled_conv_wide": s.PooledConv(
        window=Window(1, 40, 4, 1, 9, 1, 32, 1, 1, 0, 0, 1, 1),
        out_channels=2,
        pool_size=4,
        group=4,
        chunk_groups=1,
        lanes=1,
        response_shift=0,
        shift=32,
        builder=ResponseKind.NIBBLE,
        index_bits=2,
        bits=8,
        saturates=True,
        zero_is_code_min=True,
    ),
    "pooled_decode_terms": s.PooledDecode(_ODD, 10, 8, 6, 8, 32, None, 4, terms=2),
    "pooled_decode_dsp_terms": s.PooledDecodeDsp(_VALID, 10, 8, 8, 8, 32, None, 4, terms=2),
    "pooled_direct_terms": s.PooledDirect(
        _ODD, 6, 8, 8, 4, 32, None, 17, ResponseKind.BITSERIAL, terms=2
    ),
    "conv_transpose": s.ConvTranspose(_WINDOW, 8, 1, 32),
    "add_broadcast": s.Add(_LOOPS, 12),
    "add20_broadcast": s.Add20(_LOOPS, 18, 0, 2, subtracts=False),
    "sub20": s.Add20((s.Loop(24, (1, 1)),), 20, 1, 0, subtracts=True),
    "mul": s.Mul((s.Loop(24, (1, 1)),), 32),
    "squared_difference": s.SquaredDifference(_LOOPS, 9, 0, 2),
    "prelu_codes": s.PReluCodes(25, 8, 1, 0, 0, 5),
    "mul_twice": s.Mul(_LOOPS, 7, 0),
    "reduce_mean_twice": s.Reduce(ReduceKind.MEAN, (s.Loop(8, (1,)),), (s.Loop(25, (8,)),), 5, 1),
    "matmul_twice": s.MatMulTwice((s.Loop(3, (20, 0)),), 4, 5, 6, (5, 1), (1, 5), 8, 0),
    "lut": s.Lut(100),
    "prelu": s.PRelu(25, 8, 32),
    "softmax": s.Softmax(1, 10, 32),
    "softmax31": s.Softmax31(1, 10),
    "max_pool": s.MaxPool(_WINDOW),
    "average_pool": s.AveragePool(_WINDOW, counts_padding=False, shift=32),
    "average_codes": s.AverageCodes(_WINDOW),
    "average_codes_inside": s.AverageCodes(_VALID),
    "reduce_mean": s.Reduce(ReduceKind.MEAN, (s.Loop(8, (1,)),), (s.Loop(25, (8,)),), 32),
    "reduce_max": s.Reduce(ReduceKind.MAX, (s.Loop(4, (8,)),), (s.Loop(8, (1,)),), 1),
    "strided_copy": s.StridedCopy(2, (s.Loop(3, (8,)), s.Loop(2, (-4,))), 4),
    "concat": s.Concat(9, (8, 4)),
    "pad_constant": s.Pad(PadMode.CONSTANT, (s.PadAxis(3, 1, 5),), 8, -7),
    "pad_reflect": s.Pad(PadMode.REFLECT, (s.PadAxis(3, 1, 5), s.PadAxis(4, 2, 6)), 8, 0),
    "resize_nearest": s.ResizeNearest(4, 8, 8, 8),
    "resize_linear": s.ResizeLinear(4, 8, 8, 8),
    "resize_linear_half_away": s.ResizeLinear(4, 8, 8, 8, half_away=True),
    "reduce_min": s.Reduce(ReduceKind.MIN, (s.Loop(4, (8,)),), (s.Loop(8, (1,)),), 1),
    "reduce_l1": s.ReduceNorm(ReduceKind.L1, (s.Loop(4, (8,)),), (s.Loop(8, (1,)),), 30, 0),
    "reduce_l2": s.ReduceNorm(ReduceKind.L2, (s.Loop(4, (8,)),), (s.Loop(8, (1,)),), 31, 6),
    "top_k": s.TopK(2, 10, 3, largest=True, indices=False),
    "top_k_indices": s.TopK(1, 10, 3, largest=False, indices=True),
    "div": s.Div(_LOOPS, -3, 5, 1 << 20, 22, -128, -128, 127),
    "log_softmax": s.LogSoftmax(2, 10, 20, 26),
    "tree_ensemble": s.TreeEnsemble(20, 3, 41),
    "maximum": s.Extremum(_LOOPS, largest=True),
    "minimum": s.Extremum((s.Loop(24, (1, 1)),), largest=False),
    "compare_less": s.Compare(_LOOPS, CompareKind.LESS, DType.INT8, 1 << 21, 77, -99),
    "compare_equal": s.Compare((s.Loop(24, (1, 1)),), CompareKind.EQUAL, DType.INT32),
    "where": s.Where((s.Loop(3, (4, 0, 4)), s.Loop(4, (1, 1, 1))), DType.INT8),
    "where_integers": s.Where((s.Loop(24, (1, 0, 1)),), DType.INT32),
    "from_integer": s.FromInteger(24, 2**30, 32, -5, -128, 127),
    "arg_max": s.ArgMax(1, 10, 1, last=False),
    "arg_min": s.ArgMax(2, 7, 3, last=True, smallest=True),
    "gemm_rescale16_table": s.Gemm(4, 16, 10, 9, rescale16=Rescale16(_INDEX, table=True)),
    "pooled_decode_rescale16_table": s.PooledDecode(
        _POINTWISE, 10, 8, 6, 8, 9, None, 4, rescale16=Rescale16(_INDEX, table=True)
    ),
    "pooled_decode_dsp_rescale16_residual": s.PooledDecodeDsp(
        _POINTWISE, 10, 8, 6, 8, 9, None, 4, rescale16=Rescale16(_WIDE, residual=True)
    ),
    "tile_3x2_rescale16_residual": s.Tile3x2(
        _POINTWISE, 7, 9, rescale16=Rescale16(_WIDE, residual=True)
    ),
    "depthwise_planes": s.DepthwisePlanes(_planes(9, 1), 32, saturates=True),
    "depthwise_planes_by_two": s.DepthwisePlanes(
        _planes(20, 2), 9, rescale16=Rescale16(_INDEX, table=True)
    ),
    "depthwise_narrow": s.DepthwiseNarrow(_planes(6, 1), 32),
    "depthwise_narrow_by_two": s.DepthwiseNarrow(_planes(9, 2), 0, exact31=_OFFSET),
    "depthwise_bands": s.DepthwiseBands(_planes(24, 1), 34),
    "depthwise_bands_by_two": s.DepthwiseBands(
        replace(_planes(24, 2), pad_top=0, pad_left=0), 0, exact31=_OFFSET
    ),
    "gemm_twice31": s.Gemm(4, 16, 10, 0, exact31=_TWICE),
    "conv_transpose_twice31": s.ConvTranspose(_WINDOW, 8, 1, 0, exact31=_ANY),
    "depthwise_planes_offset31": s.DepthwisePlanes(_planes(9, 1), 0, exact31=_OFFSET),
    "tile_5x2_offset31": s.Tile5x2(_WINDOW, 5, 0, step=1, segment=40, exact31=_OFFSET),
    "tile_5x2_twice31": s.Tile5x2(_WINDOW, 5, 0, step=1, segment=40, exact31=_ANY),
    "tile_3x2_twice31": s.Tile3x2(_WINDOW, 5, 0, exact31=_TWICE),
    "line_4x2_columns": s.Line4x2(24, 36, 6, None, window=_LINE, shift=32, saturates=True),
    "line_4x2_residual": s.Line4x2(
        24, 36, 6, None, window=_LINE, any_code=True, shift=34, residual_shift=9, saturates=True
    ),
    "line_4x2_patch": s.Line4x2(
        24, 28, 6, None, window=replace(_LINE, channels=3), dual_issue=True, exact31=_OFFSET
    ),
    "tile_4x2_offset31": s.Tile4x2(8, 32, 6, None, exact31=_OFFSET),
    "tile_4x2_twice31": s.Tile4x2(8, 32, 6, None, dual_issue=True, exact31=_TWICE),
    "tile_4x2_twice31_odd": s.Tile4x2(9, 32, 5, None, any_code=True, exact31=_ANY),
    "tile_4x4_offset31": s.Tile4x4(_POINTWISE, 7, 0, exact31=_OFFSET),
    "tile_4x4_twice31": s.Tile4x4(_POINTWISE, 7, 0, exact31=_TWICE),
    "tile_4x4_twice31_any": s.Tile4x4(_POINTWISE, 7, 0, exact31=_ANY),
    "tile_1x4": s.Tile1x4(64, 10, 32),
    "tile_1x4_rest": s.Tile1x4(
        30, 36, 9, rescale16=Rescale16(_INDEX, table=True), dual_issue=True, roomy=True
    ),
    "tile_4x2_window": s.Tile4x2(30, 36, 6, Rescale16(_BYTE), roomy=True, window=_WINDOW),
    "lanes_1x4": s.Lanes1x4(30, 10, 32, product=ShortProduct(2, 20, 12)),
    "lanes_1x4_table": s.Lanes1x4(30, 36, 9, rescale16=Rescale16(_INDEX, table=True)),
    "lanes_1x4_twice31": s.Lanes1x4(8, 7, 0, exact31=_TWICE),
    "depthwise_triples": s.DepthwiseTriples(
        _planes(9, 1), 32, saturates=True, product=ShortProduct(3)
    ),
    "depthwise_triples_dilated": s.DepthwiseTriples(
        _TALL, 9, rescale16=Rescale16(_INDEX, table=True)
    ),
    "depthwise_triples_offset31": s.DepthwiseTriples(_planes(9, 2), 0, exact31=_OFFSET),
    "tile_5x2_short": s.Tile5x2(
        _WINDOW, 5, 32, step=4, segment=40, product=ShortProduct(4), saturates=True
    ),
    "tile_5x2_padded": s.Tile5x2(_WINDOW, 5, 32, 7, step=1, segment=40),
    "tile_5x2_rows": s.Tile5x2(
        _POINTWISE,
        7,
        9,
        rescale16=Rescale16(_WIDE, residual=True),
        variable=True,
        step=4,
        segment=8,
    ),
    "tile_4x2_31": s.Tile4x2(
        30, 36, 6, None, window=_WINDOW, any_code=True, shift=32, residual_shift=9, saturates=True
    ),
    "tile_4x2_31_odd": s.Tile4x2(9, 32, 5, None, any_code=True, shift=33),
    "tile_4x2_31_odd_registers": s.Tile4x2(9, 28, 5, None, shift=33, saturates=True),
    "tile_4x2_layer": s.Tile4x2(
        *(8, 32, 6, None), any_code=True, shift=33, saturates=True, sharing=Sharing.LOOPS
    ),
    "tile_4x2_shared": s.Tile4x2(
        *(9, 32, 5, None), any_code=True, shift=33, saturates=True, sharing=Sharing.PRODUCTS
    ),
    "tile_4x2_fewer": s.Tile4x2(9, 32, 6, None, any_code=True, exact31=_OFFSET),
    "tile_4x2_four_and_three": s.Tile4x2(
        *(25, 12, 6, None), window=_POINTWISE_10, any_code=True, shift=33, saturates=True
    ),
    "tile_4x2_strided": s.Tile4x2(
        *(12, 12, 6, None), window=_STRIDED, any_code=True, exact31=_OFFSET
    ),
    "tile_4x2_shared_fewer": s.Tile4x2(
        *(10, 32, 6, None), any_code=True, shift=33, saturates=True, sharing=Sharing.PRODUCTS
    ),
    "tile_5x2_layer": s.Tile5x2(
        _POINTWISE, 5, 32, step=4, segment=12, product=ShortProduct(4), sharing=Sharing.LOOPS
    ),
    "tile_5x2_window": s.Tile5x2(
        _WINDOW, 5, 32, step=1, segment=8, saturates=True, sharing=Sharing.PRODUCTS
    ),
    "tile_4x2_table": s.Tile4x2(8, 32, 10, Rescale16(_INDEX, table=True)),
    "tile_4x2_residual": s.Tile4x2(7, 32, 9, Rescale16(_WIDE, residual=True), dual_issue=True),
    "rescale": s.Rescale(100, DType.INT16, Rescale16(_BYTE)),
    "rescale16_mul": s.Rescale16Mul(_LOOPS, Rescale16(_WIDE)),
    "rescale16_reduce": s.Rescale16Reduce(
        DType.INT16, (s.Loop(8, (1,)),), (s.Loop(25, (8,)),), Rescale16(_BYTE)
    ),
    "matmul": s.MatMul((s.Loop(3, (20, 0)),), 4, 5, 6, (5, 1), (1, 5), Rescale16(_BYTE)),
    "stream_add": s.StreamAdd(_LOOPS),
    "norm": s.Norm(4, 64, True, 3, 17, -127, 127, DType.INT8),
    "norm_root_mean_square": s.Norm(4, 64, False, 3, 10, -32768, 32767, DType.INT16),
    "attention": s.Attention(1, 8, 8, 2, *_HEADS, 15, None),
    "attention_masked": s.Attention(2, 8, 8, 2, *_HEADS, 13, 8),
    "attention_dsp": s.AttentionDsp(1, 9, 8, 2, *_HEADS, 15, None),
    "attention_dsp_odd": s.AttentionDsp(2, 8, 9, 2, *_HEADS, 15, None, dual_issue=True),
    "embedding": s.Embedding(7, 50, 16, DType.INT8, 200),
    "attention_biased": s.Attention(4, 5, 7, 2, *_HEADS, 15, None, bias_steps=11, bias_stride=35),
    "attention_dsp_biased": s.AttentionDsp(
        *(1, 5, 7, 2, *_HEADS, 15, None), bias_steps=11, bias_stride=0, trimmed=True
    ),
    "softmax_octaves": s.SoftmaxOctaves(2, 10, 96_820_000, 11, 15),
    "is_equal": s.IsEqual(9, 1),
    "tile_4x4_table": s.Tile4x4(_POINTWISE, 7, 9, rescale16=Rescale16(_INDEX, table=True)),
    "tile_4x4_residual": s.Tile4x4(_POINTWISE, 8, 9, rescale16=Rescale16(_WIDE, residual=True)),
    "tile_4x4_gathered": s.Tile4x4(_ODD, 6, 32, residual_shift=12),
    "attention_neon": s.AttentionNeon(1, 9, 8, 2, *_HEADS, 15, None),
    "attention_neon_masked": s.AttentionNeon(2, 8, 9, 2, *_HEADS, 13, 9),
    "attention_neon_biased": s.AttentionNeon(
        4, 5, 7, 2, *_HEADS, 15, None, bias_steps=11, bias_stride=35
    ),
    "norm_neon": s.NormNeon(4, 67, True, 4, 17, -127, 127, DType.INT8),
    "rescale_neon": s.RescaleNeon(100, DType.INT16, Rescale16(_BYTE)),
    "stream_add_neon": s.StreamAddNeon(100),
    "lut_neon": s.LutNeon(100),
    "wide_conv_padded": s.WideConv(_WINDOW, 8, 1, 64, 0, 32767),
    "wide_conv_grouped": s.WideConv(_DILATED, 6, 2, 32, -32768, 32767),
    "wide_add": s.WideAdd(_LOOPS, -32768, 32767, *_FACTORS, subtracts=False),
    "wide_sub": s.WideAdd(_LOOPS, 0, 32767, *_FACTORS, subtracts=True),
    "wide_mul": s.WideMul(_LOOPS, -32768, 32767, "1760936576, -14"),
    "wide_rescale": s.WideRescale(100, DType.INT16, DType.INT8, "1573741824, -8", 0, -7, -128, 127),
    "wide_average": s.WideAverage(_ODD, -32768, 32767),
    "wide_logistic": s.WideSigmoid(100, False, 20132, 12),
    "wide_tanh": s.WideSigmoid(100, True, 3, 0),
    "wide_softmax": s.WideSoftmax(3, 10, "1288490189, 2"),
    "mixed_conv": s.MixedConv(_WINDOW, 8, 1, DType.INT16, DType.INT16, 32),
    "mixed_conv_to_int8": s.MixedConv(_DILATED, 6, 2, DType.INT16, DType.INT8, 33),
    "mixed_conv_depthwise": s.MixedConv(_ODD, 3, 3, DType.INT16, DType.INT16, 32),
    "mixed_add": s.MixedAdd(_MIXED, 20, 0, -32767, 32767, 1048576, -524288),
    "mixed_matmul": s.MixedMatMul(
        *((s.Loop(3, (20, 0)),), 4, 5, 6, (5, 1), (1, 5)),
        *(DType.INT16, DType.INT8, DType.INT16, 0, 3),
        *(20132659, 36, 0, -32767, 32767),
    ),
    "mixed_mul": s.MixedMul(_MIXED, 32, 0, -32767, 32767, 20132659),
    "mixed_div": s.MixedDiv(_MIXED, 0, 0, -32767, 32767, 40000, 3, 0),
    "mixed_average": s.MixedAverage(_ODD, False, DType.INT16, DType.INT8, 0, 32, -3, -128, 127),
    "mixed_tile": s.MixedTile(_WINDOW, 7, DType.INT16, DType.INT16, 32),
    "mixed_tile_widening": s.MixedTile(_ODD, 6, DType.INT8, DType.INT16, 31),
    "mixed_table": s.MixedTable(100, DType.INT8, 14, -128, -128, 127),
    "max_pool_16": s.MaxPool(_ODD, DType.INT16),
}
_NEON = {name for name, spec in KERNELS.items() if "neon" in spec.template.parts}


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernel(name: str, golden: Golden) -> None:
    spec = KERNELS[name]
    text = render_kernel(KernelContext(spec.describe(), f"{spec.family}_s8_0", spec))
    golden(f"kernels/{name}.c", text)


def test_every_family_has_a_case() -> None:
    assert {spec.family for spec in KERNELS.values()} == {family.name for family in FAMILIES}


@pytest.mark.parametrize(
    "name",
    ["include/edgec_tiny.h", "src/edgec_tiny.c", "src/edgec_tiny_weights.c", "library.json"],
)
def test_library_of_two_layers(name: str, golden: Golden, tmp_path: Path) -> None:
    net = NetBuilder("tiny")
    x = net.input("image", 1, 4, 4, 2)
    y = net.conv(x, "hidden", (1, 4, 4, 2), kernel=3, pad=1)
    emitted(net.build(net.conv(y, "result", (1, 4, 4, 2), residual=x)), tmp_path)
    text = (tmp_path / name).read_text("utf-8")
    golden(f"library/{Path(name).name}", text.replace(edgec.__version__, "VERSION"))


def test_run_function_of_a_small_network(golden: Golden, tmp_path: Path) -> None:
    emitted(small_net(), tmp_path)
    text = (tmp_path / "src" / "edgec_sample.c").read_text("utf-8")
    golden("library/sample_run.c", text[text.index("edgec_status_t edgec_sample_run") :])


_TARGETS = (
    ("gcc", "-O2"),
    ("clang", "-O2"),
    ("arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb", "-Os"),
    ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-O0"),
    ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O3"),
    ("clang", "--target=arm-none-eabi", "-mcpu=cortex-m4", "-mthumb", "-O1"),
    ("aarch64-linux-gnu-gcc", "-mcpu=cortex-a53", "-O2"),
    ("arm-linux-gnueabihf-gcc", "-mcpu=cortex-a7", "-mfpu=neon-vfpv4", "-mthumb", "-O2"),
    ("avr-gcc", "-mmcu=atmega2560", "-Os"),
)


def _compiles(name: str, compiler: str) -> bool:
    """Kernels for NEON have no form without it, and one of them none for Armv7-A.

    Libraries for AVR, where an `int` has 16 bits, have no kernels for the DSP extension.
    """
    if compiler == "avr-gcc" and "dsp" in KERNELS[name].template.parts:
        return False
    if name == "lut_neon":
        return compiler.startswith("aarch64")
    return name not in _NEON or "-linux-" in compiler


def _newlib(folder: Path) -> Path:
    """The folder of the headers of GCC's C library for microcontrollers, which Clang lacks."""
    compiler = process.which("arm-none-eabi-gcc")
    if compiler is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    source = folder / "headers.c"
    source.write_text("#include <string.h>\n")
    done = process.run([compiler, "-M", source], timeout_s=60)
    return next(Path(word).parent for word in done.stdout.split() if word.endswith("/string.h"))


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("target", _TARGETS, ids="".join)
def test_every_kernel_compiles_clean(target: tuple[str, ...], tmp_path: Path) -> None:
    compiler = process.which(target[0])
    if compiler is None:
        pytest.skip(f"{target[0]} is not installed")
    functions = [
        render_kernel(KernelContext(spec.describe(), f"kernel_{name}", spec))
        for name, spec in KERNELS.items()
        if _compiles(name, target[0])
    ]
    served = (name for name in KERNELS if _compiles(name, target[0]))
    addresses = ", ".join(f"(function_t)kernel_{name}" for name in served)
    headers = ("stdbool.h", "string.h", *(f"edgec/{name}" for name in runtime_headers()))
    source = tmp_path / "kernels.c"
    source.write_text(
        "".join(f"#include <{header}>\n" for header in headers)
        + "typedef void (*function_t)(void);\nextern const function_t all[];\n"
        + "".join(functions)
        + f"const function_t all[] = {{{addresses}}};\n"
    )
    include = data_dir("firmware") / "runtime" / "include"
    options = ["-std=c11", *WARNING_FLAGS, "-Werror", *target[1:], f"-I{include}", "-c"]
    if "--target=arm-none-eabi" in target:
        options += ["-isystem", _newlib(tmp_path)]
    done = process.run([compiler, *options, source, "-o", tmp_path / "k.o"], timeout_s=120)
    assert done.returncode == 0, done.stderr
