"""Windows and overlapping frames that a file computes before its DFT become part of the spectrum.

A `Spectrum` whose frames lie one after the other takes

1. a product with constant numbers, the same for each frame, as its window;
2. elements that are chosen by constant indices, each frame `hop` samples after the one before, as
   its hop.

Shapes may change in between.  As layers of their own, the window would round samples to codes, and
the copies of overlapping frames would lie in RAM.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The beginning of a spectrum.

    Attributes:
        x: value whose numbers, in their order, are the samples.
        window: float64 [W].
        hop: samples from frame to frame.
        start: the first sample.
    """

    x: str
    window: Array
    hop: int
    start: int = 0


def frame_spectra(graph: Graph) -> Graph:
    """Apply the rules to all spectra."""
    for node in [node for node in graph.nodes if isinstance(node.attrs, ops.Spectrum)]:
        graph = _framed(graph, node)
    return graph


def _framed(graph: Graph, node: Node) -> Graph:
    attrs, inputs = node.attrs_as(ops.Spectrum), ops.Spectrum.Inputs.of(node.inputs)
    count, window = graph.shape(node.output)[1], graph.constants[inputs.window].real64()
    found = _Found(inputs.x, window, attrs.hop)
    if count * attrs.hop != math.prod(graph.shape(inputs.x)):
        return graph
    best: _Found | None = None
    while (maker := graph.producers.get(found.x)) is not None:
        if graph.values[found.x].quant is not None:
            break
        step = _before(graph, maker, found, count)
        if step is None:
            break
        found = step
        best = best if isinstance(maker.attrs, ops.Reshape) else found
        if isinstance(maker.attrs, ops.Resize):
            break
    return graph if best is None else _with_spectrum(graph, node, best, count)


def _before(graph: Graph, maker: Node, found: _Found, count: int) -> _Found | None:
    """The step before, from which the samples are computed; None: no rule fits."""
    if isinstance(maker.attrs, ops.Reshape):
        return replace(found, x=maker.first)
    if isinstance(maker.attrs, ops.Mul):
        factors = [each for each in maker.inputs if graph.is_constant(each)]
        others = [each for each in maker.inputs if not graph.is_constant(each)]
        shape = graph.shape(maker.output)
        if len(factors) != 1 or graph.shape(others[0]) != shape:
            return None
        numbers = np.broadcast_to(graph.constants[factors[0]].real64(), shape)
        rows = numbers.reshape(count, found.hop)[:, : len(found.window)]
        if not np.all(rows == rows[0]):
            return None
        return replace(found, x=others[0], window=found.window * rows[0])
    if isinstance(maker.attrs, ops.Resize) and maker.attrs.mode is ops.ResizeMode.NEAREST:
        return _overlapping(graph, maker, found, count)
    return None


def _overlapping(graph: Graph, maker: Node, found: _Found, count: int) -> _Found | None:
    """Rule 2."""
    attrs, shape = maker.attrs_as(ops.Resize), graph.shape(maker.first)
    places = np.arange(math.prod(shape)).reshape(shape)
    places = places[:, list(attrs.row_low)][:, :, list(attrs.col_low)]
    rows = places.reshape(count, found.hop)[:, : len(found.window)]
    start = int(rows[0, 0])
    hop = int(rows[1, 0]) - start if count > 1 else found.hop
    wanted = start + hop * np.arange(count)[:, None] + np.arange(len(found.window))
    if hop < 1 or not np.array_equal(rows, wanted):
        return None
    return replace(found, x=maker.first, hop=hop, start=start)


def _with_spectrum(graph: Graph, node: Node, found: _Found, count: int) -> Graph:
    """The graph whose spectrum is taken from other samples."""
    builder = GraphBuilder.of(graph)
    builder.remove(node)
    value, shape = graph.values[found.x], graph.shape(found.x)

    def put(stem: str, operator: ops.Reshape | ops.Slice, x: str, samples: int) -> str:
        name = builder.fresh(f"{node.name}/{stem}")
        builder.value(replace(value, name=name, shape=(1, samples)))
        builder.node(name, operator, (x,), (name,), node.sources)
        return name

    samples = math.prod(shape)
    x = put("samples", ops.Reshape((1, samples)), found.x, samples)
    end = found.start + (count - 1) * found.hop + len(found.window)
    if (found.start, end) != (0, samples):
        cut = ops.Slice((0, found.start), (1, 1), (1, end - found.start))
        x = put("used", cut, x, end - found.start)
    window = builder.constant(f"{node.name}/window", found.window.astype(np.float32))
    attrs = replace(node.attrs_as(ops.Spectrum), hop=found.hop)
    operands = ops.Spectrum.Inputs(x, window).names()
    builder.node(node.name, attrs, operands, node.outputs, node.sources)
    return builder.build()
