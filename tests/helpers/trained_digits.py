"""A small network trained on scikit-learn's digits, as a REAL graph, and its data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Value
from edgec.ir.graph_builder import GraphBuilder

CHANNELS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Digits:
    """float32 [N, 8, 8, 1] and int64 [N]."""

    train_x: Array
    train_y: Array
    test_x: Array
    test_y: Array


@cache
def digits() -> Digits:
    """1,200 images to train with, the others to test with."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    images = (x.reshape(-1, 8, 8, 1) / 16).astype(np.float32)
    return Digits(images[:1200], y[:1200], images[1200:], y[1200:])


def digits_graph(channels: int = CHANNELS, seed: int = 0) -> Graph:
    """Three convolutions, the last one beside a shortcut, mean, classifier, Softmax; untrained."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder("digits")
    builder.value(Value("x", (1, 8, 8, 1)))
    builder.inputs = ["x"]

    wide = (1, 4, 4, channels)

    def conv(name: str, x: str, inputs: int, stride: int) -> str:
        weight = rng.normal(0, (2 / (9 * inputs)) ** 0.5, (channels, 3, 3, inputs))
        names = (
            x,
            builder.constant(f"{name}/w", weight.astype(np.float32)),
            builder.constant(f"{name}/b", np.zeros(channels, np.float32)),
        )
        builder.value(Value(f"{name}/y", wide))
        builder.node(name, ops.Conv((stride, stride), (1, 1, 1, 1)), names, (f"{name}/y",))
        return f"{name}/y"

    def then(name: str, attrs: object, inputs: tuple[str, ...], shape: tuple[int, ...]) -> str:
        builder.value(Value(f"{name}/y", shape))
        builder.node(name, attrs, inputs, (f"{name}/y",))
        return f"{name}/y"

    first = then("relu1", ops.Clip(0.0), (conv("conv1", "x", 1, 2),), wide)
    second = then("relu2", ops.Clip(0.0), (conv("conv2", first, channels, 1),), wide)
    third = then("add", ops.Add(), (conv("conv3", second, channels, 1), second), wide)
    last = then("relu3", ops.Clip(0.0), (third,), wide)
    mean = then("mean", ops.Reduce(ops.ReduceKind.MEAN, (1, 2), False), (last,), (1, channels))
    weight = builder.constant("fc/w", rng.normal(0, 0.2, (10, channels)).astype(np.float32))
    bias = builder.constant("fc/b", np.zeros(10, np.float32))
    logits = then("fc", ops.Gemm(), (mean, weight, bias), (1, 10))
    builder.outputs = [then("softmax", ops.Softmax(), (logits,), (1, 10))]
    return builder.build()


@cache
def trained_digits() -> Graph:
    """The network, trained to about 90 % on the test images."""
    import torch

    from edgec.finetune.network import Network
    from edgec.finetune.pooled.export import trained

    graph, data = digits_graph(), digits()
    network = Network(graph)
    x, y = torch.from_numpy(data.train_x), torch.from_numpy(data.train_y)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    generator = torch.Generator().manual_seed(0)
    for _ in range(6):
        for index in torch.randperm(len(y), generator=generator).split(64):
            loss = torch.nn.functional.cross_entropy(network({"x": x[index]}), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return trained(graph, network, ())


def accuracy(graph: Graph, x: Array, y: Array) -> float:
    """Share of images that a REAL graph tells right, by onnxruntime."""
    from edgec.floatrun.activations import activations

    right = 0
    done = 0
    for count, batch in activations(graph, graph.outputs, {"x": x}):
        found = batch[graph.outputs[0]].reshape(count - done, -1).argmax(1)
        right += int((found == y[done:count]).sum())
        done = count
    return right / len(y)
