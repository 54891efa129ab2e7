"""Decision trees whose leaves are added."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class TreeEnsemble(RealOperator):
    """y [1, C]: `base` and, of each tree, the row of `leaves` that it leads to.

    Rows of `nodes` are ``(feature, threshold, skip)``, the nodes of a tree in preorder:
    ``x[feature] <= threshold`` leads to the next row, anything else `skip` rows further.  A leaf is
    ``(-1, row of leaves, 0)``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Features x [1, F]; nodes [N, 3], roots [trees], leaves [L, C], base [C]: const each."""

        x: T
        nodes: T
        roots: T
        leaves: T
        base: T

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"nodes", "roots", "leaves", "base"})

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.x) == 2 and math.prod(inputs.x[:-1]) == 1, "x must be [1, F]")
        need(len(inputs.nodes) == 2 and inputs.nodes[1] == 3, "the nodes must be [N, 3]")
        need(len(inputs.roots) == 1 and len(inputs.leaves) == 2, "roots or leaves are misshapen")
        need(inputs.base == inputs.leaves[1:], "base and leaves differ in outputs")
        return (1, inputs.leaves[1])
