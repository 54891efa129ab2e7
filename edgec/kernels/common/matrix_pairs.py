"""Pairs of matrices that are multiplied with each other: what kernels of such products share."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.loops import broadcast_strides, merge_loops
from edgec.kernels.common.spec import Loop
from edgec.kernels.family import Distances

PairSizes = tuple[tuple[Loop, ...], int, int, int, tuple[int, int], tuple[int, int]]
"""The fields of `MatrixPairs`, in their order."""


@dataclass(frozen=True, slots=True)
class MatrixPairs:
    """Products of pairs of matrices; y is written in raster order.

    Attributes:
        outer: loops over the pairs, with strides of a and b.
        rows, depth, columns: sizes of one pair.
        a_strides: elements of a between rows and along the depth.
        b_strides: elements of b along the depth and between columns.
    """

    outer: tuple[Loop, ...]
    rows: int
    depth: int
    columns: int
    a_strides: tuple[int, int]
    b_strides: tuple[int, int]

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self._count * self.rows * self.depth * self.columns

    @property
    def _count(self) -> int:
        return math.prod(loop.size for loop in self.outer)

    def describe(self) -> str:
        """Number and shapes of the products in words, for a comment in C."""
        sizes = f"[{self.rows}, {self.depth}] by {self.columns} columns"
        return f"{self._count} matrix products {sizes}"


def pair_sizes(graph: Graph, node: Node) -> PairSizes:
    """The sizes of a QMatMul."""
    attrs = node.attrs_as(qops.QMatMul)
    inputs = attrs.Inputs.of(node.inputs)
    a, b = graph.shape(inputs.a), graph.shape(inputs.b)
    *lead, rows, columns = graph.shape(node.output)
    depth = a[-2] if attrs.transpose_a else a[-1]
    left, right = (_pairs(shape, lead) for shape in (a, b))
    outer = [Loop(n, (p, q)) for n, p, q in zip(lead, left, right, strict=True)]
    a_strides = (1, rows) if attrs.transpose_a else (depth, 1)
    b_strides = (1, depth) if attrs.transpose_b else (columns, 1)
    return merge_loops(outer, 2), rows, depth, columns, a_strides, b_strides


def _pairs(shape: tuple[int, ...], lead: list[int]) -> tuple[int, ...]:
    """Strides of the leading axes of a matrix product's operand, over those of the output."""
    own = broadcast_strides(shape, (*lead, *shape[-2:]))
    return own[: len(lead)]


def pair_overlap(_spec: MatrixPairs) -> Distances:
    """Nothing may overlap: all of both matrices is read again for later outputs."""
    return (None, None)
