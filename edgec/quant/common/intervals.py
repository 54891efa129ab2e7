"""The proof that no operator overflows 32 bits, from its real shapes and numbers.

Every operator states the bounds of its own products, sums, shifts and rounding additions for any
input, whatever the order of summation (`ir.qops`).  They are recomputed from the finished graph,
independently of the code that chose the numbers.
"""

from __future__ import annotations

from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir.graph import Graph, Node
from edgec.ir.qops import IntegerOperator


def check_intervals(graph: Graph) -> None:
    """Check every operator.

    Args:
        graph: INTEGER stage.

    Raises:
        QuantizationError: an intermediate of the operator it names could exceed +-(2^31 - 1).
    """
    for node in graph.nodes:
        for what, bound in bounds_of(graph, node).items():
            if bound > INT32_MAX:
                raise QuantizationError(
                    f"{what} could reach {bound:.4g}, beyond 32 bits",
                    where=node.name,
                    hint="the layer is too wide, or its scales too far apart; recalibrate",
                )


def bounds_of(graph: Graph, node: Node) -> dict[str, float]:
    """Bounds of the intermediates of a node by what they are; empty where nothing can overflow.

    Args:
        graph: INTEGER stage.
        node: a node of the graph.
    """
    attrs = node.attrs_as(IntegerOperator)
    return attrs.bounds(attrs.Inputs.of(graph.tensors(node)))
