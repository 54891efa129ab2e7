"""Output shapes and multiply-accumulates: what operators say of themselves, asked with names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edgec.base.errors import ImportModelError, InternalError
from edgec.ir.graph import Graph, Node
from edgec.ir.operator import Operator, Shape
from edgec.ir.turns import times_run


def infer_shape(attrs: Any, input_shapes: Sequence[Shape | None]) -> Shape:
    """Shape of the output of an operator that has one output; see `infer_shapes`."""
    (shape,) = infer_shapes(attrs, input_shapes)
    return shape


def infer_shapes(attrs: Any, input_shapes: Sequence[Shape | None]) -> tuple[Shape, ...]:
    """Shapes of the outputs of an operator.

    Args:
        attrs: an instance of a class of `ir.ops` or `ir.qops`.
        input_shapes: one per input, constants included; None for an absent optional input.

    Raises:
        ImportModelError: the operator cannot take inputs of these shapes.
        InternalError: no such operator.
    """
    if not isinstance(attrs, Operator):
        raise InternalError(f"{type(attrs).__name__} is no operator")
    try:
        return attrs.infer_shapes(attrs.Inputs.of(input_shapes))
    except IndexError as error:
        raise _impossible(attrs, input_shapes, "too few inputs or dimensions") from error
    except ValueError as error:
        raise _impossible(attrs, input_shapes, str(error)) from error


def macs(graph: Graph, node: Node) -> int:
    """Multiply-accumulates of a node; padding taps count, as in MLPerf's figures."""
    attrs: Operator = node.attrs
    return attrs.macs(attrs.Inputs.of(graph.shapes(node)), graph.shape(node.outputs[0]))


def total_macs(graph: Graph) -> int:
    """Multiply-accumulates of one inference, those of all turns of loops."""
    scopes = graph.scopes.nodes
    return sum(macs(graph, node) * times_run(scopes[node.name]) for node in graph.nodes)


def _impossible(attrs: Operator, shapes: Sequence[Shape | None], why: str) -> ImportModelError:
    return ImportModelError(f"{attrs.title} cannot take inputs of shapes {list(shapes)}: {why}")
