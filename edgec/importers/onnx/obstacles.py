"""Reasons and remedies for the ONNX operators that edgec does not import.

Operators that `registry` has a handler for are not looked up here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from edgec.importers.common.attempt import Obstacle
from edgec.importers.onnx.quantized_formats import DOMAINS as QONNX_DOMAINS

_ML = "ai.onnx.ml"
_ONNXRUNTIME = ("com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc")
_CALLER = "end the network before it and compute it in the program that calls the network"
_CONTROL = Obstacle(
    "control flow is not compiled", "export the model by tracing, with fixed shapes"
)
_NEIGHBOURS = Obstacle(
    "loops over rows, as of nearest neighbours, are not compiled",
    "train a classifier that keeps no training data (a forest, SVC), or export by tracing",
)
_DYNAMIC = Obstacle(
    "scales computed at run time (dynamic quantization) are not compiled",
    "give the float model: edgec quantizes it; or quantize it statically, with calibration data",
)
_RANDOM = Obstacle(
    "random numbers are not computed at run time", "export the model for inference (model.eval())"
)
_TRAINING = Obstacle("it belongs to training", "export the model for inference (model.eval())")
_DATA_SIZES = Obstacle("the size of its output depends on the data", _CALLER)
_POSITIONS = Obstacle(
    "it reads at positions that are computed at run time",
    "use Resize, Slice or Gather with constant positions, or " + _CALLER,
)
_SHAPES = Obstacle(
    "its input is not known at compile time", "export the model with fixed shapes, or give --shape"
)
_INTEGERS = Obstacle(
    "integers are not computed with at run time", "export the model with this result as an input"
)
_SEQUENCES = Obstacle("sequences and optional values are no tensors", "use tensors alone")
_TEXT = Obstacle("it works on text", "give the network numbers: " + _CALLER)
_UNPOOL = Obstacle(
    "it writes to positions that are computed at run time", "use Resize or ConvTranspose"
)
_QONNX = Obstacle(
    "of QONNX's quantizers edgec takes Quant of at most 8 bits (of constants 32) that rounds to "
    "the nearest, with constant scale, zero point and bits, BipolarQuant, and Trunc around 0 to at "
    "most 8 bits, of codes or of the sums of an average pool (Floor or Ceil) of these",
    "convert the model with qonnx-convert to the QCDQ style, or export it so from Brevitas",
)
_TREES = Obstacle(
    "edgec has no such operator of classical machine learning",
    "use one of those in docs/operators.md, or a small neural network",
)
_BLOCKS = Obstacle(
    "onnxruntime optimized the model for one processor, its weights are computed or do not tell "
    "how many channels a block has",
    "give the model as it was before it was optimized",
)
_UNKNOWN = Obstacle(
    "edgec has no such operator",
    "rewrite it with operators that edgec has (docs/operators.md), or " + _CALLER,
)
_BY_NAME: Mapping[str, Obstacle] = MappingProxyType(
    {
        "SequenceMap": _CONTROL,
        "CDist": _NEIGHBOURS,
        **dict.fromkeys(
            (
                *("DynamicQuantizeLinear", "DynamicQuantizeMatMul", "MatMulInteger"),
                *("ConvInteger", "MatMulIntegerToFloat", "DynamicQuantizeLSTM"),
            ),
            _DYNAMIC,
        ),
        **dict.fromkeys(
            (
                *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
                *("Bernoulli", "Multinomial"),
            ),
            _RANDOM,
        ),
        **dict.fromkeys(
            ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss", "Gradient", "Adam"), _TRAINING
        ),
        **dict.fromkeys(("NonZero", "Unique", "Compress"), _DATA_SIZES),
        **dict.fromkeys(("RoiAlign", "MaxRoiPool", "DeformConv"), _POSITIONS),
        **dict.fromkeys(("ConstantOfShape", "Range", "EyeLike"), _SHAPES),
        **dict.fromkeys(
            ("BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"), _INTEGERS
        ),
        **dict.fromkeys(
            (
                *("SequenceConstruct", "SequenceAt", "SequenceEmpty", "SequenceInsert"),
                *("SequenceErase", "SequenceLength", "ConcatFromSequence", "SplitToSequence"),
                *("Optional", "OptionalGetElement", "OptionalHasElement"),
            ),
            _SEQUENCES,
        ),
        **dict.fromkeys(
            (
                "StringNormalizer",
                "StringConcat",
                "StringSplit",
                "RegexFullMatch",
                "TfIdfVectorizer",
            ),
            _TEXT,
        ),
        "MaxUnpool": _UNPOOL,
        "NonMaxSuppression": Obstacle(
            "the number of boxes that it keeps depends on the data",
            "end the network with the boxes and scores that it reads "
            "(onnx.utils.extract_model), and suppress boxes in the program that calls the network",
        ),
        "Constant": Obstacle("it is a constant output, or no number", "remove it from the outputs"),
    }
)


def obstacle(op: str, domain: str) -> Obstacle:
    """Reason and remedy for an operator without a handler."""
    if op in _BY_NAME:
        return _BY_NAME[op]
    if domain in ("", "ai.onnx"):
        return _UNKNOWN
    if domain == _ML:
        return _TREES
    if domain in QONNX_DOMAINS:
        return _QONNX
    if domain == "com.microsoft.nchwc" and op == "Conv":
        return _BLOCKS
    if domain in _ONNXRUNTIME:
        return Obstacle(
            f"it is an operator of onnxruntime alone (domain {domain!r}), written where "
            "onnxruntime or its tools optimized the model for one processor",
            "give the model as it was before they optimized it",
        )
    return Obstacle(
        f"edgec does not know the operators of the domain {domain!r}",
        "export the model with operators of ONNX itself",
    )
