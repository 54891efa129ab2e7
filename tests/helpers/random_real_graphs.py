"""Random real graphs, without and with pinned quantizations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pass_samples import Maker

from edgec.base.errors import ImportModelError
from edgec.ir import ops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams

PINS = (None, QuantParams.per_tensor(0.1, 3), QuantParams.per_tensor(0.2, -5))
BIG = 3000


def random_operator(m: Maker, rng: np.random.Generator, live: list[str]) -> str | None:
    """Add one operator on one of the last values; None where it does not fit the shape."""
    x = live[rng.integers(max(0, len(live) - 3), len(live))]
    shape, rank, elements = m.shape(x), len(m.shape(x)), int(np.prod(m.shape(x)))
    axis = int(rng.integers(rank))
    flip = bool(rng.integers(2))
    like = [v for v in live if m.shape(v) == shape]
    match rng.integers(15):
        case 0:
            return m.op(ops.Clip(0.0), x)
        case 1 | 2:
            return m.op(ops.Transpose(tuple(int(i) for i in rng.permutation(rank))), x)
        case 3:
            return m.op(ops.Add(), x, like[rng.integers(len(like))])
        case 4:
            sizes = [size if rng.integers(2) else 1 for size in shape[axis:]]
            return m.op(ops.Mul(), x, m.const(*sizes))
        case 5:
            kind = list(ops.ReduceKind)[rng.integers(3)]
            return m.op(ops.Reduce(kind, (axis,), keepdims=flip or rank == 1), x)
        case 6 if rank == 4:
            attrs = ops.Conv(pads=(1, 0, 1, 0) if flip else (0, 0, 0, 0))
            return m.op(attrs, x, m.const(3, 1, 1, shape[3]), m.const(3) if flip else "")
        case 7:
            return m.op(ops.Concat(axis), x, x)
        case 8 if rank > 2:
            return m.op(ops.Reshape((shape[0], shape[1] * shape[2], *shape[3:])), x)
        case 9:
            flat = m.op(ops.Reshape((1, elements)), x)
            return m.op(ops.Gemm(), flat, m.const(3, elements), "")
        case 10:
            pads = tuple((int(a), int(b)) for a, b in rng.integers(0, 2, (rank, 2)))
            return m.op(ops.Pad(pads), x)
        case 11:
            channels = shape[-1]
            variance = m.const(array=m.rng.uniform(0.1, 2, channels).astype(np.float32))
            others = [m.const(channels) for _ in range(3)]
            return m.op(ops.BatchNormalization(), x, *others, variance)
        case 12 if rank < 5:
            return m.op(ops.Reshape((1, *shape)), x)
        case 13 if rank == 4:
            return m.op(ops.MaxPool((2, 1), pads=(1, 0, 0, 0)), x)
        case 14:
            return m.op(ops.Softmax() if flip else ops.Unary(ops.UnaryKind.TANH), x)
    return None


def random_graph(seed: int) -> Graph:
    m, rng = Maker(seed), np.random.default_rng(seed)
    live = [m.input(1, *(int(i) for i in rng.integers(1, 5, 3)))]
    for _ in range(int(rng.integers(3, 14))):
        try:
            made = random_operator(m, rng, live)
        except ImportModelError:
            continue  # a window larger than the image
        if made is not None and np.prod(m.shape(made)) < BIG:
            live.append(made)
    outputs = [v for v in live[-int(rng.integers(1, 4)) :] if v != "x"]
    return m.graph(*(outputs or [m.op(ops.Clip(0.0), "x")]))


def round_some(graph: Graph, seed: int) -> Graph:
    """A QDQ model: some values pass through QuantizeLinear and DequantizeLinear."""
    rng = np.random.default_rng(seed)
    pins = {name: PINS[max(0, rng.integers(-1, 3))] for name in graph.values}
    return rounded(graph, pins)


def rounded(graph: Graph, pins: dict[str, QuantParams | None]) -> Graph:
    """The graph with the given quantizations written out as operators."""
    builder = GraphBuilder.of(graph)
    for name, quant in pins.items():
        value = replace(graph.values[name], quant=None)
        builder.value(value)
        if quant is None:
            continue
        codes, real = builder.fresh(f"{name}/codes"), builder.fresh(f"{name}/real")
        builder.value(Value(codes, value.shape, quant.dtype, quant))
        builder.value(Value(real, value.shape))
        builder.rewire(name, real)
        if name in builder.output_layouts:
            builder.output_layouts[real] = builder.output_layouts.pop(name)
        builder.node(codes, ops.QuantizeLinear(), (name,), (codes,))
        builder.node(real, ops.DequantizeLinear(), (codes,), (real,))
    return builder.build()
