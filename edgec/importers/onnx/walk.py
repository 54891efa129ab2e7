"""Iteration over everything in a model, subgraphs and functions included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx


def all_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Every node of the graph, of its subgraphs and of the model's functions."""
    yield from graph_nodes(model.graph)
    for function in model.functions:
        yield from _nodes(function.node)


def graph_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Every node of a graph and of its subgraphs."""
    yield from _nodes(graph.node)


def all_tensors(model: onnx.ModelProto) -> Iterator[tuple[onnx.TensorProto, str]]:
    """Every tensor with the name of what holds it: initializers and node attributes."""
    graphs = [model.graph]
    for node in all_nodes(model):
        for attribute in node.attribute:
            graphs.extend(_subgraphs(attribute))
            owner = node.name or node.op_type
            if attribute.HasField("t"):
                yield attribute.t, owner
            yield from ((tensor, owner) for tensor in attribute.tensors)
            sparse = [*attribute.sparse_tensors]
            sparse += [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
            yield from ((part, owner) for s in sparse for part in (s.values, s.indices))
    for graph in graphs:
        yield from ((tensor, tensor.name) for tensor in graph.initializer)
        for stored in graph.sparse_initializer:
            yield from ((part, stored.values.name) for part in (stored.values, stored.indices))


def _nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in _subgraphs(attribute):
                yield from _nodes(graph.node)


def subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """The bodies of a node."""
    return [graph for attribute in node.attribute for graph in _subgraphs(attribute)]


def _subgraphs(attribute: onnx.AttributeProto) -> list[onnx.GraphProto]:
    return [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]
