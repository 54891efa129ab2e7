"""Linear models of scikit-learn, what comes before them and how their scores become outputs.

Support vector machines: a kernel of the features and each support vector, and sums of these.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common import functions
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
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
    """Numbers of rows of coefficients that are legal."""
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


def svm_regressor(ctx: Context, node: OnnxNode) -> Tensor:
    """Kernels LINEAR, RBF, POLY and SIGMOID."""
    if node.integer("one_class", 0):
        raise UnsupportedError("it tells outliers (one_class)", "use its score, a regression")
    x = rows_of(node)
    weight = np.asarray(node.numbers("coefficients") or (), np.float64).reshape(1, -1)
    vectors = _vectors(node, node.integer("n_supports", 0), x.shape[-1])
    bias = np.asarray((node.numbers("rho") or (0.0,))[:1], np.float64)
    return transformed(ctx, node, _decisions(ctx, node, x, vectors, weight, bias))


def svm_classifier(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """Kernels as of SVMRegressor; probabilities of two classes; the label is a class number."""
    x, sizes = rows_of(node), node.integers("vectors_per_class") or ()
    classes = len(class_labels(node))
    if len(sizes) != classes:
        raise UnsupportedError("it has no support vectors of each class", "use LinearClassifier")
    if node.text("post_transform", "NONE") != "NONE":
        raise UnsupportedError("it transforms its scores", "use post_transform NONE")
    vectors = _vectors(node, sum(sizes), x.shape[-1])
    weight = _pair_weights(node, sizes, len(vectors))
    bias = np.asarray(node.numbers("rho") or (), np.float64)
    if bias.shape != (len(weight),):
        raise UnsupportedError("its rho does not fit its classes", _CORRECT)
    if classes == 2:
        return _of_two(ctx, node, x, vectors, weight, bias)
    if node.numbers("prob_a"):
        raise UnsupportedError(
            "it couples the probabilities of several classes by an iteration",
            "train it without probability=True: its decision function has the same classes",
        )
    scores = _decisions(ctx, node, x, vectors, weight, bias)
    return _voted(ctx, node, scores, classes), scores


def _of_two(
    ctx: Context, node: OnnxNode, x: Value, vectors: Array, weight: Array, bias: Array
) -> tuple[Tensor, ...]:
    """The decision d for the first class: label, and -d and d, or the probabilities."""
    both = np.concatenate([-weight, weight]), np.concatenate([-bias, bias])
    scores = _decisions(ctx, node, x, vectors, *both)
    # The largest of -d and d is at the number of the other class.
    label = ctx.emit(ops.ArgMax(1, keepdims=False, smallest=True), scores, dtype=DType.INT32)
    if not node.numbers("prob_a"):
        return label, scores
    a, b = (node.numbers(name) or (0.0,) for name in ("prob_a", "prob_b"))
    # 1 / (1 + exp(a * d + b)) for the first class; of scores (-d, d) the second is d.
    slopes = _constant(node, "slopes", np.asarray([a[0], a[0]]))
    shifts = _constant(node, "shifts", np.asarray([-b[0], b[0]]))
    logits = ctx.emit(ops.Add(), ctx.emit(ops.Mul(), scores, slopes), shifts)
    return label, ctx.emit(ops.Unary(UnaryKind.SIGMOID), logits)


def _voted(ctx: Context, node: OnnxNode, scores: Value, classes: int) -> Tensor:
    """The class that wins the most of its pairs, the first of several [1]."""
    sign = ctx.emit(ops.Unary(UnaryKind.SIGN), scores)
    wins = ctx.emit(ops.Clip(0.0, 1.0), sign)
    pairs = list(itertools.combinations(range(classes), 2))
    weight, bias = np.zeros((classes, len(pairs))), np.zeros(classes)
    for number, (first, second) in enumerate(pairs):
        weight[first, number], weight[second, number] = 1.0, -1.0
        bias[second] += 1.0
    votes = weighted_sums(ctx, node, wins, weight, bias, "votes/")
    return ctx.emit(ops.ArgMax(1, keepdims=False), votes, dtype=DType.INT32)


def _decisions(
    ctx: Context, node: OnnxNode, x: Value, vectors: Array, weight: Array, bias: Array
) -> Value:
    """``kernel(x, vectors) @ weight.T + bias``, [1, rows of weight]."""
    if weight.shape[1] != len(vectors) and len(vectors):
        raise UnsupportedError("its coefficients do not fit its support vectors", _CORRECT)
    kernel = node.text("kernel_type", "LINEAR")
    if kernel == "LINEAR":
        flat = weight @ vectors if len(vectors) else weight
        if flat.shape[1] != x.shape[-1]:
            raise UnsupportedError("its coefficients do not fit its features", _CORRECT)
        return weighted_sums(ctx, node, x, flat, bias)
    if not len(vectors):
        raise UnsupportedError(f"its kernel {kernel} has no support vectors", _CORRECT)
    return weighted_sums(ctx, node, _kernel(ctx, node, kernel, x, vectors), weight, bias)


def _kernel(ctx: Context, node: OnnxNode, kernel: str, x: Value, vectors: Array) -> Value:
    """The kernel of x and each vector, [1, vectors]."""
    gamma, shift, degree = (node.numbers("kernel_params") or (0.0, 0.0, 3.0))[:3]
    if kernel == "RBF":
        return _gaussian(ctx, node, gamma, x, vectors)
    functions = {
        "POLY": ops.Unary(UnaryKind.POW, alpha=degree),
        "SIGMOID": ops.Unary(UnaryKind.TANH),
    }
    if kernel not in functions:
        raise UnsupportedError(
            f"its kernel is {kernel}", "use one of LINEAR, RBF, POLY and SIGMOID"
        )
    start = np.full(len(vectors), shift)
    products = weighted_sums(ctx, node, x, gamma * vectors, start, "kernel/")
    return ctx.emit(functions[kernel], products)


def _gaussian(ctx: Context, node: OnnxNode, gamma: float, x: Value, vectors: Array) -> Value:
    """``exp(-gamma * |x - v|^2)``: the square of a distance is |x|^2 - 2 x v + |v|^2."""
    squares = -gamma * np.sum(vectors**2, axis=1)
    products = weighted_sums(ctx, node, x, 2.0 * gamma * vectors, squares, "kernel/")
    size = ctx.emit(ops.Reduce(ops.ReduceKind.SUM_SQUARE, (1,), keepdims=True), x)
    scaled = ctx.emit(ops.Mul(), size, _constant(node, "gamma", np.asarray(gamma)))
    return ctx.emit(ops.Unary(UnaryKind.EXP), ctx.emit(ops.Sub(), products, scaled))


def _vectors(node: OnnxNode, count: int, features: int) -> Array:
    """The support vectors, float64 [count, features]."""
    flat = np.asarray(node.numbers("support_vectors") or (), np.float64)
    if flat.size != count * features:
        raise UnsupportedError("its support vectors do not fit its features", _CORRECT)
    return flat.reshape(count, features)


def _pair_weights(node: OnnxNode, sizes: tuple[int, ...], count: int) -> Array:
    """Weight of each support vector in the decision between two classes, [pairs, vectors].

    A row of the attribute serves the pairs with the next other class: a vector of class i has its
    coefficient against class j > i in row j - 1, against j < i in row j.
    """
    given = np.asarray(node.numbers("coefficients") or (), np.float64)
    if given.size != (len(sizes) - 1) * count:
        raise UnsupportedError("its coefficients do not fit its support vectors", _CORRECT)
    rows = given.reshape(len(sizes) - 1, count)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = list(itertools.combinations(range(len(sizes)), 2))
    weight = np.zeros((len(pairs), count))
    for number, (first, second) in enumerate(pairs):
        of_first = slice(starts[first], starts[first + 1])
        of_second = slice(starts[second], starts[second + 1])
        weight[number, of_first] = rows[second - 1, of_first]
        weight[number, of_second] = rows[first, of_second]
    return weight


def _constant(node: OnnxNode, part: str, array: Array) -> Constant:
    return Constant(f"{node.name}/{part}", array.astype(np.float32))
