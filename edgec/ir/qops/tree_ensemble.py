"""Decision trees whose leaves are added."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT16_MAX
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.forms import Requant31
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import Operand, numbers, table, value
from edgec.ir.shapes import need

LEAF_BITS = 15
"""Bits of the number of a leaf in the second number of a node; the others are in the third."""


@dataclass(frozen=True, slots=True)
class QTreeEnsemble(IntegerOperator):
    """x int8 [1, F], nodes int16 const [N, 3], roots int32 const [trees], leaves int16
    const [L, C], base int32 const [C]; y [1, C].

    A tree starts at the row of its root.  A row ``(feature, threshold, skip)`` leads to the next
    row if ``x[feature] <= threshold``, else `skip` >= 1 rows further, until the feature is -1:
    ``leaf = threshold + (skip << 15)``.  ``acc[c] = base[c] + sum of leaves[leaf, c]``; then
    `output` with the multiplier.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        nodes: T = field(metadata=table(DType.INT16))
        roots: T = field(metadata=table(DType.INT32))
        leaves: T = field(metadata=table(DType.INT16))
        base: T = field(metadata=table(DType.INT32))

    output: Requant31
    multiplier: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.x) == 2 and inputs.x[0] == 1, "x must be [1, F]")
        need(len(inputs.nodes) == 2 and inputs.nodes[1] == 3, "the nodes must be [N, 3]")
        need(inputs.base == inputs.leaves[1:], "base and leaves differ in outputs")
        return (1, inputs.leaves[1])

    def compute(self, inputs: Inputs[Operand]) -> Array:
        nodes, x = inputs.nodes.wide, inputs.x.wide.reshape(-1, inputs.x.array.shape[-1])
        at = np.broadcast_to(inputs.roots.wide, (len(x), inputs.roots.array.size)).copy()
        row = np.arange(len(x))[:, None]
        while np.any(inner := nodes[at, 0] >= 0):
            yes = x[row, np.maximum(nodes[at, 0], 0)] <= nodes[at, 1]
            at += np.where(inner, np.where(yes, 1, nodes[at, 2]), 0)
        leaf = nodes[at, 1] + (nodes[at, 2] << LEAF_BITS)
        acc = inputs.base.wide + inputs.leaves.wide[leaf].sum(axis=1)
        codes = self.output.apply(acc, self.multiplier).astype(np.int8)
        return codes.reshape(*inputs.x.array.shape[:-1], -1)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        trees, base = inputs.roots.shape[0], np.abs(numbers(inputs.base)).max()
        total = float(base) + trees * float(np.abs(numbers(inputs.leaves)).max())
        return self.output.bounds(total, float(abs(self.multiplier)))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, 0, output)
        nodes, roots = numbers(inputs.nodes), numbers(inputs.roots)
        leaf = nodes[:, 0] < 0
        need(bool(np.all(nodes[:, 0] < inputs.x.shape[-1])), "a node tests no feature of x")
        need(bool(np.all((roots >= 0) & (roots < len(nodes)))), "a root is no node")
        inner = np.flatnonzero(~leaf)
        skip = nodes[inner, 2]
        # Every way leads forward to a leaf: the last row is one.
        need(bool(leaf[-1]) and bool(np.all(skip >= 1)), "a way through a tree has no end")
        need(bool(np.all(inner + skip < len(nodes))), "a node leads out of its tree")
        number = nodes[leaf, 1] + (nodes[leaf, 2] << LEAF_BITS)
        fits = (number >= 0) & (number < inputs.leaves.shape[0]) & (nodes[leaf, 1] <= INT16_MAX)
        need(bool(np.all(fits)), "a leaf has no numbers")
