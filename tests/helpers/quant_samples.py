"""Small graphs and data that the tests of export and quantization share."""

from __future__ import annotations

import numpy as np
from sketch import Sketch

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.ops import UnaryKind


def conv(
    s: Sketch,
    x: str,
    outputs: int,
    kernel: int = 3,
    *,
    stride: int = 1,
    depthwise: bool = False,
    bias: bool = True,
    name: str = "conv",
) -> str:
    """A 'same' convolution with random weights."""
    channels = s.builder.values[x].shape[-1]
    group = channels if depthwise else 1
    taps = kernel * kernel * channels // group
    w = s.normal(f"{name}_w", outputs, kernel, kernel, channels // group, scale=taps**-0.5)
    b = s.normal(f"{name}_b", outputs, scale=0.3) if bias else ""
    p = kernel // 2
    attrs = ops.Conv(strides=(stride, stride), pads=(p, p, p, p), group=group)
    return s(attrs, x, w, b, name=name)


def relu(s: Sketch, x: str) -> str:
    return s(ops.Clip(0.0), x, name="relu")


def gemm(s: Sketch, x: str, outputs: int, name: str = "fc") -> str:
    inputs = s.builder.values[x].shape[-1]
    w = s.normal(f"{name}_w", outputs, inputs, scale=inputs**-0.5)
    return s(ops.Gemm(), x, w, s.normal(f"{name}_b", outputs, scale=0.3), name=name)


def residual_network(seed: int = 0) -> Graph:
    """conv-relu, conv-relu-conv with a skip, relu, global mean, gemm, softmax; x [1, 8, 8, 3]."""
    s = Sketch("residual", seed)
    x = s.input("x", 1, 8, 8, 3)
    a = relu(s, conv(s, x, 8))
    b = conv(s, relu(s, conv(s, a, 8)), 8)
    c = relu(s, s(ops.Add(), a, b))
    d = s(ops.Reduce(ops.ReduceKind.MEAN, (1, 2), keepdims=False), c)
    return s.graph(s(ops.Softmax(), gemm(s, d, 5)))


def branches() -> Graph:
    """Concat, Pad, Slice, Resize, MaxPool, AveragePool, PRelu, Mul, Sub, tables."""
    s = Sketch("branches")
    x = s.input("x", 1, 6, 8, 4)
    a = s(ops.PRelu(), conv(s, x, 6), s.const("slope", np.linspace(-0.5, 0.5, 6)))
    b = s(ops.Unary(UnaryKind.HARD_SWISH), conv(s, x, 6, depthwise=False))
    c = s(ops.Concat(3), a, s(ops.Pad(((0, 0), (0, 0), (0, 0), (1, 2))), b))
    c = s(ops.Mul(), c, s.const("gain", np.linspace(0.5, 1.5, 15)))
    c = s(ops.Sub(), s.const("offset", np.linspace(-1, 1, 15)), c)
    c = s(ops.Slice((0, 5, 0, 0), (1, -1, 1, 2), (1, 6, 8, 8)), c)
    d = s(ops.MaxPool((2, 2), (2, 2)), c)
    d = s(ops.Resize(ops.ResizeMode.NEAREST, *nearest(3), *nearest(4)), d)
    d = s(ops.AveragePool((3, 3), (2, 2), (1, 1, 1, 1)), d)
    d = s(ops.Unary(UnaryKind.SIGMOID), d)
    return s.graph(s(ops.Reduce(ops.ReduceKind.MAX, (1, 2), keepdims=False), d))


def nearest(size: int):
    positions = tuple(i // 2 for i in range(2 * size))
    return positions, positions, (0.0,) * (2 * size)


def perceptron() -> Graph:
    s = Sketch("perceptron")
    x = s.input("x", 1, 12)
    y = s(ops.Unary(UnaryKind.TANH), gemm(s, relu(s, gemm(s, x, 20)), 8))
    return s.graph(s(ops.Softmax(), s(ops.Reshape((1, 2, 4)), y)))


def upsampler(group: int) -> Graph:
    s = Sketch("upsampler")
    x = s.input("x", 1, 4, 4, 6)
    w = s.normal("w", 4, 3, 3, 6 // group, scale=0.2)
    y = s(ops.ConvTranspose((2, 2), (1, 1, 1, 1), group=group), x, w, s.normal("b", 4))
    return s.graph(y)


def samples(graph: Graph, count: int, seed: int = 1) -> dict[str, Array]:
    """Normal samples [count, ...] for each input."""
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(size=(count, *graph.shape(name)[1:])).astype(np.float32)
        for name in graph.inputs
    }
