"""Support vector machines: a kernel of the features and each support vector, and sums of these."""

from __future__ import annotations

import itertools

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.importers.onnx.op_ml import class_labels, rows_of, transformed, weighted_sums
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import UnaryKind

_CORRECT = "correct the model"


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
    """What each vector adds to the decision between two classes, [pairs, vectors].

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
