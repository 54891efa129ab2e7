"""Every class of specifications by its name."""

from edgec.kernels.common.spec import Loop
from edgec.kernels.dsp.attention.family import AttentionDsp
from edgec.kernels.dsp.depthwise_bands.spec import DepthwiseBands
from edgec.kernels.dsp.depthwise_narrow.spec import DepthwiseNarrow
from edgec.kernels.dsp.depthwise_planes.spec import DepthwisePlanes
from edgec.kernels.dsp.line_4x2.spec import Line4x2
from edgec.kernels.dsp.tile_1x4.spec import Tile1x4
from edgec.kernels.dsp.tile_3x2.spec import Tile3x2
from edgec.kernels.dsp.tile_4x2.spec import Tile4x2
from edgec.kernels.generic.add.family import Add
from edgec.kernels.generic.add20.family import Add20
from edgec.kernels.generic.arg_max.family import ArgMax
from edgec.kernels.generic.average_codes.family import AverageCodes
from edgec.kernels.generic.average_pool.family import AveragePool
from edgec.kernels.generic.compare.family import Compare
from edgec.kernels.generic.concat.family import Concat
from edgec.kernels.generic.conv2d.family import Conv2D
from edgec.kernels.generic.conv_transpose.family import ConvTranspose
from edgec.kernels.generic.depthwise.family import Depthwise
from edgec.kernels.generic.div.family import Div
from edgec.kernels.generic.extremum.family import Extremum
from edgec.kernels.generic.from_integer.family import FromInteger
from edgec.kernels.generic.gemm.family import Gemm
from edgec.kernels.generic.log_softmax.family import LogSoftmax
from edgec.kernels.generic.lut.family import Lut
from edgec.kernels.generic.matmul_twice.family import MatMulTwice
from edgec.kernels.generic.max_pool.family import MaxPool
from edgec.kernels.generic.mul.family import Mul
from edgec.kernels.generic.pad.family import Pad, PadAxis
from edgec.kernels.generic.prelu.family import PRelu
from edgec.kernels.generic.prelu_codes.family import PReluCodes
from edgec.kernels.generic.reduce.family import Reduce
from edgec.kernels.generic.reduce_norm.family import ReduceNorm
from edgec.kernels.generic.resize_linear.family import ResizeLinear
from edgec.kernels.generic.resize_nearest.family import ResizeNearest
from edgec.kernels.generic.softmax.family import Softmax
from edgec.kernels.generic.softmax31.family import Softmax31
from edgec.kernels.generic.squared_difference.family import SquaredDifference
from edgec.kernels.generic.strided_copy.family import StridedCopy
from edgec.kernels.generic.top_k.family import TopK
from edgec.kernels.generic.tree_ensemble.family import TreeEnsemble
from edgec.kernels.generic.where.family import Where
from edgec.kernels.mixed.elementwise import Operands
from edgec.kernels.mixed.mixed_add.family import MixedAdd
from edgec.kernels.mixed.mixed_average.family import MixedAverage
from edgec.kernels.mixed.mixed_conv.family import MixedConv
from edgec.kernels.mixed.mixed_div.family import MixedDiv
from edgec.kernels.mixed.mixed_matmul.family import MixedMatMul
from edgec.kernels.mixed.mixed_mul.family import MixedMul
from edgec.kernels.mixed.mixed_table.family import MixedTable
from edgec.kernels.mixed.mixed_tile.family import MixedTile
from edgec.kernels.neon.attention.family import AttentionNeon
from edgec.kernels.neon.lut.family import LutNeon
from edgec.kernels.neon.norm.family import NormNeon
from edgec.kernels.neon.rescale.family import RescaleNeon
from edgec.kernels.neon.stream_add.family import StreamAddNeon
from edgec.kernels.neon.tile_4x4.spec import Tile4x4
from edgec.kernels.packed.filters.spec import PackedFilters
from edgec.kernels.small.depthwise_triples.spec import DepthwiseTriples
from edgec.kernels.small.lanes_1x4.spec import Lanes1x4
from edgec.kernels.small.tile_5x2.spec import Tile5x2
from edgec.kernels.transformer.attention.family import Attention
from edgec.kernels.transformer.embedding.family import Embedding
from edgec.kernels.transformer.is_equal.family import IsEqual
from edgec.kernels.transformer.matmul.family import MatMul
from edgec.kernels.transformer.mul.family import Rescale16Mul
from edgec.kernels.transformer.norm.family import Norm
from edgec.kernels.transformer.reduce.family import Rescale16Reduce
from edgec.kernels.transformer.rescale.family import Rescale
from edgec.kernels.transformer.softmax.family import SoftmaxOctaves
from edgec.kernels.transformer.stream_add.family import StreamAdd
from edgec.kernels.weightpool.decode.family import PooledDecode
from edgec.kernels.weightpool.decode_dsp.family import PooledDecodeDsp
from edgec.kernels.weightpool.direct.family import PooledDirect
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.wide.wide_add.family import WideAdd
from edgec.kernels.wide.wide_average.family import WideAverage
from edgec.kernels.wide.wide_conv.family import WideConv
from edgec.kernels.wide.wide_mul.family import WideMul
from edgec.kernels.wide.wide_rescale.family import WideRescale
from edgec.kernels.wide.wide_sigmoid.family import WideSigmoid
from edgec.kernels.wide.wide_softmax.family import WideSoftmax

__all__ = [
    "Add",
    "Add20",
    "ArgMax",
    "Attention",
    "AttentionDsp",
    "AttentionNeon",
    "AverageCodes",
    "AveragePool",
    "Compare",
    "Concat",
    "Conv2D",
    "ConvTranspose",
    "Depthwise",
    "DepthwiseBands",
    "DepthwiseNarrow",
    "DepthwisePlanes",
    "DepthwiseTriples",
    "Div",
    "Embedding",
    "Extremum",
    "FromInteger",
    "Gemm",
    "IsEqual",
    "Lanes1x4",
    "Line4x2",
    "LogSoftmax",
    "Loop",
    "Lut",
    "LutNeon",
    "MatMul",
    "MatMulTwice",
    "MaxPool",
    "MixedAdd",
    "MixedAverage",
    "MixedConv",
    "MixedDiv",
    "MixedMatMul",
    "MixedMul",
    "MixedTable",
    "MixedTile",
    "Mul",
    "Norm",
    "NormNeon",
    "Operands",
    "PRelu",
    "PReluCodes",
    "PackedFilters",
    "Pad",
    "PadAxis",
    "PooledConv",
    "PooledDecode",
    "PooledDecodeDsp",
    "PooledDirect",
    "Reduce",
    "ReduceNorm",
    "Rescale",
    "Rescale16Mul",
    "Rescale16Reduce",
    "RescaleNeon",
    "ResizeLinear",
    "ResizeNearest",
    "Softmax",
    "Softmax31",
    "SoftmaxOctaves",
    "SquaredDifference",
    "StreamAdd",
    "StreamAddNeon",
    "StridedCopy",
    "Tile1x4",
    "Tile3x2",
    "Tile4x2",
    "Tile4x4",
    "Tile5x2",
    "TopK",
    "TreeEnsemble",
    "Where",
    "WideAdd",
    "WideAverage",
    "WideConv",
    "WideMul",
    "WideRescale",
    "WideSigmoid",
    "WideSoftmax",
]
