"""Node tests that ask for what a compiled network cannot have, by kind.

A test is only then out of scope when edgec does not take it: see `verdict.verdict`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from node_cases import all_cases, operator_of

from edgec.base.dtypes import Array

_OPERATORS = {
    "text is not computed": (
        "LabelEncoder RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer"
    ),
    "sequences, maps and optional values": (
        "OptionalGetElement OptionalHasElement SequenceInsert SequenceMap SplitToSequence "
        "ConcatFromSequence SequenceAt SequenceEmpty SequenceErase SequenceLength "
        "SequenceConstruct Optional"
    ),
    "control flow": "If Loop Scan",
    "recurrent operators and state between runs": (
        "CausalConvWithState GRU LSTM LinearAttention RNN TensorScatter"
    ),
    "training": (
        "Adagrad Adam Gradient Momentum NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"
    ),
    "random numbers": (
        "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike"
    ),
    "complex numbers": "DFT",
    "operators on bits": ("BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor"),
    "sizes that depend on numbers": "Compress NonMaxSuppression NonZero Unique",
    "files of images": "ImageDecoder",
    "scales computed at run time": "DynamicQuantizeLinear ConvInteger MatMulInteger",
}
_REASONS = {op: reason for reason, ops in _OPERATORS.items() for op in ops.split()}
_FORMATS = ("FLOAT8", "FLOAT4", "INT2", "UINT2", "INT4", "UINT4", "E8M0", "STRING")
_MORE_FORMATS = ("float8", "e4m3", "e5m2", "float4", "e2m1", "int4", "int2", "string")


def out_of_scope(name: str) -> str | None:
    """Why a node test is out of scope; None where it is not."""
    op = operator_of(name)
    if op in _REASONS:
        return _REASONS[op]
    if op in ("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "Identity") and any(
        word in name for word in (*_FORMATS, *_MORE_FORMATS)
    ):
        return "number formats of other hardware"
    if "training" in name or "train" in name.split("_"):
        return "training"
    domains = {opset.domain for opset in all_cases()[name].model.opset_import}
    if "ai.onnx.preview.training" in domains:
        return "training"
    kinds = {node.op_type for node in all_cases()[name].model.graph.node}
    return next((_REASONS[kind] for kind in sorted(kinds & set(_REASONS))), None)


def odd_numbers(arrays: Iterable[Array]) -> str | None:
    """Why tensors cannot be those of a quantized network; None where they can."""
    given = list(arrays)
    if any(array.size == 0 for array in given):
        return "tensors without elements"
    # Numbers of other formats (bfloat16) are of no kind of numpy's own.
    floats = [array.astype(np.float32) for array in given if array.dtype.kind in "fV"]
    if any(not np.isfinite(array).all() for array in floats):
        return "infinite numbers and NaN have no 8-bit range"
    return None


def shown_reason(text: str) -> str:
    """A reason without what differs from test to test: names, shapes and numbers."""
    text = re.sub(r"'[^']*'|\[[^\]]*\]", "...", text)
    return re.sub(r"\b\d[\d,x.e+-]*\b", "N", text)[:110]
