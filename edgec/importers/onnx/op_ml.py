"""Linear models of scikit-learn, what comes before them and how their scores become outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common import functions
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import UnaryKind

_CORRECT = "correct the model"


def linear_classifier(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """post_transform NONE, LOGISTIC or SOFTMAX; the label is the number of the class."""
    x = rows_of(node)
    scores = _linear(ctx, node, x, len(class_labels(node)))
    return decided(ctx, node, scores)


def linear_regressor(ctx: Context, node: OnnxNode) -> Tensor:
    """Any number of targets; post_transform NONE, LOGISTIC or SOFTMAX."""
    scores = _linear(ctx, node, rows_of(node), node.integer("targets", 1))
    return transformed(ctx, node, scores)


def normalizer(ctx: Context, node: OnnxNode) -> Tensor:
    """Norms L1, L2 and MAX of each row."""
    x = rows_of(node)
    norm = node.text("norm", "MAX")
    if norm == "L1" and _sums_to_one(ctx, x):
        return x
    kind = {"L1": ops.ReduceKind.L1, "L2": ops.ReduceKind.L2}.get(norm)
    if kind is not None:
        size: Tensor = ctx.emit(ops.Reduce(kind, (1,), keepdims=True), x)
    elif norm == "MAX":
        size = ctx.emit(ops.Reduce(ops.ReduceKind.MAX, (1,), keepdims=True), x)
    else:
        raise UnsupportedError(f"its norm is {norm!r}, not L1, L2 or MAX", _CORRECT)
    return functions.quotient(ctx, x, size)


def imputer(ctx: Context, node: OnnxNode) -> Tensor:
    """Only for missing values that are no numbers, which codes cannot be: the rest passes."""
    del ctx
    if not math.isnan(node.number("replaced_value_float", math.nan)):
        raise UnsupportedError(
            "it replaces a number by another", "replace missing values before the network"
        )
    return rows_of(node)


def zip_map(ctx: Context, node: OnnxNode) -> Tensor:
    """Dropped: the output is the scores, in the order of the labels."""
    del ctx
    return node.tensor(0)


def feature_vectorizer(ctx: Context, node: OnnxNode) -> Tensor:
    """Columns beside each other."""
    columns = [node.real_value(i) for i in range(node.input_count)]
    if any(len(column.shape) != 2 for column in columns):
        raise UnsupportedError("an input is no row of features", _CORRECT)
    return columns[0] if len(columns) == 1 else ctx.emit(ops.Concat(1), *columns)


def binarizer(ctx: Context, node: OnnxNode) -> Tensor:
    """1 where an element is above the threshold, else 0."""
    x, threshold = node.real_value(0), node.number("threshold", 0.0)
    shifted = ctx.emit(ops.Sub(), x, _number(node, "threshold", threshold))
    sign = ctx.emit(ops.Unary(UnaryKind.SIGN), shifted)
    return ctx.emit(ops.Clip(0.0, 1.0), sign)


def rows_of(node: OnnxNode) -> Value:
    """The features, [1, F]."""
    x = node.real_value(0)
    if len(x.shape) != 2:
        raise UnsupportedError(f"its input {list(x.shape)} is no row of features", _CORRECT)
    return x


def class_labels(node: OnnxNode) -> tuple[str, ...]:
    """The labels of the classes of a classifier, in order.

    Raises:
        UnsupportedError: there are none.
    """
    for name in ("classlabels_ints", "classlabels_int64s"):
        found = node.integers(name)
        if found:
            return tuple(str(label) for label in found)
    texts = node.texts("classlabels_strings")
    if not texts:
        raise UnsupportedError("it does not list its classes", _CORRECT)
    return texts


def decided(ctx: Context, node: OnnxNode, scores: Tensor) -> tuple[Tensor, ...]:
    """The number of the class of the largest score [1], and the scores after post_transform."""
    label = ctx.emit(ops.ArgMax(1, keepdims=False), scores, dtype=DType.INT32)
    return label, transformed(ctx, node, scores)


def transformed(ctx: Context, node: OnnxNode, scores: Tensor) -> Tensor:
    """Scores [1, C] after the node's post_transform.

    Raises:
        UnsupportedError: that is another one than NONE, LOGISTIC or SOFTMAX.
    """
    match node.text("post_transform", "NONE"):
        case "NONE":
            return scores
        case "LOGISTIC":
            return ctx.emit(ops.Unary(UnaryKind.SIGMOID), scores)
        case "SOFTMAX":
            return ctx.emit(ops.Softmax(), scores)
        case other:
            raise UnsupportedError(
                f"its post_transform is {other}", "use NONE, LOGISTIC or SOFTMAX"
            )


def weighted_sums(
    ctx: Context, node: OnnxNode, x: Tensor, weight: Array, bias: Array, part: str = ""
) -> Value:
    """``x @ weight.T + bias`` with numbers from attributes, [1, O]."""
    # Attributes have no names that other tensors could not have as well.
    w = Constant(f"{node.name}/{part}weights", weight.astype(np.float32))
    b = Constant(f"{node.name}/{part}biases", bias.astype(np.float32))
    return ctx.emit(ops.Gemm(), x, w, b)


def _linear(ctx: Context, node: OnnxNode, x: Value, outputs: int) -> Value:
    """The sums of a linear model, [1, outputs]."""
    coefficients = np.asarray(node.numbers("coefficients") or (), np.float64)
    features = x.shape[-1]
    if coefficients.size % features or coefficients.size // features not in _counts(outputs, node):
        raise UnsupportedError(
            f"{coefficients.size} coefficients do not fit {features} features and "
            f"{outputs} outputs",
            _CORRECT,
        )
    weight = coefficients.reshape(-1, features)
    given: Sequence[float] = node.numbers("intercepts") or (0.0,) * len(weight)
    bias = np.asarray(given, np.float64)
    if bias.shape != (len(weight),):
        raise UnsupportedError("its intercepts do not fit its coefficients", _CORRECT)
    if len(weight) < outputs:
        # One row speaks for the second of two classes.
        weight, bias = np.concatenate([-weight, weight]), np.concatenate([-bias, bias])
    return weighted_sums(ctx, node, x, weight, bias)


def _counts(outputs: int, node: OnnxNode) -> tuple[int, ...]:
    """How many rows of coefficients there may be."""
    logistic = node.text("post_transform", "NONE") == "LOGISTIC"
    one = node.op == "LinearClassifier" and outputs == 2 and logistic
    return (1, outputs) if one else (outputs,)


def _sums_to_one(ctx: Context, x: Value) -> bool:
    """Whether the elements of x are probabilities already: a softmax, or a sigmoid of s and -s."""
    producer = ctx.producer(x)
    if producer is None:
        return False
    if isinstance(producer.attrs, ops.Softmax):
        return True
    sigmoid = isinstance(producer.attrs, ops.Unary) and producer.attrs.kind is UnaryKind.SIGMOID
    before = ctx.producer(ctx.builder.values[producer.first]) if sigmoid else None
    if before is None or not isinstance(before.attrs, ops.Gemm) or x.shape[-1] != 2:
        return False
    inputs = ops.layer_inputs(before)
    weight = ctx.builder.constants[inputs.w].array
    bias = ctx.builder.constants[inputs.b].array if inputs.b else np.zeros(2)
    return bool(np.array_equal(weight[0], -weight[1]) and bias[0] == -bias[1])


def _number(node: OnnxNode, part: str, value: float) -> Constant:
    return Constant(f"{node.name}/{part}", np.asarray(value, np.float32))
