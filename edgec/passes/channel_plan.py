"""Channels that can be removed: candidates first, then those that every operator agrees to.

A candidate is a channel that is constant, or that no output depends on (dead).  Operators then
strike candidates that they cannot drop, until all agree; so what remains is consistent along every
path of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops, qops
from edgec.ir.graph import Graph, Node
from edgec.ir.labels import channel_labels, label_of_channel
from edgec.ir.operator import Operator
from edgec.ir.weighted import POOLED, form_of, plain_inputs, residual_of, unpooled, weights_of
from edgec.passes.channel_ranges import Range, channel_ranges, channels_of, conv_taps

_KEEPS_CHANNELS = (
    qops.QLut,
    qops.QPRelu,
    qops.QRescale,
    qops.QMaxPool,
    qops.QAveragePool,
    qops.QResizeNearest,
    qops.QResizeLinear,
)


@dataclass(frozen=True, slots=True, eq=False)
class ChannelPlan:
    """Channels to remove.

    Attributes:
        drop: for each value of codes, bool [C]: channels to remove.
        codes: for each value of codes, int64 [C]: the code of its constant channels; elsewhere the
            possible code nearest to zero, which is as good as any for channels nobody needs (a
            possible one, because channels proven constant rely on the ranges of what they read).
    """

    drop: dict[str, Array]
    codes: dict[str, Array]


def plan_removal(graph: Graph) -> ChannelPlan:
    """The largest consistent set of channels to remove."""
    ranges = channel_ranges(graph)
    needed = _needed(graph, ranges)
    drop, codes = {}, {}
    for name, found in ranges.items():
        quant = graph.quant(name)
        whole = quant.axis is None
        zero = quant.tensor_zero_point if whole else 0
        codes[name] = np.clip(zero, found.low, found.high)
        drop[name] = (found.constant | ~needed[name]) & whole
    for name in (*graph.inputs, *graph.outputs):
        if name in drop:
            drop[name] = np.zeros_like(drop[name])
    plan = ChannelPlan(drop, codes)
    while _strike_once(graph, plan):
        pass
    return plan


def channel_map(graph: Graph, node: Node) -> Array | None:
    """For a `QReshape` or `QTranspose`, the input channel that each output channel holds.

    Returns:
        int [C out], or None when some output channel mixes several input channels.
    """
    shape = graph.shape(node.input)
    if not shape or not graph.shape(node.output):
        return None
    labels = ops.OneInput.Inputs(channel_labels(shape))
    if isinstance(node.attrs, qops.QReshape):
        return label_of_channel(ops.Reshape(node.attrs.shape).labelled(labels))
    return label_of_channel(ops.Transpose(node.attrs_as(qops.QTranspose).perm).labelled(labels))


def is_depthwise(graph: Graph, node: Node) -> bool:
    """A QConv with one input channel a group."""
    return (
        isinstance(node.attrs, qops.QConv)
        and node.attrs.group > 1
        and graph.shape(plain_inputs(node).w)[3] == 1
    )


def _depends(graph: Graph, node: Node, wanted: Array) -> list[tuple[str, Array]]:
    """The input values, and the channels of each that the wanted output channels depend on."""
    attrs = node.attrs
    values = [name for name in node.inputs if name in graph.values]
    channels = {name: channels_of(graph, name) for name in values}
    everything = [(name, np.ones(size, bool)) for name, size in channels.items()]
    plain = unpooled(attrs)
    if isinstance(plain, qops.QGemm) or (isinstance(plain, qops.QConv) and plain.group == 1):
        weight = weights_of(graph, node)[wanted]
        read = np.any(weight != 0, axis=tuple(range(weight.ndim - 1)))
        return [(values[0], read), *((name, wanted) for name in values[1:])]
    if is_depthwise(graph, node):
        weight = weights_of(graph, node)
        live = wanted & np.any(weight != 0, axis=(1, 2, 3))
        read = live.reshape(channels[values[0]], -1).any(axis=1)
        return [(values[0], read), *((name, wanted) for name in values[1:])]
    if isinstance(attrs, _KEEPS_CHANNELS) or _reduces_space(graph, node):
        return [(values[0], wanted)]
    if _is_channelwise(attrs):
        return [(n, wanted if c.size == wanted.size else c) for n, c in everything]
    mapped = channel_map(graph, node) if isinstance(attrs, qops.QReshape) else None
    if mapped is None:
        return everything
    used = np.zeros(channels[values[0]], bool)
    used[mapped[wanted]] = True
    return [(values[0], used)]


def _is_channelwise(attrs: Operator) -> bool:
    """A sum or product of two tensors, but for sums of a stream."""
    if isinstance(attrs, qops.QAdd):
        return not isinstance(attrs.form, qops.CodeSum)
    return isinstance(attrs, qops.QMul)


def _needed(graph: Graph, ranges: dict[str, Range]) -> dict[str, Array]:
    """For each value of codes, the channels that some output depends on."""
    needed = {name: np.zeros(len(found.low), bool) for name, found in ranges.items()}
    for name in graph.outputs:
        if name in needed:
            needed[name][:] = True
    for node in reversed(graph.nodes):
        if node.output in needed:
            wanted = needed[node.output] & ~ranges[node.output].constant
        else:
            wanted = np.ones(channels_of(graph, node.output), bool)
        for name, channels in _depends(graph, node, wanted):
            if name in needed:
                needed[name] = needed[name] | channels
    return needed


def _strike_once(graph: Graph, plan: ChannelPlan) -> bool:
    """Let every operator strike what it cannot drop; whether any did."""
    before = sum(int(drop.sum()) for drop in plan.drop.values())
    for node in graph.nodes:
        _strike(graph, node, plan)
    for drop in plan.drop.values():
        if drop.all():
            drop[0] = False  # a tensor keeps one channel at least
    return sum(int(drop.sum()) for drop in plan.drop.values()) < before


def _strike(graph: Graph, node: Node, plan: ChannelPlan) -> None:
    attrs, drop = node.attrs, plan.drop
    values = [name for name in node.inputs if name in drop]
    residual = residual_of(attrs) is not None
    others = any(name in graph.values and name not in drop for name in (*node.inputs, node.output))
    if isinstance(form_of(attrs), qops.Rescale16x15) or others:
        _keep_all(drop, (*values, node.output))
        return
    if isinstance(attrs, qops.QGemm):
        return
    if isinstance(attrs, POOLED) and not residual:
        # A vector of the pool meets all channels of its group: none of them can go alone.
        drop[values[0]] = np.zeros_like(drop[values[0]])
        return
    if isinstance(attrs, qops.QConv) and attrs.group == 1 and not residual:
        drop[values[0]] &= _foldable(graph, node, plan)
    elif is_depthwise(graph, node) and not residual:
        per_input = drop[node.output].reshape(len(drop[values[0]]), -1)
        both = per_input.all(axis=1) & drop[values[0]]
        drop[values[0]] = both
        drop[node.output] = np.repeat(both, per_input.shape[1])
    elif isinstance(attrs, _KEEPS_CHANNELS) or _reduces_space(graph, node):
        _agree(drop, [values[0], node.output])
    elif _is_channelwise(attrs):
        _strike_binary(graph, node, plan)
    elif isinstance(attrs, qops.QReshape | qops.QTranspose) and values:
        _strike_moved(graph, node, plan)
    else:
        _keep_all(drop, (*values, node.output))


def _keep_all(drop: dict[str, Array], names: Iterable[str]) -> None:
    for name in names:
        if name in drop:
            drop[name] = np.zeros_like(drop[name])


def _foldable(graph: Graph, node: Node, plan: ChannelPlan) -> Array:
    """Input channels whose share of a QConv is the same everywhere: it goes into the bias."""
    inputs = plain_inputs(node)
    _, outside = conv_taps(graph, node)
    at_zero = plan.codes[inputs.x] == graph.quant(inputs.x).tensor_zero_point
    weight = graph.constants[inputs.w].array
    # Zero weights at the taps that may miss the image are as good.
    unread = ~np.any(weight[:, outside, :] != 0, axis=(0, 1))
    return np.asarray(at_zero | unread)


def _reduces_space(graph: Graph, node: Node) -> bool:
    if not isinstance(node.attrs, qops.QReduce):
        return False
    return len(graph.shape(node.input)) - 1 not in node.attrs.axes


def _agree(drop: dict[str, Array], names: list[str]) -> None:
    common = np.logical_and.reduce([drop[name] for name in names])
    for name in names:
        drop[name] = common.copy()


def _strike_binary(graph: Graph, node: Node, plan: ChannelPlan) -> None:
    drop, channels = plan.drop, channels_of(graph, node.output)
    wide = [name for name in node.inputs if name in drop and len(drop[name]) == channels]
    broadcast = [name for name in node.inputs if name in drop and len(drop[name]) != channels]
    for name in broadcast:
        drop[name] = np.zeros_like(drop[name])
    _agree(drop, [*dict.fromkeys(wide), node.output])


def _strike_moved(graph: Graph, node: Node, plan: ChannelPlan) -> None:
    drop, source, target = plan.drop, node.input, node.output
    mapped = channel_map(graph, node)
    if mapped is None:
        drop[source] = np.zeros_like(drop[source])
        drop[target] = np.zeros_like(drop[target])
        return
    kept = np.zeros_like(drop[source])
    kept[mapped[~drop[target]]] = True
    drop[source] = drop[source] & ~kept
    drop[target] = drop[source][mapped]
