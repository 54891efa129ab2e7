"""Last convolution and the pool over its whole image, in groups of channels one after another.

The pool gives a number for each channel, so that a group needs no other group: its convolution
reads all of the image before, with the group's filters, and the image between both is as large as a
group.  Nothing is computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from edgec.ir import qops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.rows import COLUMNS, ROWS
from edgec.memory import ALIGNMENT_BYTES
from edgec.passes.rows.names import Names
from edgec.passes.rows.strips import Strip, Strips

COUNTS = (2, 4, 5, 8, 10, 16, 20, 32)
"""Numbers of groups to try."""


def groups_at(graph: Graph, first: int) -> Iterator[Strips]:
    """A convolution and the node after it, in more and more groups; none where they cannot be.

    Args:
        graph: INTEGER stage, straight.
        first: number of the convolution.
    """
    conv, tail = graph.nodes[first : first + 2]
    if not _is_pair(graph, conv, tail):
        return
    channels = graph.shape(conv.output)[-1]
    sizes = [graph.dtype(node.output).size_bytes for node in (conv, tail)]
    for count in COUNTS:
        each = channels // count
        if channels % count == 0 and all(each * size % ALIGNMENT_BYTES == 0 for size in sizes):
            yield _Groups(graph, first, each).strips()


def _is_pair(graph: Graph, conv: Node, tail: Node) -> bool:
    """Whether nodes are a convolution without padding and a pool of the whole image."""
    attrs, pool = conv.attrs, tail.attrs
    if not isinstance(attrs, qops.QConv) or attrs.group != 1 or attrs.residual is not None:
        return False
    readers = graph.consumers[conv.output]
    alone = len(readers) == 1 and readers[0].name == tail.name and tail.first == conv.output
    if any(attrs.pads) or not alone or conv.output in graph.outputs:
        return False
    if isinstance(pool, qops.QReduce):
        pools = set(pool.axes) == {ROWS, COLUMNS}
    else:
        pools = isinstance(pool, qops.QAveragePool | qops.QMaxPool)
    if not pools:
        return False
    shape = graph.shape(tail.output)
    return math.prod(shape) == shape[-1] == graph.shape(conv.output)[-1]


class _Groups:
    """The nodes of all groups."""

    def __init__(self, graph: Graph, first: int, channels: int) -> None:
        self._graph, self._first, self._channels = graph, first, channels
        self._conv, self._tail = graph.nodes[first : first + 2]
        self._names = Names(graph)

    def strips(self) -> Strips:
        """The groups, and the view of what they give."""
        total, output = self._graph.shape(self._conv.output)[-1], self._tail.output
        strips = tuple(self._group(first) for first in range(0, total, self._channels))
        parts = tuple(strip.nodes[-1].output for strip in strips)
        join = Node(self._names.fresh(f"{output} joined"), qops.QChannelsJoined(), parts, (output,))
        return Strips(self._first, self._first + 2, strips, join)

    def _group(self, first: int) -> Strip:
        end, graph, conv = first + self._channels, self._graph, self._conv
        inputs = qops.QConv.Inputs.of(conv.inputs)
        own = []
        for name in (inputs.w, inputs.b, inputs.multiplier):
            array = graph.constants[name].array[first:end]
            own.append(Constant(self._part(name, first), array))
        w, b, multiplier = (each.name for each in own)
        image, y = (self._part(node.output, first) for node in (conv, self._tail))
        operands = inputs.with_rows(w, b, multiplier).names()
        whole = self._conv.output
        tail = tuple(image if name == whole else name for name in self._tail.inputs)
        names = [self._part(node.name, first) for node in (conv, self._tail)]
        values = [
            replace(
                graph.values[node.output],
                name=part,
                shape=(*graph.shape(node.output)[:-1], self._channels),
            )
            for node, part in ((conv, image), (self._tail, y))
        ]
        return Strip(
            nodes=(
                replace(conv, name=names[0], inputs=operands, outputs=(image,)),
                replace(self._tail, name=names[1], inputs=tail, outputs=(y,)),
            ),
            values=tuple(values),
            columns={},
            constants=tuple(own),
            channels={image: (conv.output, first), y: (self._tail.output, first)},
        )

    def _part(self, name: str, first: int) -> str:
        """A name for channels of something; other groups may read the same constants."""
        return self._names.fresh(f"{name} (from {first} of {self._tail.output})")
