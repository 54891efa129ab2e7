"""Layers whose inputs and weights have few codes compute with bit planes; no output bit changes.

On a graph of int8 codes an input of few bits is one whose codes lie within a few steps above the
zero point, for any input of the network (`channel_ranges`), and weights of few bits have few
numbers, equally far apart.  The arithmetic stays what it was: a rule holds where its two sides
agree for every code, or every sum, that there can be, which is tried.

Rules:
1. layer: a QConv of one group or a QGemm of this kind becomes a QPlaneConv or QPlaneGemm; its input
   is read by a QPlanes.
2. threshold: QPlanes of what one of these gives, where nobody else reads that, becomes the layer's
   end.  Requantization and limits are then a few numbers for each channel.
3. scale: QPlanes of a table, or of a depthwise convolution with one tap, that nobody else reads and
   whose codes never fall, reads the input of that in its place.

The price decides where this is worth it (`workflow.bit_planes`), so it is no pass of a pipeline.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qops.planes import packed_planes
from edgec.ir.qops.signs import words_of
from edgec.ir.weighted import PLAIN, input_zero_point, is_int8_layer, layer_inputs
from edgec.passes.channel_ranges import Range, channel_ranges
from edgec.passes.edit import sweep

_LAYERS = (qops.QPlaneConv, qops.QPlaneGemm)
_CODES = np.arange(INT8_MIN, INT8_MAX + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Numbers ``least + unit * u``, u being a code.

    Attributes:
        planes: bits of a code.
        least, unit: integers; `unit` is positive.
        codes: int64, in the shape of the numbers.
    """

    planes: int
    least: int
    unit: int
    codes: Array


def levels_of(weights: Array) -> Levels | None:
    """Weights as a few numbers that are equally far apart; None where they are more, or one."""
    numbers = weights.astype(np.int64)
    least = int(numbers.min(initial=INT8_MAX))
    unit = int(np.gcd.reduce(numbers - least, axis=None)) if numbers.size else 0
    if unit == 0:
        return None
    codes = (numbers - least) // unit
    planes = int(codes.max()).bit_length()
    return Levels(planes, least, unit, codes) if planes <= qops.MOST_PLANES else None


def plane_layers(graph: Graph) -> tuple[str, ...]:
    """The names of the layers that rule 1 could change, in order."""
    ranges = _ranges(graph)
    return tuple(node.name for node in graph.nodes if _found(graph, node, ranges) is not None)


def pack_planes(graph: Graph, layers: Container[str]) -> Graph:
    """Apply the rules until none applies.

    Args:
        graph: INTEGER stage.
        layers: names of those that may become layers of planes.
    """
    return sweep(graph, partial(_rewrite, layers, _ranges(graph)))


def _ranges(graph: Graph) -> dict[str, Range]:
    """Ranges of codes; none for graphs with loops or of variable length."""
    return channel_ranges(graph) if graph.is_straight and graph.length is None else {}


def _rewrite(
    layers: Container[str], ranges: dict[str, Range], graph: Graph, node: Node
) -> Graph | None:
    if isinstance(node.attrs, qops.QPlanes):
        return _end(graph, node)
    found = _found(graph, node, ranges) if node.name in layers else None
    return None if found is None else _layer(graph, node, *found)


def _found(graph: Graph, node: Node, ranges: dict[str, Range]) -> tuple[int, Levels] | None:
    """Bits of the input and levels of the weights of a layer that rule 1 changes."""
    if not isinstance(node.attrs, PLAIN) or not is_int8_layer(graph, node):
        return None
    attrs, inputs = node.attrs, layer_inputs(node)
    known = ranges.get(inputs.x)
    plain = inputs.table is None and isinstance(attrs.output, qops.Requant31)
    one_group = isinstance(attrs, (qops.QConv, qops.QGemm)) and getattr(attrs, "group", 1) == 1
    if known is None or not plain or not one_group or getattr(attrs, "raw", False):
        return None
    zero_point = input_zero_point(graph, node)
    most = int(known.high.max()) - zero_point
    planes = most.bit_length()
    if int(known.low.min()) < zero_point or not 0 < planes <= qops.MOST_PLANES:
        return None
    levels = levels_of(graph.constants[inputs.rows].array)
    if levels is None:
        return None
    made = _attrs(attrs, planes, levels)
    depth = levels.codes[0].size
    return (planes, levels) if made.largest(depth) <= qops.LARGEST_PLANE_SUM else None


def _attrs(attrs: qops.QConv | qops.QGemm, planes: int, levels: Levels) -> qops.PlaneLayer:
    assert isinstance(attrs.output, qops.Requant31)
    assert not isinstance(attrs.residual, qops.StreamSum)
    common = {
        "channels": levels.codes.shape[-1],
        "x_planes": planes,
        "w_planes": levels.planes,
        "least": levels.least,
        "unit": levels.unit,
        "output": attrs.output,
        "residual": attrs.residual,
    }
    if isinstance(attrs, qops.QGemm):
        return qops.QPlaneGemm(**common)
    return qops.QPlaneConv(
        **common, strides=attrs.strides, pads=attrs.pads, dilations=attrs.dilations
    )


def _layer(graph: Graph, node: Node, planes: int, levels: Levels) -> Graph:
    """Rule 1."""
    attrs, inputs = node.attrs_as(*PLAIN), layer_inputs(node)
    builder = GraphBuilder.of(graph)
    x = _planes_of(builder, graph, inputs.x, planes, input_zero_point(graph, node))
    w = builder.constant(f"{inputs.rows}/planes", packed_planes(levels.codes, levels.planes))
    record = qops.PlaneLayer.Inputs(x, w, inputs.b, inputs.multiplier, inputs.residual)
    builder.put(replace(node, attrs=_attrs(attrs, planes, levels), inputs=record.names()))
    return builder.build()


def _planes_of(builder: GraphBuilder, graph: Graph, x: str, planes: int, zero_point: int) -> str:
    """The planes of a tensor of codes; those that are there, where another layer reads them."""
    name = f"{x}/{planes} planes"
    if name in graph.values:
        return name
    *outer, channels = graph.shape(x)
    # No code is above the largest one: ends there are never passed.
    ends = np.minimum(zero_point + np.arange((1 << planes) - 1), INT8_MAX)
    below = np.repeat(ends[:, None], channels, axis=1).astype(np.int8)
    value = Value(name, (*outer, planes * words_of(channels)), qops.SIGNS)
    record = qops.QPlanes.Inputs(x, builder.constant(f"{name}/below", below))
    sources = graph.producers[x].sources if x in graph.producers else ()
    builder.node(name, qops.QPlanes(planes), record, (builder.value(value),), sources)
    return name


def _end(graph: Graph, planes: Node) -> Graph | None:
    """Rules 2 and 3."""
    x = qops.QPlanes.Inputs.of(planes.inputs).x
    made = graph.producers.get(x)
    if made is None or graph.sole_consumer(x) is not planes:
        return None
    if isinstance(made.attrs, _LAYERS):
        return _threshold(graph, made, planes)
    if isinstance(made.attrs, (qops.QLut, qops.QConv)):
        return _scale(graph, made, planes)
    return None


def _below(graph: Graph, planes: Node) -> Array:
    """The ends of the codes of a QPlanes, int64 [ends, C]."""
    name = qops.QPlanes.Inputs.of(planes.inputs).below
    return graph.constants[name].array.astype(np.int64)


def _threshold(graph: Graph, layer: Node, planes: Node) -> Graph | None:
    """Rule 2."""
    attrs = layer.attrs_as(*_LAYERS)
    inputs = qops.PlaneLayer.Inputs.of(layer.inputs)
    if attrs.residual is not None or attrs.output is None or inputs.multiplier is None:
        return None
    w, b, multiplier = (
        graph.constants[name].array for name in (inputs.w, inputs.b, inputs.multiplier)
    )
    below = _below(graph, planes)
    weights = attrs.weights(w).reshape(len(w), -1)
    most = (1 << attrs.x_planes) - 1
    lows, highs = (most * side.sum(axis=1) for side in (weights.clip(max=0), weights.clip(min=0)))
    ends = np.empty(below.shape, np.int32)
    for o, (low, high) in enumerate(zip(lows, highs, strict=True)):
        sums = np.arange(low, high + 1)
        codes = attrs.output.apply(b[o].astype(np.int64) + sums, multiplier[o])
        if (np.diff(codes) < 0).any():
            return None
        ends[:, o] = low + np.searchsorted(codes, below[:, o], side="right")
    builder = GraphBuilder.of(graph)
    thresholds = builder.constant(f"{inputs.b}/thresholds", ends)
    record = qops.PlaneLayer.Inputs(inputs.x, inputs.w, thresholds)
    count = planes.attrs_as(qops.QPlanes).planes
    sources = (*layer.sources, *planes.sources)
    builder.remove(planes)
    builder.put(
        replace(
            layer,
            attrs=replace(attrs, output=None, y_planes=count),
            inputs=record.names(),
            outputs=planes.outputs,
            sources=sources,
        )
    )
    return builder.build()


def _scale(graph: Graph, made: Node, planes: Node) -> Graph | None:
    """Rule 3."""
    found = _table(graph, made) if isinstance(made.attrs, qops.QLut) else _factors(graph, made)
    if found is None:
        return None
    x, codes = found
    below = _below(graph, planes)
    # The codes of x that stay below, of each end and channel: [ends, C].
    count = (codes[None] <= below[:, :, None]).sum(axis=-1)
    if (np.diff(codes, axis=-1) < 0).any() or (count == 0).any():
        return None
    builder = GraphBuilder.of(graph)
    name = builder.constant(f"{planes.name}/of {x}", (count - 1 + INT8_MIN).astype(np.int8))
    record = qops.QPlanes.Inputs(x, name)
    sources = (*made.sources, *planes.sources)
    builder.put(replace(planes, inputs=record.names(), sources=sources))
    return builder.build()


def _table(graph: Graph, node: Node) -> tuple[str, Array] | None:
    """The operand of a table, and the codes that it gives, int64 [1, 256]."""
    inputs = qops.QLut.Inputs.of(node.inputs)
    int8 = graph.values[inputs.x].dtype is DType.INT8 is graph.values[node.output].dtype
    if not int8 or node.attrs_as(qops.QLut).rule != qops.Entries():
        return None
    return inputs.x, graph.constants[inputs.table].array.astype(np.int64)[None]


def _factors(graph: Graph, node: Node) -> tuple[str, Array] | None:
    """The operand of a normalization of codes, and the codes that it gives, int64 [C, 256]."""
    attrs, inputs = node.attrs_as(qops.QConv), layer_inputs(node)
    channels, weights = graph.shape(node.output)[-1], graph.constants[inputs.rows].array
    plain = inputs.residual is None and inputs.table is None
    plain = plain and attrs.strides == (1, 1) and not any(attrs.pads)
    same = graph.shape(inputs.x) == graph.shape(node.output) and weights.size == channels
    form = attrs.output
    if not (plain and same and isinstance(form, qops.Requant31) and is_int8_layer(graph, node)):
        return None
    b, multiplier = (graph.constants[n].array for n in (inputs.b, inputs.multiplier))
    steps = _CODES - input_zero_point(graph, node)
    acc = b[:, None].astype(np.int64) + weights.reshape(-1, 1) * steps
    return inputs.x, np.asarray(form.apply(acc, multiplier[:, None]))
