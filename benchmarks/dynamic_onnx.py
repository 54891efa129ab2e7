"""A BERT-style classifier as exporters write it when the number of tokens is dynamic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CLASSES = 3


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of the network.

    Attributes:
        width: channels.
        heads: of attention.
        most: tokens that have a position.
        words: tokens of the vocabulary.
    """

    width: int = 16
    heads: int = 2
    most: int = 20
    words: int = 30


SMALL = Sizes()


class _File:
    """Collects nodes and weights; `self("Op", x, y)` names the output of a node."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.rng = np.random.default_rng(7)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def __call__(self, op: str, *inputs: str, name: str = "", **attributes: object) -> str:
        output = name or f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], f"{output}_node", **attributes))
        return output

    def add(self, name: str, array: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def whole(self, *numbers: int) -> str:
        return self.add(f"ints{len(self.weights)}", np.array(numbers, np.int64))

    def normal(self, name: str, *shape: int, scale: float = 1.0) -> str:
        return self.add(name, (self.rng.normal(size=shape) * scale).astype(np.float32))

    def linear(self, x: str, outputs: int, name: str, inputs: int = 0) -> str:
        inputs = inputs or self.sizes.width
        w = self.normal(f"{name}_w", inputs, outputs, scale=inputs**-0.5)
        y = self("MatMul", x, w)
        return self("Add", y, self.normal(f"{name}_b", outputs, scale=0.1), name=name)

    def norm(self, x: str, name: str) -> str:
        gamma = self.add(
            f"{name}_g", np.exp(self.rng.normal(0, 0.3, self.sizes.width)).astype(np.float32)
        )
        beta = self.normal(f"{name}_b", self.sizes.width, scale=0.1)
        return self("LayerNormalization", x, gamma, beta, name=name, axis=-1)


def _attention(f: _File, x: str) -> str:
    width, heads = f.sizes.width, f.sizes.heads
    cut = f.whole(0, 0, heads, width // heads)
    parts = []
    for name in ("q", "k", "v"):
        y = f("Reshape", f.linear(x, width, name), cut)
        parts.append(f("Transpose", y, perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]))
    scale = f.add("scale", np.array((width // heads) ** -0.5, np.float32))
    logits = f("Mul", f("MatMul", parts[0], parts[1]), scale)
    y = f("MatMul", f("Softmax", logits, axis=-1), parts[2])
    y = f("Reshape", f("Transpose", y, perm=[0, 2, 1, 3]), f.whole(0, 0, width))
    return f.linear(y, width, "dense")


def write_bert(
    path: Path, tokens: str | int = "seq", *, features: bool = True, sizes: Sizes = SMALL
) -> Path:
    """Ids int64 [batch, tokens] to scores [batch, 3] of the first token, and the tokens' features.

    Positions are the first rows of a table, cut by what the shape of the ids says.
    """
    f, width = _File(sizes), sizes.width
    table = f.normal("words", sizes.words, width)
    x = f("Gather", table, "ids", name="embedded")
    count = f("Slice", f("Shape", "ids"), f.whole(1), f.whole(2))
    places = f(
        "Slice", f.normal("places", 1, sizes.most, width, scale=0.5), f.whole(0), count, f.whole(1)
    )
    x = f.norm(f("Add", x, places, name="placed"), "first")
    x = f.norm(f("Add", x, _attention(f, x), name="mixed"), "second")
    hidden = f("Relu", f.linear(x, 2 * width, "up"))
    y = f.linear(hidden, width, "down", 2 * width)
    f.norm(f("Add", x, y, name="sum"), "features")
    token = f("Gather", "features", f.add("zero", np.array(0, np.int64)), axis=1)
    f.linear(token, CLASSES, "scores")
    shapes = {"scores": ["batch", CLASSES], "features": ["batch", tokens, width]}
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    ]
    graph = helper.make_graph(
        f.nodes,
        "bert",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", tokens])],
        outputs if features else outputs[:1],
        f.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return path


def ids(count: int, length: int, seed: int = 0, words: int = SMALL.words) -> np.ndarray:
    """Token ids, int64 [count, length]."""
    return np.random.default_rng(seed).integers(0, words, (count, length))
