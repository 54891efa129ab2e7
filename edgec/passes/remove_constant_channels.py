"""Remove channels that are constant or that nothing depends on; every output stays bit-identical.

Interval analysis (`channel_ranges`) finds channels that hold one code for any input, and liveness
those that no output depends on; `channel_plan` keeps what all operators along a path can drop.

Rules:
1. rows: the operator that computes a removed channel loses its weights (or indices into a pool),
   bias and multiplier.
2. columns: a QConv or QGemm that reads it loses the weights that meet it, and what they
   contributed, ``sum(weight) * (code - zero point)``, goes into the bias.  (A pooled operator keeps
   all channels it reads.)
3. depthwise: input and output channel go together.
4. elementwise: tables, pools, sums and products drop the channel on both sides; constants of
   channels are cut.
5. reshape: a flattened tensor drops every copy of the channel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import total_macs
from edgec.ir.weighted import (
    PLAIN,
    POOLED,
    plain_inputs,
    unpooled,
    weighted_inputs,
    with_plain,
)
from edgec.passes.channel_entries import taken
from edgec.passes.channel_plan import ChannelPlan, is_depthwise, plan_removal

_WEIGHTED = (*PLAIN, *POOLED)


def remove_constant_channels(graph: Graph) -> Graph:
    """Apply the rules to an integer graph, until there is nothing left to remove."""
    while True:
        plan = plan_removal(graph)
        if not any(drop.any() for drop in plan.drop.values()):
            return graph
        graph = _removed(graph, plan)


def removal_notes(before: Graph, after: Graph) -> tuple[str, ...]:
    """One line: channels removed and multiply-accumulates before and after."""
    removed = _weighted_channels(before) - _weighted_channels(after)
    if removed == 0:
        return ()
    return (
        f"removed {removed} constant or dead channels: "
        f"{total_macs(before):,} -> {total_macs(after):,} MACs",
    )


def _weighted_channels(graph: Graph) -> int:
    return sum(
        graph.shape(node.output)[-1] for node in graph.nodes if isinstance(node.attrs, _WEIGHTED)
    )


def _removed(graph: Graph, plan: ChannelPlan) -> Graph:
    builder = GraphBuilder.of(graph)
    for name, drop in plan.drop.items():
        if drop.any():
            value = graph.values[name]
            shape = (*value.shape[:-1], int(np.sum(~drop)))
            builder.value(replace(value, shape=shape))
    for node in graph.nodes:
        if any(
            plan.drop[name].any() for name in (*node.inputs, *node.outputs) if name in plan.drop
        ):
            builder.put(_cut(builder, graph, node, plan))
    return builder.build()


def _cut(builder: GraphBuilder, graph: Graph, node: Node, plan: ChannelPlan) -> Node:
    attrs = node.attrs
    if isinstance(attrs, _WEIGHTED):
        return _cut_weighted(builder, graph, node, plan)
    kept = ~plan.drop[node.output]
    if isinstance(attrs, qops.QReshape):
        shape = (*attrs.shape[:-1], int(np.sum(kept)))
        return replace(node, attrs=qops.QReshape(shape))
    inputs = list(node.inputs)
    if isinstance(attrs, qops.QAdd | qops.QMul | qops.QPRelu):
        for index, name in enumerate(inputs):
            constant = graph.constants.get(name)
            if constant is not None and constant.shape and constant.shape[-1] == len(kept):
                inputs[index] = taken(builder, constant, -1, np.flatnonzero(kept))
    return replace(node, inputs=tuple(inputs))


def _cut_weighted(builder: GraphBuilder, graph: Graph, node: Node, plan: ChannelPlan) -> Node:
    inputs = weighted_inputs(node)
    x = inputs.x
    own = inputs.rows, inputs.b, inputs.multiplier
    weight, bias, multiplier = (graph.constants[name] for name in own)
    rows = np.flatnonzero(~plan.drop[node.output])
    attrs: Any = node.attrs
    codes = bias.array.astype(np.int64)
    if is_depthwise(graph, node):
        attrs = replace(attrs, group=int(np.sum(~plan.drop[x])))
    elif plan.drop[x].any():
        codes = codes + _folded(graph, node, plan)
        weight = Constant(weight.name, weight.array[..., ~plan.drop[x]], weight.quant)
    plain = unpooled(attrs)
    if isinstance(plain.output, qops.TwoRoundings31 | qops.Offset31):
        attrs = with_plain(attrs, replace(plain, output=plain.output.kept(rows)))
    folded = Constant(bias.name, codes.astype(np.int32), bias.quant)
    parameters = (taken(builder, c, 0, rows) for c in (weight, folded, multiplier))
    return replace(node, attrs=attrs, inputs=inputs.with_rows(*parameters).names())


def _folded(graph: Graph, node: Node, plan: ChannelPlan) -> Array:
    """Sum that the removed input channels add to every accumulator; int64 [O]."""
    inputs = plain_inputs(node)
    x, weight = inputs.x, graph.constants[inputs.w].array.astype(np.int64)
    drop = plan.drop[x]
    offsets = (plan.codes[x] - graph.quant(x).tensor_zero_point)[drop]
    share = (weight[..., drop] * offsets).sum(axis=tuple(range(1, weight.ndim)))
    bias = graph.constants[inputs.b].array.astype(np.int64)
    # The bound of the whole accumulator covers this; anything else is a bug.
    if np.any(np.abs(bias + share) > INT32_MAX):
        raise InternalError("a folded bias leaves 32 bits", where=node.name)
    return np.asarray(share)
