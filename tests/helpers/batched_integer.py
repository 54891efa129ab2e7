"""Integer graphs that run many samples at a time in the oracle: for accuracy, not for parity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from edgec.base.dtypes import Array
from edgec.interp import run_node
from edgec.ir import qops
from edgec.ir.graph import Graph, Node


def run_batch(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs [N, ...] of an INTEGER graph whose tensors all have a first axis of 1.

    Args:
        graph: the graph.
        inputs: codes [N, *shape[1:]] by input name.
    """
    found = dict(inputs)
    readers = {name: len(nodes) for name, nodes in graph.consumers.items()}
    for node in graph.nodes:
        found[node.output] = run_node(graph, _batched(node, len(found[node.inputs[0]])), found)
        for name in set(node.inputs):
            readers[name] -= 1
            if not readers[name] and name not in graph.outputs:
                found.pop(name, None)
    return {name: found[name] for name in graph.outputs}


def _batched(node: Node, count: int) -> Node:
    attrs = node.attrs
    if isinstance(attrs, qops.QReshape):
        return replace(node, attrs=replace(attrs, shape=(count, *attrs.shape[1:])))
    if isinstance(attrs, qops.QSlice):
        return replace(node, attrs=replace(attrs, sizes=(count, *attrs.sizes[1:])))
    return node


def accuracy(graph: Graph, real: Array, labels: Array, step: int = 50) -> float:
    """Share of samples whose greatest logit is the label's.

    Args:
        graph: one input, one output of logits.
        real: float32 [N, ...] as the graph takes them.
        labels: [N].
        step: samples at a time.
    """
    (name,), (output,) = graph.inputs, graph.outputs
    codes = graph.quant(name).quantize(real)
    right = 0
    for start in range(0, len(real), step):
        logits = run_batch(graph, {name: codes[start : start + step]})[output]
        right += int(
            (logits.reshape(len(logits), -1).argmax(1) == labels[start : start + step]).sum()
        )
    return right / len(real)
