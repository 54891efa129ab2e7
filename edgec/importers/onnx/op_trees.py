"""Ensembles of decision trees: random forests, gradient boosting, single trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.op_ml import class_labels, decided, rows_of, transformed
from edgec.ir import ops
from edgec.ir.graph import Constant, Value

_CORRECT = "correct the model"
_LEAF = "LEAF"
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", _LEAF)
_LARGEST_ROW = 1 << 24
"""Rows that a float32 number can name."""


def tree_ensemble_regressor(ctx: Context, node: OnnxNode) -> Tensor:
    """Sums and averages of trees whose nodes compare a feature with a number."""
    outputs = node.integer("n_targets", 1)
    aggregate = node.text("aggregate_function", "SUM")
    if aggregate not in ("SUM", "AVERAGE"):
        raise UnsupportedError(f"it takes the {aggregate} of trees", "use SUM or AVERAGE")
    forest = _Forest.read(node, "target", outputs)
    if aggregate == "AVERAGE":
        forest.leaves /= len(forest.roots)
    return transformed(ctx, node, forest.emit(ctx, node, _base(node, outputs)))


def tree_ensemble_classifier(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """As the regressor; post_transform NONE, LOGISTIC or SOFTMAX; the label is a class number."""
    classes = len(class_labels(node))
    forest = _Forest.read(node, "class", classes)
    if classes > 2:
        return decided(ctx, node, forest.emit(ctx, node, _base(node, classes)))
    return _binary(ctx, node, forest)


def _binary(ctx: Context, node: OnnxNode, forest: _Forest) -> tuple[Tensor, ...]:
    """Two classes: the trees vote for the second alone, by its number or that of the first."""
    votes = np.flatnonzero(np.any(forest.named, axis=0))
    given = node.numbers("base_values") or (0.0,)
    if len(votes) != 1 or len(given) != 1:
        raise UnsupportedError(
            "its trees have numbers for both of two classes, which runtimes read differently",
            "export it with a number for one of them, as skl2onnx does",
        )
    score = forest.leaves[:, votes]
    # Probabilities decide at a half, other scores at zero.
    probabilities = bool(np.all(score >= 0.0))
    logistic = node.text("post_transform", "NONE") == "LOGISTIC"
    if votes[0] != 0 or (probabilities and logistic):
        raise UnsupportedError("its two classes are scored in an unusual way", _CORRECT)
    forest.leaves = np.concatenate([-score, score], axis=1)
    base = np.asarray([(1.0 if probabilities else 0.0) - given[0], given[0]])
    scores = forest.emit(ctx, node, base)
    if node.text("post_transform", "NONE") == "SOFTMAX":  # onnxruntime leaves two classes as are
        return ctx.emit(ops.ArgMax(1, keepdims=False), scores, dtype=DType.INT32), scores
    return decided(ctx, node, scores)


def _base(node: OnnxNode, outputs: int) -> Array:
    """Initial value of the sums, [outputs]."""
    given = node.numbers("base_values") or (0.0,) * outputs
    if len(given) != outputs:
        raise UnsupportedError("its base_values do not fit its outputs", _CORRECT)
    return np.asarray(given, np.float64)


@dataclass(slots=True)
class _Forest:
    """Trees as rows of `ops.TreeEnsemble`.

    Attributes:
        rows: (feature, threshold, skip) each.
        roots: row of each tree.
        leaves: numbers of each leaf, float64 [L, outputs].
        named: whether the file has this number; bool [L, outputs].
    """

    rows: list[tuple[float, float, float]]
    roots: list[int]
    leaves: Array = field(default_factory=lambda: np.zeros((0, 0)))
    named: Array = field(default_factory=lambda: np.zeros((0, 0), bool))

    @classmethod
    def read(cls, node: OnnxNode, what: str, outputs: int) -> _Forest:
        """The trees of a node; `what`: target or class, as its attributes call outputs.

        Raises:
            UnsupportedError: the attributes make no trees, or compare in another way.
        """
        nodes = _Nodes.read(node)
        forest = cls([], [])
        leaves: list[int] = []
        for root in nodes.roots():
            forest.roots.append(len(forest.rows))
            forest._add_tree(nodes, root, leaves)
        forest._add_leaves(node, what, outputs, nodes, leaves)
        return forest

    def _add_tree(self, nodes: _Nodes, root: int, leaves: list[int]) -> None:
        """Rows of a tree in preorder, without recursion: trees may be deep."""
        pending: list[tuple[int, int]] = [(root, -1)]
        while pending:
            at, parent = pending.pop()
            if parent >= 0:
                feature, threshold, _ = self.rows[parent]
                self.rows[parent] = (feature, threshold, len(self.rows) - parent)
            if nodes.modes[at] == _LEAF:
                self.rows.append((-1.0, float(len(leaves)), 0.0))
                leaves.append(at)
            else:
                threshold, yes, no = nodes.test(at)
                pending += [(no, len(self.rows)), (yes, -1)]
                self.rows.append((float(nodes.features[at]), threshold, 0.0))
            if len(self.rows) > min(_LARGEST_ROW, len(nodes.modes)):
                raise UnsupportedError("its nodes form no trees", _CORRECT)

    def _add_leaves(
        self, node: OnnxNode, what: str, outputs: int, nodes: _Nodes, leaves: list[int]
    ) -> None:
        place = {at: number for number, at in enumerate(leaves)}
        self.leaves = np.zeros((len(leaves), outputs))
        self.named = np.zeros((len(leaves), outputs), bool)
        columns = [node.integers(f"{what}_{part}") or () for part in ("treeids", "nodeids", "ids")]
        weights = node.numbers(f"{what}_weights") or ()
        if len({len(weights), *map(len, columns)}) != 1:
            raise UnsupportedError(f"its {what}_... attributes differ in length", _CORRECT)
        for tree, own, output, weight in zip(*columns, weights, strict=True):
            leaf = place.get(nodes.index.get((tree, own), -1))
            if leaf is None or not 0 <= output < outputs:
                raise UnsupportedError(f"its {what}_... attributes name no leaf", _CORRECT)
            self.leaves[leaf, output] += weight
            self.named[leaf, output] = True

    def emit(self, ctx: Context, node: OnnxNode, base: Array) -> Value:
        """The sums of the leaves, [1, outputs]."""
        x = rows_of(node)
        if any(feature >= x.shape[-1] for feature, _, _ in self.rows):
            raise UnsupportedError("a tree tests a feature that x does not have", _CORRECT)
        parts = {"nodes": self.rows, "roots": self.roots, "leaves": self.leaves, "base": base}
        constants = [
            Constant(f"{node.name}/{part}", np.asarray(array, np.float32))
            for part, array in parts.items()
        ]
        return ctx.emit(ops.TreeEnsemble(), x, *constants)


@dataclass(frozen=True, slots=True, eq=False)
class _Nodes:
    """The nodes of all trees as the file has them, by their place in its attributes.

    Attributes:
        index: the place of a node by the numbers of its tree and its own.
        trees, modes, features, values, yes, no: a number or text of each node.
    """

    index: dict[tuple[int, int], int]
    trees: Sequence[int]
    modes: Sequence[str]
    features: Sequence[int]
    values: Sequence[float]
    yes: Sequence[int]
    no: Sequence[int]

    @classmethod
    def read(cls, node: OnnxNode) -> _Nodes:
        """The attributes of a node.

        Raises:
            UnsupportedError: they differ in length, or name an unknown test.
        """
        trees, own, features, yes, no = (
            node.integers(f"nodes_{part}") or ()
            for part in ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
        )
        modes, values = node.texts("nodes_modes"), node.numbers("nodes_values") or ()
        lengths = {len(each) for each in (trees, own, features, yes, no, modes, values)}
        if lengths in (set(), {0}) or len(lengths) != 1:
            raise UnsupportedError("its nodes_... attributes differ in length", _CORRECT)
        unknown = sorted(set(modes) - set(_MODES))
        if unknown:
            raise UnsupportedError(f"its nodes test by {unknown[0]}", "use BRANCH_LEQ")
        index = {key: place for place, key in enumerate(zip(trees, own, strict=True))}
        if len(index) != len(trees) or min(features) < 0:
            raise UnsupportedError("its nodes form no trees", _CORRECT)
        return cls(index, trees, modes, features, values, yes, no)

    def roots(self) -> list[int]:
        """The first node of each tree, which no other names."""
        seen: dict[int, int] = {}
        named = {child for at in range(len(self.modes)) for child in self._children(at)}
        for place, tree in enumerate(self.trees):
            if place not in named:
                if tree in seen:
                    raise UnsupportedError("a tree has two roots", _CORRECT)
                seen[tree] = place
        if len(seen) != len(set(self.trees)):
            raise UnsupportedError("its nodes form no trees", _CORRECT)
        return list(seen.values())

    def test(self, at: int) -> tuple[float, int, int]:
        """Threshold, and the nodes that ``x <= threshold`` and anything else lead to."""
        yes, no = self._children(at)
        threshold, mode = np.float32(self.values[at]), self.modes[at]
        if mode in ("BRANCH_LT", "BRANCH_GTE"):
            threshold = np.nextafter(threshold, np.float32(-np.inf))
        if mode in ("BRANCH_GTE", "BRANCH_GT"):
            yes, no = no, yes
        return float(threshold), yes, no

    def _children(self, at: int) -> tuple[int, ...]:
        if self.modes[at] == _LEAF:
            return ()
        found = [self.index.get((self.trees[at], child)) for child in (self.yes[at], self.no[at])]
        if found[0] is None or found[1] is None:
            raise UnsupportedError("a node leads to no node of its tree", _CORRECT)
        return found[0], found[1]
