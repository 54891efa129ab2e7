"""Hypothesis strategies for INTEGER graphs: batches of single operators, and whole networks.

Compiling is what takes time, so `single_ops` puts many independent operators into one graph.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from random_net import Net
from random_ops import OPS

from edgec.base.dtypes import Array, DType
from edgec.interp import run_graph
from edgec.ir import Graph, QuantParams, Value, qops
from edgec.ir.graph_builder import GraphBuilder


@st.composite
def single_ops(draw: Any, op: str, count: int = 12) -> Graph:
    """A graph of up to `count` nodes of one operator (a name in `OPS`), each on its own input."""
    net = Net.drawn(draw)
    for _ in range(net.integer(1, count)):
        _apply(net, op)
    return net.build()


@st.composite
def networks(draw: Any, most_nodes: int = 10) -> Graph:
    """A graph whose nodes read each other: chains, branches, several inputs and outputs."""
    net = Net.drawn(draw)
    return grow_network(net, net.integer(2, most_nodes))


def all_operators(seed: int, each: int) -> Graph:
    """`each` nodes of every operator, each on its own input."""
    net = Net.seeded(seed)
    for op in OPS:
        for _ in range(each):
            _apply(net, op)
    return net.build()


def with_one_input(graph: Graph) -> Graph:
    """The same graph, its inputs cut out of a single one (firmware serves at most 16)."""
    builder = GraphBuilder.of(graph)
    sizes = [graph.values[name].elements for name in graph.inputs]
    quant = QuantParams.per_tensor(1.0, 0)
    x = builder.value(Value("all", (1, sum(sizes)), DType.INT8, quant))
    table = builder.constant("codes", np.arange(-128, 128, dtype=np.int8))
    start = 0
    for name, size in zip(graph.inputs, sizes, strict=True):
        value = graph.values[name]
        cut = builder.value(Value(f"{name} cut", (1, size), DType.INT8, quant))
        builder.node("cut", qops.QSlice((0, start), (1, 1), (1, size)), [x], [cut])
        # A table may change the quantization, which slices and reshapes may not.
        same = builder.value(Value(f"{name} flat", (1, size), DType.INT8, value.quant))
        builder.node("same", qops.QLut(), [cut, table], [same])
        builder.node("reshape", qops.QReshape(value.shape), [same], [name])
        start += size
    builder.inputs = [x]
    return builder.build()


def grow_network(net: Net, nodes: int) -> Graph:
    """A network of this many nodes; nothing is built on tensors that are nearly constant."""
    tensors = [net.input(net.image_shape())]
    for _ in range(nodes):
        # The last tensor most of the time; an early one makes a branch that lives long.
        x = tensors[-1] if net.integer(0, 3) else net.pick(tensors)
        shape = net.shape(x)
        is_image = len(shape) == 4 and shape[0] == 1
        names = [name for name, kind in OPS.items() if is_image or not kind.needs_image]
        y = OPS[net.pick(names)].apply(net, x)
        fits = 0 < len(net.shape(y)) <= 6 and np.prod(net.shape(y)) <= 20_000
        if net.builder.values[y].quant is not None and fits and _varies(net, y):
            tensors.append(y)
    return net.build()


def _varies(net: Net, name: str) -> bool:
    """A random input gives at least four codes."""
    graph = net.build()
    rng = np.random.default_rng(0)
    inputs = {n: rng.integers(-128, 128, graph.shape(n)).astype(np.int8) for n in graph.inputs}
    return len(np.unique(run_graph(graph, inputs)[name])) >= 4


def _apply(net: Net, op: str) -> None:
    kind = OPS[op]
    shape = net.image_shape() if kind.needs_image else net.any_shape()
    kind.apply(net, net.input(shape))


def adversarial_inputs(graph: Graph, rng: np.random.Generator) -> list[dict[str, Array]]:
    """Inputs of a graph: all lowest, all highest, only extremes, the zero points, anything (twice).

    Indices are within the range of int8.
    """

    def each(make: Any) -> dict[str, Array]:
        values = {n: graph.values[n] for n in graph.inputs}
        return {n: make(v, *_range(v)).astype(v.dtype.numpy) for n, v in values.items()}

    return [
        each(lambda v, low, high: np.full(v.shape, low)),
        each(lambda v, low, high: np.full(v.shape, high)),
        each(lambda v, low, high: rng.choice([low, high], v.shape)),
        each(lambda v, low, high: np.full(v.shape, _zero_point(v))),
        each(lambda v, low, high: rng.integers(low, high + 1, v.shape)),
        each(lambda v, low, high: rng.integers(low, high + 1, v.shape)),
    ]


def _range(value: Value) -> tuple[int, int]:
    return (-32768, 32767) if value.dtype is DType.INT16 else (-128, 127)


def _zero_point(value: Value) -> int:
    per_tensor = value.quant is not None and value.quant.axis is None
    return value.quant.tensor_zero_point if per_tensor else 0
