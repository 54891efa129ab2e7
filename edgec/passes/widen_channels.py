"""Give tensors between layers with weights more channels; every output stays bit-identical.

Some kernels read only whole words of channels.  A tensor of 39 channels gets a 40th that holds what
the 39th does, and weights of zero in the layers that read it.  Since it repeats a channel that is
there, all bounds that were proven for the layer hold for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import qops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weighted import PLAIN, layer_inputs, plain_inputs
from edgec.passes.channel_entries import taken
from edgec.passes.channel_plan import is_depthwise


def channel_groups(graph: Graph) -> tuple[frozenset[str], ...]:
    """Tensors that can get more channels, those together that must have equally many.

    Args:
        graph: INTEGER stage.

    Returns:
        Names of values of int8 that only plain convolutions and products of matrices write and
        read, in the order in which they are computed.
    """
    leader = {name: name for name in graph.values}
    fixed = {*graph.inputs, *graph.outputs}

    def lead(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    for name, value in graph.values.items():
        if value.dtype is not DType.INT8 or value.quant is None or value.quant.axis is not None:
            fixed.add(name)
    for node in graph.nodes:
        if not _is_plain(graph, node):
            fixed |= {name for name in (*node.inputs, *node.outputs) if name in graph.values}
            continue
        for name in _alike(graph, node):
            leader[lead(name)] = lead(node.output)
    stays = {lead(name) for name in fixed if name in leader}
    groups: dict[str, list[str]] = {}
    for node in graph.nodes:
        for name in node.outputs:
            if lead(name) not in stays:
                groups.setdefault(lead(name), []).append(name)
    return tuple(frozenset(names) for names in groups.values())


def nodes_beside(graph: Graph, group: frozenset[str]) -> tuple[Node, ...]:
    """The nodes that write or read tensors of a group."""
    return tuple(
        node for node in graph.nodes if not group.isdisjoint((*node.inputs, *node.outputs))
    )


def widened(graph: Graph, group: frozenset[str], channels: int) -> Graph:
    """The graph whose tensors of a group have more channels.

    Args:
        graph: INTEGER stage.
        group: one of `channel_groups(graph)`.
        channels: number of channels, no less than now.
    """
    index = {name: np.arange(channels).clip(max=graph.shape(name)[-1] - 1) for name in group}
    builder = GraphBuilder.of(graph)
    for name in group:
        value = graph.values[name]
        builder.value(replace(value, shape=(*value.shape[:-1], channels)))
    for node in nodes_beside(graph, group):
        builder.put(_taken(builder, graph, node, index))
    return builder.build()


def _is_plain(graph: Graph, node: Node) -> bool:
    """A layer with weights whose channels can be repeated."""
    attrs: Any = node.attrs
    if not isinstance(attrs, PLAIN) or isinstance(attrs.output, qops.Rescale16x15):
        return False
    if isinstance(attrs, qops.QConv) and attrs.group > 1:
        return is_depthwise(graph, node) and graph.shape(plain_inputs(node).w)[0] == attrs.group
    return True


def _alike(graph: Graph, node: Node) -> Iterable[str]:
    """Operands that have as many channels as the output."""
    inputs = layer_inputs(node)
    found = [inputs.x] if is_depthwise(graph, node) else []
    return [*found, inputs.residual] if inputs.residual is not None else found


def _taken(builder: GraphBuilder, graph: Graph, node: Node, index: Mapping[str, Array]) -> Node:
    inputs, attrs = plain_inputs(node), node.attrs_as(qops.QConv, qops.QGemm)
    weight, bias, multiplier = (
        graph.constants[name] for name in (inputs.w, inputs.b, inputs.multiplier)
    )
    if inputs.x in index and isinstance(attrs, qops.QConv) and attrs.group > 1:
        attrs = replace(attrs, group=len(index[inputs.x]))
    elif inputs.x in index:
        columns = index[inputs.x]
        array = np.take(weight.array, columns, axis=-1)
        array[..., np.diff(columns, prepend=-1) == 0] = 0
        weight = Constant(weight.name, array, weight.quant)
    rows = index.get(node.output, np.arange(len(weight.array)))
    if isinstance(attrs.output, qops.TwoRoundings31 | qops.Offset31 | qops.Once15):
        attrs = replace(attrs, output=attrs.output.kept(rows))
    names = (taken(builder, each, 0, rows) for each in (weight, bias, multiplier))
    return replace(node, attrs=attrs, inputs=inputs.with_rows(*names).names())
