"""Let convolutions and pools do the padding of a `Pad` before them.

Only `Pad`s by a constant along height and width, by zero in rules 1 to 3.  The `Pad` itself stays
while others read it.

Rules:
1. conv: the pads of a Conv grow.
2. average: so do those of an AveragePool that counts padding, or that has none of its own (it then
   counts padding).
3. max: so do those of a MaxPool when no input is negative: there zeros never win over the image,
   and every window holds part of the image.
4. lowest: and so do those of any MaxPool after a `Pad` by minus infinity or the lowest float.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.shapes import Pads2D
from edgec.passes.edit import never_negative, sweep

_LOWEST = float(np.finfo(np.float32).min)


def fuse_pad(graph: Graph) -> Graph:
    """Apply the rules until none applies."""
    return sweep(graph, partial(_rewrite, never_negative(graph)))


def _rewrite(nowhere_negative: frozenset[str], graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.Conv | ops.AveragePool | ops.MaxPool):
        return None
    pad = graph.producers.get(node.first)
    if pad is None or not isinstance(pad.attrs, ops.Pad):
        return None
    lowest = pad.attrs.value <= _LOWEST and isinstance(node.attrs, ops.MaxPool)
    extra = _spatial_pads(pad.attrs) if lowest or pad.attrs.value == 0.0 else None
    source = graph.values[pad.first]
    if extra is None or graph.values[pad.output].quant not in (None, source.quant):
        return None
    attrs = _padded(node.attrs, extra, fills=lowest or source.name in nowhere_negative)
    if attrs is None:
        return None
    builder = GraphBuilder.of(graph)
    sources = (*pad.sources, *node.sources)
    inputs = node.attrs.Inputs.of(node.inputs)
    names = replace(inputs, x=source.name).names()
    builder.put(replace(node, attrs=attrs, inputs=names, sources=sources))
    return builder.build()


def _spatial_pads(attrs: ops.Pad) -> Pads2D | None:
    if attrs.mode is not ops.PadMode.CONSTANT or len(attrs.pads) != 4:
        return None
    if attrs.pads[0] != (0, 0) or attrs.pads[3] != (0, 0):
        return None
    (top, bottom), (left, right) = attrs.pads[1:3]
    return (top, left, bottom, right)


def _padded(attrs: Any, extra: Pads2D, *, fills: bool) -> Any:
    """The operator with more padding, or None where that would change its result.

    `fills`: what is put around is nowhere larger than what it is put around.
    """
    top, left, bottom, right = (a + b for a, b in zip(attrs.pads, extra, strict=True))
    wider = replace(attrs, pads=(top, left, bottom, right))
    if isinstance(attrs, ops.Conv):
        return wider
    if attrs.dilations != (1, 1):
        return None
    if max(top, bottom) >= attrs.kernel[0] or max(left, right) >= attrs.kernel[1]:
        return None
    if isinstance(attrs, ops.MaxPool):
        return wider if fills else None
    if attrs.count_include_pad or not any(attrs.pads):
        return replace(wider, count_include_pad=True)
    return None
