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
from edgec.lower.spec_move import Concat, Pad, PadAxis, ResizeLinear, ResizeNearest, StridedCopy
from edgec.lower.spec_pooled import PooledConv
from edgec.lower.spec_pooled_dense import PooledDecode, PooledDecodeDsp, PooledDirect
from edgec.lower.spec_transformer import Attention, AttentionDsp, Embedding, Norm
from edgec.lower.spec_weighted import Conv2D, ConvTranspose, Depthwise, Gemm

__all__ = [
    "Add",
    "ArgMax",
    "Attention",
    "AttentionDsp",
    "AveragePool",
    "Concat",
    "Conv2D",
    "ConvTranspose",
    "DenseDsp",
    "DenseQuads",
    "Depthwise",
    "Embedding",
    "Gemm",
    "KernelSpec",
    "Loop",
    "Lut",
    "MatMul",
    "MaxPool",
    "Mul",
    "NarrowMul",
    "NarrowReduce",
    "Norm",
    "PRelu",
    "Pad",
    "PadAxis",
    "PooledConv",
    "PooledDecode",
    "PooledDecodeDsp",
    "PooledDirect",
    "Reduce",
    "Rescale",
    "ResizeLinear",
    "ResizeNearest",
    "Softmax",
    "StreamAdd",
    "StridedCopy",
]

KernelSpec = (
    Conv2D
    | Depthwise
    | Gemm
    | ConvTranspose
    | DenseDsp
    | DenseQuads
    | PooledConv
    | PooledDecode
    | PooledDecodeDsp
    | PooledDirect
    | Add
    | Mul
    | Lut
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
    | NarrowMul
    | NarrowReduce
    | MatMul
    | StreamAdd
    | Norm
    | Attention
    | AttentionDsp
    | Embedding
)
