"""Random networks over images whose layers can run in turns, and ways to cut them into chains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from random_elementwise import lut, prelu
from random_layers import conv, depthwise
from random_net import CHANNELS, Net
from random_parts import any_weights, moved_codes
from random_reductions import average_pool, max_pool

from edgec.ir import Graph, qops
from edgec.passes.rows.partition import Lives
from edgec.passes.rows.reads import reads_by_name
from edgec.passes.rows.row_graph import in_turns
from edgec.passes.rows.strips import strip_chains, strips_of, with_strips
from edgec.passes.rows.timeline import Pace, Timeline
from edgec.passes.rows.times import timeline


def conv_plus_itself(net: Net, x: str) -> str:
    """A convolution of 3 x 3 that adds its own input: two windows over one tensor."""
    channels = net.shape(x)[3]
    parameters, shift = any_weights(net, (channels, 3, 3, channels))
    quant, y_quant = net.quant(), net.quant()
    zero_point = quant.tensor_zero_point
    residual = net.add_params(zero_point, net.zero_point_of(x), y_quant.tensor_zero_point)
    form = net.form(shift, zero_point)
    attrs = qops.QConv((1, 1), (1, 1, 1, 1), (1, 1), 1, form, residual)
    return net.node(attrs, [x, *parameters, x], net.output(net.shape(x), y_quant))


def larger(net: Net, x: str) -> str:
    """Each row and column two or three times."""
    _, height, width, _ = net.shape(x)
    factor = net.pick([2, 3])
    if height * factor > 30:
        return lut(net, x)
    numbers = (np.repeat(np.arange(size, dtype=np.int32), factor) for size in (height, width))
    inputs = [x, *(net.constant(each) for each in numbers)]
    return moved_codes(net, qops.QResizeNearest(), inputs)


LAYERS = (
    *(conv, conv, depthwise, depthwise, conv_plus_itself),
    *(max_pool, average_pool, lut, prelu, larger),
)


def image_network(net: Net, layers: int) -> Graph:
    """A network over one image: a chain of layers, some of which meet an earlier tensor again."""
    height = net.pick([8, 12, 16, 20, 24, net.integer(6, 25)])
    width = net.pick([4, 8, 12, net.integer(1, 9)])
    x = net.input((1, height, width, net.pick([*CHANNELS, 4, 8, 16])))
    tensors = [x]
    for _ in range(layers):
        shape = net.shape(x)
        again = [name for name in tensors[:-1] if net.shape(name) == shape]
        meets = again and net.chance()
        x = sum_of(net, x, net.pick(again)) if meets else net.pick(LAYERS)(net, x)
        if net.shape(x)[1] < 2:
            break
        tensors.append(x)
    more = [net.pick(tensors[1:])] if len(tensors) > 2 and net.chance() else []
    net.builder.outputs = list(dict.fromkeys([x, *more]))
    return net.builder.build()


def sum_of(net: Net, a: str, b: str) -> str:
    """The sum of two tensors of one shape."""
    quant = net.quant()
    params = net.add_params(net.zero_point_of(a), net.zero_point_of(b), quant.tensor_zero_point)
    return net.node(qops.QAdd(params), [a, b], net.output(net.shape(a), quant))


def cut(graph: Graph, rng: np.random.Generator, *, by_rows: bool = False) -> Graph:
    """The graph with random neighbours in turns, at a random pace.

    Args:
        graph: of `image_network`.
        rng: decides.
        by_rows: let the caller hand the input over by rows, if the first layers can take it so.
    """
    reads = reads_by_name(graph, graph.nodes)
    chains: list[Timeline] = []
    number = 0
    while number < len(graph.nodes):
        length = int(rng.integers(2, 7))
        handed = graph.inputs[0] if by_rows and not number and len(graph.inputs) == 1 else None
        if handed is not None:
            readers = {reader.name for reader in graph.consumers[handed]}
            last = max(i for i, node in enumerate(graph.nodes) if node.name in readers)
            length = max(length, last + 1)
        nodes = graph.nodes[number : number + length]
        found = _chain(graph, nodes, reads, rng, handed)
        if handed is not None and found is None:
            return graph
        number += len(nodes) if found else 1
        chains += [found] if found else []
    return in_turns(graph, chains)


def _chain(
    graph, nodes: Sequence, reads, rng: np.random.Generator, handed: str | None
) -> Timeline | None:
    few = len(nodes) < 2 and handed is None
    if few or any(node.name not in reads for node in nodes):
        return None
    inside = {node.name for node in nodes}
    kept = frozenset(
        node.output
        for node in nodes
        if node.output in graph.outputs
        or any(reader.name not in inside for reader in graph.consumers[node.output])
    )
    pace = Pace(int(rng.integers(1, 5)), bool(rng.integers(2)))
    return timeline(graph, nodes, reads, kept, pace, handed)


def in_patches(
    graph: Graph, first: int, end: int, count: int, pace: Pace, handed: str | None = None
) -> Graph | None:
    """The graph with some neighbours in strips that run in turns; None where they cannot.

    Args:
        graph: of `image_network`.
        first, end: numbers of the nodes.
        count: number of strips.
        pace: rows of a time.
        handed: an input that the caller hands over by rows.
    """
    nodes = graph.nodes[first:end]
    reads = reads_by_name(graph, nodes)
    if len(reads) < len(nodes) or Lives(graph, handed).around(first, end).kept != {
        nodes[-1].output
    }:
        return None
    strips = strips_of(graph, first, end, reads, count)
    if strips is None:
        return None
    cut = strips.within(graph)
    reads = reads_by_name(cut, [node for strip in strips.strips for node in strip.nodes])
    chains = list(strip_chains(cut, strips, reads, pace, handed))
    found = [chain for chain in chains if chain is not None]
    return in_turns(cut, found, strips.columns) if len(found) == count else None


def in_sections(graph: Graph, sections: Sequence[tuple[int, int, int]], pace: Pace) -> Graph:
    """The graph with several neighbours in strips that run in turns.

    Args:
        graph: one in which that can be done.
        sections: numbers of the nodes, half-open, and of strips, in order.
        pace: rows of a time.
    """
    reads = reads_by_name(graph, graph.nodes)
    found = [strips_of(graph, first, end, reads, count) for first, end, count in sections]
    strips = [each for each in found if each is not None]
    cut = with_strips(graph, strips)
    reads = reads_by_name(cut, cut.nodes)
    chains = [chain for each in strips for chain in strip_chains(cut, each, reads, pace) if chain]
    columns = {name: span for each in strips for name, span in each.columns.items()}
    return in_turns(cut, chains, columns)


def patched(graph: Graph, rng: np.random.Generator, *, by_rows: bool = False) -> Graph | None:
    """The graph with random neighbours in strips; None where these cannot be computed so.

    Args:
        graph: of `image_network`.
        rng: decides.
        by_rows: let the caller hand the input over by rows.
    """
    length = len(graph.nodes)
    first = 0 if by_rows else int(rng.integers(length))
    end = int(rng.integers(first, length)) + 1
    handed = graph.inputs[0] if by_rows and len(graph.inputs) == 1 else None
    if handed is not None and Lives(graph, None).last(handed) >= end:
        return None
    pace = Pace(int(rng.integers(1, 5)), bool(rng.integers(2)))
    return in_patches(graph, first, end, int(rng.integers(2, 5)), pace, handed)
