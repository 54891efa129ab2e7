"""Kernel specifications: one frozen dataclass per kernel family, all numbers final.

A specification holds what is compiled into a C function: shapes, strides and shifts.  What differs
between layers of one shape (weights, multipliers, zero points, clamps) is an argument of the
function, see `lower.params`.  So equal specifications share one function.

A template sees a specification and nothing else; what it needs computed is a property here.
"""

from __future__ import annotations

from edgec.lower.spec_16x15 import MatMul, NarrowMul, NarrowReduce, Rescale, StreamAdd
from edgec.lower.spec_base import Loop
from edgec.lower.spec_compute import (
    Add,
    ArgMax,
    AveragePool,
    Lut,
    MaxPool,
    Mul,
    PRelu,
    Reduce,
    Softmax,
)
from edgec.lower.spec_dense_dsp import DenseDsp
from edgec.lower.spec_dense_quads import DenseQuads
from edgec.lower.spec_dense_triples import DenseTriples
from edgec.lower.spec_move import Concat, Pad, PadAxis, ResizeLinear, ResizeNearest, StridedCopy
from edgec.lower.spec_neon import (
    AttentionNeon,
    DenseNeon,
    LutNeon,
    NormNeon,
    RescaleNeon,
    StreamAddNeon,
)
from edgec.lower.spec_pooled import PooledConv
from edgec.lower.spec_pooled_dense import PooledDecode, PooledDecodeDsp, PooledDirect
from edgec.lower.spec_transformer import (
    Attention,
    AttentionDsp,
    Embedding,
    IsEqual,
    NarrowSoftmax,
    Norm,
)
from edgec.lower.spec_weighted import Conv2D, ConvTranspose, Depthwise, Gemm

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
    "DenseDsp",
    "DenseNeon",
    "DenseQuads",
    "DenseTriples",
    "Depthwise",
    "Embedding",
    "Gemm",
    "IsEqual",
    "KernelSpec",
    "Loop",
    "Lut",
    "LutNeon",
    "MatMul",
    "MaxPool",
    "Mul",
    "NarrowMul",
    "NarrowReduce",
    "NarrowSoftmax",
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
    "RescaleNeon",
    "ResizeLinear",
    "ResizeNearest",
    "Softmax",
    "StreamAdd",
    "StreamAddNeon",
    "StridedCopy",
]

KernelSpec = (
    Conv2D
    | Depthwise
    | Gemm
    | ConvTranspose
    | DenseDsp
    | DenseNeon
    | DenseQuads
    | DenseTriples
    | PooledConv
    | PooledDecode
    | PooledDecodeDsp
    | PooledDirect
    | Add
    | Mul
    | Lut
    | LutNeon
    | PRelu
    | Softmax
    | MaxPool
    | AveragePool
    | Reduce
    | StridedCopy
    | Concat
    | Pad
    | ResizeNearest
    | ResizeLinear
    | ArgMax
    | Rescale
    | RescaleNeon
    | NarrowMul
    | NarrowReduce
    | MatMul
    | StreamAdd
    | StreamAddNeon
    | Norm
    | NormNeon
    | Attention
    | AttentionDsp
    | AttentionNeon
    | Embedding
    | NarrowSoftmax
    | IsEqual
)
