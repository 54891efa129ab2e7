"""Every class of specifications by its name."""

from edgec.kernels.common.spec import Loop
from edgec.kernels.dsp.attention import AttentionDsp
from edgec.kernels.dsp.conv_4x2_s8_dsp.spec import Conv4x2
from edgec.kernels.dsp.dense_1x4_dsp import Dense1x4
from edgec.kernels.dsp.dense_1x4_packed_dsp import Dense1x4Packed
from edgec.kernels.dsp.dense_2x2_s16_dsp import Dense2x2
from edgec.kernels.dsp.dense_3x2_s8_dsp import Dense3x2
from edgec.kernels.dsp.dense_4x2_s8_dsp.spec import Dense4x2
from edgec.kernels.dsp.depthwise_3x3_few_columns_s8_dsp import Depthwise3x3FewColumns
from edgec.kernels.dsp.depthwise_3x3_many_columns_s8_dsp import Depthwise3x3ManyColumns
from edgec.kernels.dsp.depthwise_3x3_s8_dsp import Depthwise3x3
from edgec.kernels.dsp.depthwise_line_s8_dsp import DepthwiseLine
from edgec.kernels.dsp.depthwise_s8_dsp import DepthwiseDsp
from edgec.kernels.dsp.depthwise_s16_dsp import DepthwiseS16
from edgec.kernels.dsp.matmul_dsp import MatMulDsp
from edgec.kernels.generic.arg_max import ArgMax
from edgec.kernels.generic.average_pool import AveragePool
from edgec.kernels.generic.binary_words import BinaryWords
from edgec.kernels.generic.biquad import Biquad
from edgec.kernels.generic.channel_scale import ChannelScale
from edgec.kernels.generic.columns import Columns
from edgec.kernels.generic.concat import Concat
from edgec.kernels.generic.conv2d import Conv2D
from edgec.kernels.generic.conv_transpose import ConvTranspose
from edgec.kernels.generic.depthwise import Depthwise
from edgec.kernels.generic.elementwise import Elementwise
from edgec.kernels.generic.elementwise.operators import Element
from edgec.kernels.generic.elementwise_chain import ElementwiseChain, Step
from edgec.kernels.generic.fill import Fill
from edgec.kernels.generic.frame import Frame
from edgec.kernels.generic.gemm import Gemm
from edgec.kernels.generic.log_mel import LogMel
from edgec.kernels.generic.log_softmax import LogSoftmax
from edgec.kernels.generic.matmul import MatMul
from edgec.kernels.generic.max_pool import MaxPool
from edgec.kernels.generic.micro_features import MicroFeatures
from edgec.kernels.generic.pad import Pad, PadAxis
from edgec.kernels.generic.plane_words import PlaneWords
from edgec.kernels.generic.planes import Planes
from edgec.kernels.generic.reduce import Reduce
from edgec.kernels.generic.resize_linear import ResizeLinear
from edgec.kernels.generic.resize_nearest import ResizeNearest
from edgec.kernels.generic.sensor_features import SensorFeatures
from edgec.kernels.generic.signs import Signs
from edgec.kernels.generic.slide import Slide
from edgec.kernels.generic.softmax import Softmax
from edgec.kernels.generic.sparse_rows import SparseRows
from edgec.kernels.generic.stack_turn import StackTurn
from edgec.kernels.generic.strided_copy import StridedCopy
from edgec.kernels.generic.top_k import TopK
from edgec.kernels.generic.tree_ensemble import TreeEnsemble
from edgec.kernels.generic.window_dot import WindowDot
from edgec.kernels.m0.dense_1x4_s8_m0 import Dense1x4M0
from edgec.kernels.m0.dense_1x4_s16_m0 import Dense1x4S16M0
from edgec.kernels.m0.dense_5x2_s8_m0.spec import Dense5x2
from edgec.kernels.m0.depthwise_line_s8_m0 import DepthwiseLineM0
from edgec.kernels.m0.depthwise_s8_m0 import DepthwiseM0
from edgec.kernels.neon.add_s8_neon import TfliteAddNeon
from edgec.kernels.neon.attention import AttentionNeon
from edgec.kernels.neon.binary_4x4_neon import Binary4x4
from edgec.kernels.neon.dense_1x4_packed_neon import Dense1x4PackedNeon
from edgec.kernels.neon.dense_1x32_table_neon import Dense1x32Table
from edgec.kernels.neon.dense_4x4_s8_neon import Dense4x4
from edgec.kernels.neon.dense_4x16_s16_neon import Dense4x16
from edgec.kernels.neon.dense_8x8_s8_dot import Dense8x8
from edgec.kernels.neon.dense_8x8_s16_dot import Dense8x8S16
from edgec.kernels.neon.depthwise_s8_neon import DepthwiseNeon
from edgec.kernels.neon.depthwise_s16_neon import DepthwiseS16Neon
from edgec.kernels.neon.elements import ElementsNeon
from edgec.kernels.neon.lut import LutNeon
from edgec.kernels.neon.matmul import MatMulNeon
from edgec.kernels.neon.norm import NormNeon
from edgec.kernels.neon.plane_4x4_neon import Plane4x4
from edgec.kernels.neon.planes_neon import PlanesNeon
from edgec.kernels.neon.rescale import RescaleNeon
from edgec.kernels.neon.signs_neon import SignsNeon
from edgec.kernels.packed.filters.spec import PackedFilters
from edgec.kernels.transformer.attention import Attention
from edgec.kernels.transformer.embedding import Embedding
from edgec.kernels.transformer.norm import Norm
from edgec.kernels.weightpool.decode import PooledDecode
from edgec.kernels.weightpool.decode_dsp import PooledDecodeDsp
from edgec.kernels.weightpool.direct import PooledDirect
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.neon.spec import PooledConvNeon

__all__ = [
    "ArgMax",
    "Attention",
    "AttentionDsp",
    "AttentionNeon",
    "AveragePool",
    "Binary4x4",
    "BinaryWords",
    "Biquad",
    "ChannelScale",
    "Columns",
    "Concat",
    "Conv2D",
    "Conv4x2",
    "ConvTranspose",
    "Dense1x4",
    "Dense1x4M0",
    "Dense1x4Packed",
    "Dense1x4PackedNeon",
    "Dense1x4S16M0",
    "Dense1x32Table",
    "Dense2x2",
    "Dense3x2",
    "Dense4x2",
    "Dense4x4",
    "Dense4x16",
    "Dense5x2",
    "Dense8x8",
    "Dense8x8S16",
    "Depthwise",
    "Depthwise3x3",
    "Depthwise3x3FewColumns",
    "Depthwise3x3ManyColumns",
    "DepthwiseDsp",
    "DepthwiseLine",
    "DepthwiseLineM0",
    "DepthwiseM0",
    "DepthwiseNeon",
    "DepthwiseS16",
    "DepthwiseS16Neon",
    "Element",
    "ElementsNeon",
    "Elementwise",
    "ElementwiseChain",
    "Embedding",
    "Fill",
    "Frame",
    "Gemm",
    "LogMel",
    "LogSoftmax",
    "Loop",
    "LutNeon",
    "MatMul",
    "MatMulDsp",
    "MatMulNeon",
    "MaxPool",
    "MicroFeatures",
    "Norm",
    "NormNeon",
    "PackedFilters",
    "Pad",
    "PadAxis",
    "Plane4x4",
    "PlaneWords",
    "Planes",
    "PlanesNeon",
    "PooledConv",
    "PooledConvNeon",
    "PooledDecode",
    "PooledDecodeDsp",
    "PooledDirect",
    "Reduce",
    "RescaleNeon",
    "ResizeLinear",
    "ResizeNearest",
    "SensorFeatures",
    "Signs",
    "SignsNeon",
    "Slide",
    "Softmax",
    "SparseRows",
    "StackTurn",
    "Step",
    "StridedCopy",
    "TfliteAddNeon",
    "TopK",
    "TreeEnsemble",
    "WindowDot",
]
