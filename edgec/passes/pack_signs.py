"""Layers of binary weights that read signs compute with packed bits; no output bit changes.

On a graph of int8 codes a sign is a table of two entries, v and -v around the zero point, and
weights are plus or minus one code.  The arithmetic stays what it was: a rule holds where its two
sides agree for every code, or every sum, that there can be, which is tried.

Rules:
1. layer: a QConv of one group or a QGemm with such weights that reads such a table, flattened or
   not, becomes a QBinaryConv or QBinaryGemm, and the table a QSigns.  A QPad by ones between the
   table and a QConv without padding is the padding of the QBinaryConv.
2. threshold: QSigns of what one of these gives, where nobody else reads that, becomes the layer's
   end.  Batch normalization and sign are then one number for each channel.
3. scale: QSigns of a depthwise convolution with one tap that nobody else reads, which is a batch
   normalization, reads the input of that in its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import PadMode
from edgec.ir.qops.signs import is_binary, packed, unpacked, words_of
from edgec.ir.shapes import Pads2D
from edgec.ir.weighted import PLAIN, input_zero_point, is_int8_layer, layer_inputs
from edgec.passes.edit import sweep

_LAYERS = (qops.QBinaryConv, qops.QBinaryGemm)
_LARGEST_STEP = 1 << 14
_CODES = np.arange(INT8_MIN, INT8_MAX + 1)


def pack_signs(graph: Graph) -> Graph:
    """Apply the rules until none applies."""
    if not graph.is_straight or graph.length is not None:
        return graph
    return sweep(graph, _rewrite)


def sign_notes(_before: Graph, after: Graph) -> tuple[str, ...]:
    """One line: layers that compute with bits."""
    found = [node.attrs for node in after.nodes if isinstance(node.attrs, qops.BinaryLayer)]
    folded = sum(attrs.output is None for attrs in found)
    if not found:
        return ()
    return (f"{len(found)} layers of signs, {folded} of them end in thresholds",)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if isinstance(node.attrs, PLAIN):
        return _layer(graph, node)
    if isinstance(node.attrs, qops.QSigns):
        x = qops.QSigns.Inputs.of(node.inputs).x
        made = graph.producers.get(x)
        if made is None or graph.sole_consumer(x) is not node:
            return None
        if isinstance(made.attrs, _LAYERS):
            return _threshold(graph, made, node)
        if isinstance(made.attrs, qops.QConv):
            return _scale(graph, made, node)
    return None


@dataclass(frozen=True, slots=True)
class _Sign:
    """A table that is a sign.

    Attributes:
        x: what it reads.
        least, most: the codes that become negative.
        size: the magnitude of what its codes stand for, in steps.
    """

    x: str
    least: int
    most: int
    size: int


def _sign(graph: Graph, node: Node | None) -> _Sign | None:
    """The sign that a node is; None for any other."""
    match None if node is None else node.attrs:
        case qops.QLut(rule=qops.Entries()):
            pass
        case _:
            return None
    assert node is not None
    inputs = qops.QLut.Inputs.of(node.inputs)
    zero_point = graph.quant(node.output).tensor_zero_point
    steps = graph.constants[inputs.table].array.astype(np.int64) - zero_point
    size = int(abs(steps[0]))
    interval = _interval(steps == -size)
    if size == 0 or not (np.abs(steps) == size).all() or interval is None:
        return None
    return _Sign(inputs.x, *interval, size)


def _interval(negative: Array) -> tuple[int, int] | None:
    """First and last int8 code of those that are marked, bool [256]; None where they have gaps."""
    codes = _CODES[negative]
    if not codes.size:
        return INT8_MAX, INT8_MIN
    whole = codes[-1] - codes[0] + 1 == codes.size
    return (int(codes[0]), int(codes[-1])) if whole else None


def _layer(graph: Graph, node: Node) -> Graph | None:
    """Rule 1."""
    attrs = node.attrs_as(*PLAIN)
    form, inputs = attrs.output, layer_inputs(node)
    made = graph.producers.get(inputs.x)
    pads = _pads_of_ones(graph, node, made)
    between = made if pads or (made and isinstance(made.attrs, qops.QReshape)) else None
    sign = _sign(graph, made if between is None else graph.producers.get(between.input))
    flat = None if pads else between
    if sign is None or inputs.table is not None or not isinstance(form, qops.Requant31):
        return None
    if isinstance(attrs, qops.QGemm) and attrs.raw:
        return None
    weights = graph.constants[inputs.rows].array.astype(np.int64)
    one_size = is_binary(weights) and len(np.unique(np.abs(weights))) == 1
    if not is_int8_layer(graph, node) or not one_size or getattr(attrs, "group", 1) != 1:
        return None
    step = sign.size * int(abs(weights.flat[0]))
    if step > _LARGEST_STEP or weights[0].size > qops.LARGEST_DEPTH:
        return None
    builder = GraphBuilder.of(graph)
    x = _signs_of(builder, graph, sign, flat)
    common = {
        "channels": weights.shape[-1],
        "output": form,
        "step": step,
        "residual": attrs.residual,
    }
    made_attrs: qops.BinaryLayer = (
        qops.QBinaryConv(
            **common,
            strides=attrs.strides,
            pads=pads or attrs.pads,
            dilations=attrs.dilations,
            pads_ones=pads is not None,
        )
        if isinstance(attrs, qops.QConv)
        else qops.QBinaryGemm(**common)
    )
    w = builder.constant(f"{inputs.rows}/signs", packed(weights < 0))
    record = qops.BinaryLayer.Inputs(x, w, inputs.b, inputs.multiplier, inputs.residual)
    builder.put(replace(node, attrs=made_attrs, inputs=record.names()))
    return builder.build()


def _pads_of_ones(graph: Graph, node: Node, made: Node | None) -> Pads2D | None:
    """The pads of a QPad of signs by ones, along height and width, before a QConv without pads."""
    match node.attrs, None if made is None else made.attrs:
        case (
            qops.QConv(pads=(0, 0, 0, 0)),
            qops.QPad(((0, 0), (top, bottom), (left, right), (0, 0)), PadMode.CONSTANT, code),
        ):
            pass
        case _:
            return None
    assert made is not None
    sign = _sign(graph, graph.producers.get(made.input))
    quant = graph.quant(made.output)
    if sign is None or graph.quant(made.input) != quant:
        return None
    ones = code == quant.tensor_zero_point + sign.size
    return (top, left, bottom, right) if ones else None


def _signs_of(builder: GraphBuilder, graph: Graph, sign: _Sign, flat: Node | None) -> str:
    """Packed signs of what a table of signs reads, flattened first where its reader has it so."""
    name = f"{sign.x if flat is None else flat.output}/signs of {sign.least} to {sign.most}"
    if name in graph.values:
        return name
    x, sources = sign.x, graph.producers[sign.x].sources if sign.x in graph.producers else ()
    if flat is not None:
        moved = replace(graph.values[x], name=f"{flat.output}/codes", form_of="")
        moved = replace(moved, shape=graph.shape(flat.output))
        builder.node(moved.name, flat.attrs, (x,), (builder.value(moved),), flat.sources)
        x = moved.name
    *outer, channels = graph.shape(sign.x if flat is None else flat.output)
    ends = (np.full(channels, end, np.int8) for end in (sign.least, sign.most))
    least, most = (
        builder.constant(f"{name}/{what}", array)
        for what, array in zip(("least", "most"), ends, strict=True)
    )
    value = Value(name, (*outer, words_of(channels)), qops.SIGNS)
    record = qops.QSigns.Inputs(x, least, most)
    builder.node(name, qops.QSigns(), record, (builder.value(value),), sources)
    return name


def _threshold(graph: Graph, layer: Node, signs: Node) -> Graph | None:
    """Rule 2."""
    attrs = layer.attrs_as(*_LAYERS)
    inputs = qops.BinaryLayer.Inputs.of(layer.inputs)
    if attrs.residual is not None or attrs.output is None or inputs.multiplier is None:
        return None
    w, b, multiplier = (
        graph.constants[name].array for name in (inputs.w, inputs.b, inputs.multiplier)
    )
    least, most = _ends(graph, signs)
    depth = attrs.depth(w.shape)
    sums = np.arange(-depth, depth + 1)
    bias = np.empty(len(w), np.int32)
    negative = unpacked(w, attrs.channels) < 0
    for o in range(len(w)):
        codes = attrs.output.apply(b[o].astype(np.int64) + attrs.step * sums, multiplier[o])
        below = (codes >= least[o]) & (codes <= most[o])
        count = int(below.sum())
        if below[:count].all():
            bias[o] = depth - count  # negative where the sum is below count - depth
        elif below[sums.size - count :].all():
            # Sums above a threshold are those whose opposite is below another.
            bias[o] = depth - count
            negative[o] = ~negative[o]
        else:
            return None
    builder = GraphBuilder.of(graph)
    record = qops.BinaryLayer.Inputs(
        inputs.x,
        builder.constant(f"{inputs.w}/ordered", packed(negative)),
        builder.constant(f"{inputs.b}/threshold", bias),
    )
    builder.remove(signs)
    end = replace(attrs, output=None, step=1)
    sources = (*layer.sources, *signs.sources)
    builder.put(
        replace(layer, attrs=end, inputs=record.names(), outputs=signs.outputs, sources=sources)
    )
    return builder.build()


def _scale(graph: Graph, conv: Node, signs: Node) -> Graph | None:
    """Rule 3."""
    attrs, inputs = conv.attrs_as(qops.QConv), layer_inputs(conv)
    channels, weights = graph.shape(conv.output)[-1], graph.constants[inputs.rows].array
    plain = inputs.residual is None and inputs.table is None
    same = graph.shape(inputs.x) == graph.shape(conv.output) and weights.size == channels
    form = attrs.output
    if not (plain and same and isinstance(form, qops.Requant31) and is_int8_layer(graph, conv)):
        return None
    b, multiplier = (graph.constants[n].array for n in (inputs.b, inputs.multiplier))
    least, most = _ends(graph, signs)
    zero_point = input_zero_point(graph, conv)
    acc = b[:, None].astype(np.int64) + weights.reshape(-1, 1) * (_CODES - zero_point)
    codes = form.apply(acc, multiplier[:, None])
    below = (codes >= least[:, None]) & (codes <= most[:, None])
    found = [_interval(row) for row in below]
    if None in found:
        return None
    ends = np.array(found, DType.INT8.numpy)
    builder = GraphBuilder.of(graph)
    names = (
        builder.constant(f"{signs.name}/{what}", ends[:, column])
        for column, what in enumerate(("least", "most"))
    )
    record = qops.QSigns.Inputs(inputs.x, *names)
    sources = (*conv.sources, *signs.sources)
    builder.put(replace(signs, inputs=record.names(), sources=sources))
    return builder.build()


def _ends(graph: Graph, signs: Node) -> tuple[Array, Array]:
    """The ends of the intervals of a QSigns, int64 [C] each."""
    inputs = qops.QSigns.Inputs.of(signs.inputs)
    least, most = (graph.constants[name].array for name in (inputs.least, inputs.most))
    return least.astype(np.int64), most.astype(np.int64)
