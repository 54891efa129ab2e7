"""Executes an INTEGER graph: the oracle that the generated C is compared with, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgec.base.dtypes import Array, DType, frozen
from edgec.base.errors import InternalError
from edgec.ir import Graph, Node
from edgec.ir.qops import IntegerOperator, Operand, computed


def run_graph(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Every tensor of one inference.

    Args:
        graph: INTEGER stage.
        inputs: int8 codes of each graph input, in its shape.

    Returns:
        Read-only codes of every value by name, graph inputs included; int8, int16 of a
        transformer's stream, int32 for `QArgMax`, token ids and masks.

    Raises:
        InternalError: an input is missing or misshapen, an operator is not an integer one, or a
            promise of the quantizer is broken.
    """
    found: dict[str, Array] = {}
    for name in graph.inputs:
        if name not in inputs:
            raise InternalError("no codes for a graph input", where=name)
        found[name] = _checked(graph, name, inputs[name])
    for node in graph.nodes:
        found[node.output] = _checked(graph, node.output, run_node(graph, node, found))
    return found


def run_graph_batch(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The graph's outputs for several samples, one after the other.

    Args:
        graph: INTEGER stage.
        inputs: int8 [N, *shape[1:]] by graph input, where shape (batch 1) is the input's.

    Returns:
        Codes [N, *shape[1:]] of each graph output by name.

    Raises:
        InternalError: see `run_graph`.
    """
    count = len(next(iter(inputs.values())))
    results: dict[str, list[Array]] = {name: [] for name in graph.outputs}
    for index in range(count):
        sample = {name: array[index : index + 1] for name, array in inputs.items()}
        values = run_graph(graph, sample)
        for name, arrays in results.items():
            arrays.append(values[name])
    # A scalar is one number a sample.
    return {name: np.concatenate([*map(np.atleast_1d, a)]) for name, a in results.items()}


def run_node(graph: Graph, node: Node, found: Mapping[str, Array]) -> Array:
    """The output of one node.

    Args:
        graph: INTEGER stage.
        node: a node of the graph, or a variant of one with the same inputs and outputs.
        found: the codes of its inputs by name.

    Raises:
        InternalError: see `run_graph`.
    """
    operands = [_operand(graph, name, found) if name else None for name in node.inputs]
    try:
        attrs = node.attrs_as(IntegerOperator)
        return computed(attrs, operands)
    except InternalError as error:
        raise InternalError(error.what, where=node.name) from error


def _operand(graph: Graph, name: str, found: Mapping[str, Array]) -> Operand:
    array = graph.constants[name].array if graph.is_constant(name) else found[name]
    return Operand(array, _zero_point(graph, name))


def _zero_point(graph: Graph, name: str) -> int:
    """The zero point of a per-tensor quantization; 0 where there is none."""
    tensor = graph.constants[name] if graph.is_constant(name) else graph.values[name]
    quant = tensor.quant
    return quant.tensor_zero_point if quant is not None and quant.axis is None else 0


def _checked(graph: Graph, name: str, array: Array) -> Array:
    value = graph.values[name]
    if array.shape != value.shape or DType.of(array) is not value.dtype:
        raise InternalError(
            f"codes are {array.dtype} {list(array.shape)}, "
            f"expected {value.dtype.value} {list(value.shape)}",
            where=name,
        )
    return frozen(array)
