"""Every class of specifications by its name."""

from edgec.kernels.common.spec import Loop
from edgec.kernels.dsp.attention.family import AttentionDsp
from edgec.kernels.dsp.depthwise_planes.spec import DepthwisePlanes
from edgec.kernels.dsp.tile_1x4.spec import Tile1x4
from edgec.kernels.dsp.tile_3x2.spec import Tile3x2
from edgec.kernels.dsp.tile_4x2.spec import Tile4x2
from edgec.kernels.generic.add.family import Add
from edgec.kernels.generic.arg_max.family import ArgMax
from edgec.kernels.generic.average_pool.family import AveragePool
from edgec.kernels.generic.concat.family import Concat
from edgec.kernels.generic.conv2d.family import Conv2D
from edgec.kernels.generic.conv_transpose.family import ConvTranspose
from edgec.kernels.generic.depthwise.family import Depthwise
from edgec.kernels.generic.gemm.family import Gemm
from edgec.kernels.generic.lut.family import Lut
from edgec.kernels.generic.max_pool.family import MaxPool
from edgec.kernels.generic.mul.family import Mul
from edgec.kernels.generic.pad.family import Pad, PadAxis
from edgec.kernels.generic.prelu.family import PRelu
from edgec.kernels.generic.reduce.family import Reduce
from edgec.kernels.generic.resize_linear.family import ResizeLinear
from edgec.kernels.generic.resize_nearest.family import ResizeNearest
from edgec.kernels.generic.softmax.family import Softmax
from edgec.kernels.generic.strided_copy.family import StridedCopy
from edgec.kernels.neon.attention.family import AttentionNeon
from edgec.kernels.neon.lut.family import LutNeon
from edgec.kernels.neon.norm.family import NormNeon
from edgec.kernels.neon.rescale.family import RescaleNeon
from edgec.kernels.neon.stream_add.family import StreamAddNeon
from edgec.kernels.neon.tile_4x4.spec import Tile4x4
from edgec.kernels.small.tile_3x4.spec import Tile3x4
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

__all__ = [
    "Add",
    "ArgMax",
    "Attention",
    "AttentionDsp",
    "AttentionNeon",
    "AveragePool",
    "Concat",
    "Conv2D",
    "ConvTranspose",
    "Depthwise",
    "DepthwisePlanes",
    "Embedding",
    "Gemm",
    "IsEqual",
    "Loop",
    "Lut",
    "LutNeon",
    "MatMul",
    "MaxPool",
    "Mul",
    "Norm",
    "NormNeon",
    "PRelu",
    "Pad",
    "PadAxis",
    "PooledConv",
    "PooledDecode",
    "PooledDecodeDsp",
    "PooledDirect",
    "Reduce",
    "Rescale",
    "Rescale16Mul",
    "Rescale16Reduce",
    "RescaleNeon",
    "ResizeLinear",
    "ResizeNearest",
    "Softmax",
    "SoftmaxOctaves",
    "StreamAdd",
    "StreamAddNeon",
    "StridedCopy",
    "Tile1x4",
    "Tile3x2",
    "Tile3x4",
    "Tile4x2",
    "Tile4x4",
]
