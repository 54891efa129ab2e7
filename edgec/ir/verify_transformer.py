"""The rule that a graph requantizes in one way."""

from __future__ import annotations

from collections.abc import Callable

from edgec.ir import qops
from edgec.ir import qops_transformer as qt
from edgec.ir.graph import Graph
from edgec.ir.ops import ReduceKind

Check = Callable[[bool, str], None]

WITH_31_BITS = (
    *(qops.QConv, qops.QConvTranspose, qops.QGemm, qops.QPooledConv, qops.QPooledGemm),
    *(qops.QMul, qops.QPRelu, qops.QSoftmax, qops.QAveragePool),
)
"""Operators that requantize by the 31-bit multiplier (and `QReduce`, unless it is MAX)."""


def check_one_arithmetic(graph: Graph, check: Check) -> None:
    """Check that a graph with an operator of `qops_transformer` has none of the 31-bit multiplier.

    Args:
        graph: INTEGER stage.
        check: called with a condition and the message of its violation.
    """
    if not any(isinstance(node.attrs, qt.TRANSFORMER) for node in graph.nodes):
        return
    for node in graph.nodes:
        summed = isinstance(node.attrs, qops.QReduce) and node.attrs.kind is not ReduceKind.MAX
        mixed = isinstance(node.attrs, WITH_31_BITS) or summed
        check(not mixed, f"{node.name}: {node.op} requantizes otherwise than the transformer")
