"""Real-valued operators: what a graph holds from import to quantization.  One operator a file.

Names and meanings are ONNX's, with these differences, so that later stages have one form to
handle:

* Spatial operators (`Conv`, `ConvTranspose`, `MaxPool`, `AveragePool`, `Resize`) are
  two-dimensional and **channels last**: x is [N, H, W, C].  The importer puts `Transpose` nodes
  around them, and the layout pass cancels these; one-dimensional ones get H = 1 through `Reshape`.
* Convolution weights are [O, KH, KW, I/group]; `Gemm` weights are [N, K] (``y = x @ w.T + b``).
* Axes are non-negative, pads explicit (auto_pad and ceil_mode are resolved), shapes static.
* `Div` is `Mul` by a `Reciprocal` until `passes.fuse_factors`; `Einsum` and the `Attention` of
  opset 23 become `MatMul`s.
* Integers that the network computes with, token ids and attention masks, are int32; booleans are
  int32, 0 for false.  `And` and `Or` are `Where`; `Greater` and the like are `Compare`, its
  operands exchanged or its result negated.
* `Relu`, `Relu6` and `Clip` are `Clip`; element functions of one variable are `Unary`; global
  pooling and the Reduce family are `Reduce`; `Split` becomes `Slice`s; `Flatten`, `Squeeze`,
  `Unsqueeze` become `Reshape`; `DepthToSpace` becomes `Reshape`, `Transpose`, `Reshape`.

Operands have ONNX's names in lower case where ONNX has words for them; the only operand of an
operator is x throughout.  "const" operands must be `Constant`s.
"""

from edgec.ir.ops.arithmetic import (
    Add,
    Arithmetic,
    Compare,
    CompareKind,
    Div,
    Maximum,
    Minimum,
    Mul,
    SquaredDifference,
    Sub,
    Where,
)
from edgec.ir.ops.attention import Attention, Embedding
from edgec.ir.ops.elementwise import (
    Cast,
    Clip,
    Elementwise,
    OneInput,
    PRelu,
    Step,
    Unary,
    UnaryKind,
)
from edgec.ir.ops.move import (
    BatchToSpace,
    Concat,
    Expand,
    Pad,
    PadMode,
    Reshape,
    Slice,
    SpaceToBatch,
    Transpose,
)
from edgec.ir.ops.norm import BatchNormalization, LayerNormalization, Norm, RMSNormalization
from edgec.ir.ops.products import Conv, ConvTranspose, Gemm, MatMul, Weighted, layer_inputs
from edgec.ir.ops.quantize_linear import DequantizeLinear, QuantizeLinear
from edgec.ir.ops.reductions import (
    ArgMax,
    AveragePool,
    LogSoftmax,
    MaxPool,
    Reduce,
    ReduceKind,
    Softmax,
    TopK,
)
from edgec.ir.ops.resize import Resize, ResizeMode
from edgec.ir.ops.sound import LogMel, Spectrum
from edgec.ir.ops.tree_ensemble import TreeEnsemble
from edgec.ir.ops.turns import Carry, TurnLast, TurnSlice, TurnStack, Update

__all__ = [
    "Add",
    "ArgMax",
    "Arithmetic",
    "Attention",
    "AveragePool",
    "BatchNormalization",
    "BatchToSpace",
    "Carry",
    "Cast",
    "Clip",
    "Compare",
    "CompareKind",
    "Concat",
    "Conv",
    "ConvTranspose",
    "DequantizeLinear",
    "Div",
    "Elementwise",
    "Embedding",
    "Expand",
    "Gemm",
    "LayerNormalization",
    "LogMel",
    "LogSoftmax",
    "MatMul",
    "MaxPool",
    "Maximum",
    "Minimum",
    "Mul",
    "Norm",
    "OneInput",
    "PRelu",
    "Pad",
    "PadMode",
    "QuantizeLinear",
    "RMSNormalization",
    "Reduce",
    "ReduceKind",
    "Reshape",
    "Resize",
    "ResizeMode",
    "Slice",
    "Softmax",
    "SpaceToBatch",
    "Spectrum",
    "SquaredDifference",
    "Step",
    "Sub",
    "TopK",
    "Transpose",
    "TreeEnsemble",
    "TurnLast",
    "TurnSlice",
    "TurnStack",
    "Unary",
    "UnaryKind",
    "Update",
    "Weighted",
    "Where",
    "layer_inputs",
]
