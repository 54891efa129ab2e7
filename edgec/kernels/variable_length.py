"""Kernels of a model of variable length: the sizes of a run are their last arguments."""

from __future__ import annotations

from typing import Any

from edgec.base.errors import InternalError
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.extent import Extent
from edgec.kernels.common.spec import VARIABLE
from edgec.kernels.family import KernelFamily, KernelSpec


def for_all_lengths(
    family: KernelFamily[Any], graph: Graph, node: Node, spec: KernelSpec
) -> KernelSpec | None:
    """A specification that serves every length; None if the family has none for this node.

    Args:
        family: family of the specification.
        graph: INTEGER stage.
        node: a node of the graph.
        spec: for the longest run, which serves all where no tensor of the node varies.
    """
    if not _is_variable(graph, node):
        return spec
    if family.lengths is None:
        return None
    found: KernelSpec | None = family.lengths.spec(graph, node, spec)
    return found


def sizes_of_run(
    family: KernelFamily[Any], graph: Graph, node: Node, spec: KernelSpec
) -> tuple[Extent, ...]:
    """The last arguments of a function of `for_all_lengths`, in its order; none of others.

    Raises:
        InternalError: the family serves one length only.
    """
    if not getattr(spec, VARIABLE, False):
        return ()
    if family.lengths is None:
        raise InternalError(f"{family.name} serves one length only", where=node.name)
    return family.lengths.sizes(graph, node, spec)


def _is_variable(graph: Graph, node: Node) -> bool:
    """A tensor that the node reads or writes has the variable axis.

    At the border of a loop a turn has its part of such a tensor, which is as large in all runs.
    """
    if graph.length is None or node.attrs.border is not None:
        return False
    return any(name in graph.length.axes for name in (*node.inputs, *node.outputs))
