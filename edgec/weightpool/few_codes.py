"""Activations of few bits before layers with weights of few bits.

What such a layer reads is rounded to whole numbers of so few bits times one step, as QDQ files say
it: a Clip to what the bits hold, QuantizeLinear and DequantizeLinear.  Values that are nowhere
negative have numbers from 0 to 2^bits - 1, others -2^(bits - 1) to 2^(bits - 1) - 1.  The step is
the one of least squared error on calibration data; training goes on from there.  Other modules find
and change these nodes by `few_codes_of` and `FewCodes` alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import ops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.weightpool.layers import Choice
from edgec.weightpool.network import Network
from edgec.weightpool.ranges import drawn_values
from edgec.weightpool.vectors import pool_layer

_CANDIDATES = 80
_SAME = ops.Clip(-math.inf, math.inf)
_WHOLE_BYTE = 255
_ROUNDED = 1e-6
"""Relative error of the ends of a Clip, which a file holds as float32."""


@dataclass(frozen=True, slots=True)
class Codes:
    """Whole numbers times a step.

    Attributes:
        step: real difference of two numbers that follow each other, a number of float32.
        low, high: the least and the greatest whole number.
    """

    step: float
    low: int
    high: int

    @property
    def quant(self) -> QuantParams:
        """These numbers as codes of a byte."""
        return QuantParams.per_tensor(self.step, 0, DType.INT8 if self.low < 0 else DType.UINT8)

    @property
    def clip(self) -> ops.Clip:
        """Limits of the numbers."""
        return ops.Clip(self.low * self.step, self.high * self.step)


@dataclass(frozen=True, slots=True)
class FewCodes:
    """The nodes that round a value to few codes.

    Attributes:
        source: the value.
        nodes: Clip, QuantizeLinear and DequantizeLinear, each read by the next one alone.
        codes: the numbers.
    """

    source: str
    nodes: tuple[Node, Node, Node]
    codes: Codes

    def put(self, builder: GraphBuilder, step: float) -> None:
        """Give the numbers another step, a number of float32, in a graph with these nodes."""
        codes = replace(self.codes, step=step)
        limit, number, _ = self.nodes
        builder.put(replace(limit, attrs=codes.clip))
        builder.value(replace(builder.values[number.output], quant=codes.quant))


def few_codes_of(graph: Graph, value: str) -> FewCodes | None:
    """The nodes that give a value few codes; None if it has others, or none.

    Args:
        graph: REAL stage.
        value: what a layer reads.
    """
    real = graph.producers.get(value)
    number = real and graph.producers.get(real.first)
    limit = number and graph.producers.get(number.first)
    if real is None or number is None or limit is None:
        return None
    if not (
        isinstance(real.attrs, ops.DequantizeLinear)
        and isinstance(number.attrs, ops.QuantizeLinear)
        and isinstance(limit.attrs, ops.Clip)
        and graph.sole_consumer(number.output) is real
        and graph.sole_consumer(limit.output) is number
    ):
        return None
    quant, ends = graph.quant(number.output), (limit.attrs.low, limit.attrs.high)
    if quant.axis is not None or not all(map(math.isfinite, ends)):
        return None
    low, high = (round(end / quant.tensor_scale) for end in ends)
    codes = Codes(quant.tensor_scale, low, high)
    limits = (codes.clip.low, codes.clip.high)
    same = all(math.isclose(a, b, rel_tol=_ROUNDED) for a, b in zip(limits, ends, strict=True))
    if codes.quant != quant or not same or high < 1 or high - low >= _WHOLE_BYTE:
        return None
    return FewCodes(limit.first, (limit, number, real), codes)


def with_few_codes(network: Network, bits: int, rng: np.random.Generator) -> Network:
    """The network whose chosen layers read numbers of few bits.

    Args:
        network: float, with data.
        bits: width of these numbers, 1 to 7; of values with a sign at least 2.
        rng: picks values.

    Returns:
        Layers of the same names; its `goal` is the network as it was.
    """
    names = tuple(dict.fromkeys(layer.node.first for layer in network.choice.pooled))
    found = _observed(network, names, bits, rng)
    graph = _rounded(network, found, rounds=True)
    nodes = {node.name: node for node in graph.nodes}
    layers = (pool_layer(graph, nodes[each.node.name], 1) for each in network.choice.pooled)
    choice = Choice(tuple(layers), network.choice.left_alone)
    return Network(graph, network.data, choice, _rounded(network, found, rounds=False))


def _observed(
    network: Network, names: tuple[str, ...], bits: int, rng: np.random.Generator
) -> dict[str, Codes]:
    """The codes of each value."""
    assert network.data is not None
    seen = drawn_values(network.graph, names, network.data, rng)
    return {
        name: least_error(each.values, bits, signed=each.least < 0) for name, each in seen.items()
    }


def least_error(values: Array, bits: int, *, signed: bool) -> Codes:
    """The codes with which nearest numbers err least.

    Args:
        values: float32 [N].
        bits: width of a number; a number with a sign has at least two.
        signed: numbers may be negative.
    """
    bits = max(bits, 2) if signed else bits
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    ends = float(values.max(initial=0)) / high, float(values.min(initial=0)) / min(low, -1)
    # A value that is always zero needs no step of its own.
    whole = max(*ends) or 1.0
    wide = values.astype(np.float64)
    best, least = whole, math.inf
    for share in np.arange(1, _CANDIDATES + 1) / _CANDIDATES:
        step = float(np.float32(whole * share))
        if step < np.finfo(np.float32).tiny:
            continue
        nearest = np.clip(np.floor(wide / step + 0.5), low, high)
        error = math.fsum((nearest * step - wide) ** 2)
        if error < least:
            best, least = step, error
    return Codes(float(np.float32(best)), low, high)


def _rounded(network: Network, codes: Mapping[str, Codes], *, rounds: bool) -> Graph:
    """The graph with the nodes that round, or with nodes of these names that change nothing."""
    graph = network.graph
    builder = GraphBuilder.of(graph)
    read = {}
    for name, each in codes.items():
        shape, quant = graph.shape(name), each.quant
        limited = builder.value(Value(builder.fresh(f"{name}/limited"), shape, DType.FLOAT32))
        number = Value(builder.fresh(f"{name}/codes"), shape, DType.FLOAT32)
        if rounds:
            number = replace(number, dtype=quant.dtype, quant=quant)
        number_name = builder.value(number)
        read[name] = builder.value(Value(builder.fresh(f"{name}/few"), shape, DType.FLOAT32))
        first, second = (ops.QuantizeLinear(), ops.DequantizeLinear()) if rounds else (_SAME, _SAME)
        builder.node(builder.fresh(limited), each.clip if rounds else _SAME, [name], [limited])
        builder.node(builder.fresh(number_name), first, [limited], [number_name])
        builder.node(builder.fresh(read[name]), second, [number_name], [read[name]])
    for layer in network.choice.pooled:
        inputs = tuple(read.get(name, name) for name in layer.node.inputs)
        builder.put(replace(layer.node, inputs=inputs))
    return builder.build()
