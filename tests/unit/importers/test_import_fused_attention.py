"""Attention and embeddings that onnxruntime has joined, each in one node."""

# ruff: noqa: E501  (a table of cases, one a line)

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import N, assert_executed, imported, run
from onnx import TensorProto, helper, numpy_helper

from edgec.base.dtypes import Array
from edgec.base.errors import UnsupportedModelError
from edgec.ir.graph import Graph
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES

RNG = np.random.default_rng(17)
LENGTH, WIDTH = 6, 8
TOKENS = (1, LENGTH, WIDTH)


def f(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


W = {"w": f(WIDTH, 3 * WIDTH), "b": f(3 * WIDTH)}
UNEVEN = {"w": f(WIDTH, 2 * 4 + 12), "b": f(2 * 4 + 12)}
MASK = {"m": (1, LENGTH)}
ROWS = {"m": (1, LENGTH, LENGTH)}
SEEN = {"m": np.array([[1, 1, 1, 1, 0, 0]], np.int32)}

# name -> (operator, shapes of inputs (m: a mask), constants, attributes, names of inputs)
CASES = {
    "plain": ("Attention", {"x": TOKENS}, W, {}, "x w b"),
    "no bias": ("Attention", {"x": TOKENS}, W, {}, "x w"),
    "scale": ("Attention", {"x": TOKENS}, W, {"scale": 0.3}, "x w b"),
    "mask": ("Attention", {"x": TOKENS, **MASK}, W, {}, "x w b m"),
    "mask of rows": ("Attention", {"x": TOKENS, **ROWS}, W, {}, "x w b m"),
    "known mask": ("Attention", {"x": TOKENS}, {**W, **SEEN}, {}, "x w b m"),
    "soft mask": ("Attention", {"x": TOKENS, **MASK}, W, {"mask_filter_value": -2.0}, "x w b m"),
    "causal": ("Attention", {"x": TOKENS}, W, {"unidirectional": 1}, "x w b"),
    "causal mask": ("Attention", {"x": TOKENS, **MASK}, W, {"unidirectional": 1}, "x w b m"),
    "summand": ("Attention", {"x": TOKENS, "a": (1, 2, LENGTH, LENGTH)}, W, {}, "x w b   a"),
    "wide values": ("Attention", {"x": TOKENS}, UNEVEN, {"qkv_hidden_sizes": [4, 4, 12]}, "x w b"),
    "three": ("MultiHeadAttention", {"x": TOKENS, "k": TOKENS, "v": TOKENS}, {}, {}, "x k v"),
    "three bias": ("MultiHeadAttention", {"x": TOKENS, "k": (1, 4, WIDTH), "v": (1, 4, WIDTH)}, W, {}, "x k v b"),
    "three wide": ("MultiHeadAttention", {"x": (1, LENGTH, 4), "k": (1, LENGTH, 4), "v": (1, LENGTH, 12)}, UNEVEN, {}, "x k v b"),
    "three mask": ("MultiHeadAttention", {"x": TOKENS, "k": TOKENS, "v": TOKENS, **MASK}, {}, {}, "x k v  m"),
    "three summand": ("MultiHeadAttention", {"x": TOKENS, "k": TOKENS, "v": TOKENS, "a": (1, 1, LENGTH, LENGTH)}, {}, {}, "x k v   a"),
    "three causal": ("MultiHeadAttention", {"x": TOKENS, "k": TOKENS, "v": TOKENS}, {}, {"unidirectional": 1}, "x k v"),
}  # fmt: skip


def model_of(node: onnx.NodeProto, inputs: dict, constants: dict, opset: int) -> onnx.ModelProto:
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(
                n,
                TensorProto.INT32 if n in ("m", "ids", "segments", "at") else TensorProto.FLOAT,
                s,
            )
            for n, s in inputs.items()
        ],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in node.output[:1]],
        [numpy_helper.from_array(a, n) for n, a in constants.items() if n in node.input],
    )
    found = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    found.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return found


def model(name: str, opset: int = 17) -> onnx.ModelProto:
    op, inputs, constants, attributes, read = CASES[name]
    node = N(op, read.split(" "), ["y"], domain="com.microsoft", num_heads=2, **attributes)
    return model_of(node, inputs, constants, opset)


def assert_same(found: onnx.ModelProto, folder: Path) -> Graph:
    graph = imported(found, folder)
    feeds: dict[str, Array] = {}
    for name in graph.inputs:
        shape = graph.shape(name)
        feeds[name] = f(*shape)
        if name == "m":
            feeds[name] = (np.arange(LENGTH) < LENGTH - 2).astype(np.int32) * np.ones(
                shape, np.int32
            )
        elif graph.values[name].dtype.value == "int32":
            feeds[name] = RNG.integers(0, 2, shape).astype(np.int32)
    wanted = run(found, feeds)
    assert_executed(graph, feeds, wanted)
    passed = run_passes(graph, REAL_PASSES).graph
    assert_executed(passed, feeds, wanted)
    return passed


@pytest.mark.parametrize("opset", [12, 13, 17, 21])
@pytest.mark.parametrize("name", CASES)
def test_attention(name: str, opset: int, tmp_path: Path) -> None:
    """It is one operator again, but for factors between products and softmax at run time."""
    count = Counter(node.op for node in assert_same(model(name, opset), tmp_path).nodes)
    assert count["Attention"] == 1
    assert not {"Softmax", "MatMul"} & count.keys()


@pytest.mark.parametrize("packed", [3, 2])
def test_heads_that_lie_side_by_side(packed: int, tmp_path: Path) -> None:
    """Queries, keys and values in one tensor (3), or keys and values (2)."""
    inputs = (
        {"x": (1, LENGTH, 2, 3, 4)} if packed == 3 else {"x": TOKENS, "k": (1, LENGTH, 2, 2, 4)}
    )
    node = N("MultiHeadAttention", [*inputs], ["y"], domain="com.microsoft", num_heads=2)
    graph = imported(model_of(node, inputs, {}, 17), tmp_path)
    feeds = {name: f(*shape) for name, shape in inputs.items()}
    # onnxruntime computes them on other processors alone.
    whole = feeds["x"] if packed == 3 else feeds["k"]
    parts = [np.ascontiguousarray(whole[..., i, :]).reshape(TOKENS) for i in range(packed)]
    apart = dict(zip("xkv", parts if packed == 3 else [feeds["x"], *parts], strict=True))
    assert_executed(graph, feeds, run(model("three"), apart))
    count = Counter(node.op for node in run_passes(graph, REAL_PASSES).graph.nodes)
    assert count["Attention"] == 1


TABLES = {
    "word": f(9, WIDTH),
    "place": f(10, WIDTH),
    "kind": f(2, WIDTH),
    "g": f(WIDTH),
    "c": f(WIDTH),
}
IDS = {"ids": (1, LENGTH)}


@pytest.mark.parametrize("opset", [12, 17, 18])
@pytest.mark.parametrize(
    ("inputs", "read"),
    [
        (IDS, "ids  word place  g c"),
        ({**IDS, "segments": (1, LENGTH)}, "ids segments word place kind g c"),
        ({**IDS, "at": (1, LENGTH)}, "ids  word place  g c  at"),
    ],
)
def test_embeddings(inputs: dict, read: str, opset: int, tmp_path: Path) -> None:
    outputs = ["y", "numbers", "sum"] if "segments" in inputs else ["y", "numbers"]
    node = N(
        "EmbedLayerNormalization", read.split(" "), outputs, domain="com.microsoft", epsilon=0.01
    )
    graph = assert_same(model_of(node, inputs, TABLES, opset), tmp_path)
    count = Counter(node.op for node in graph.nodes)
    assert count["LayerNormalization"] == 1
    assert count["Embedding"] == len(inputs)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("mask", {"m": (1,)}),
        ("three", {"k": (1, 2, 2, 4), "v": (1, 2, 2, 4)}),
    ],
)
def test_forms_that_are_not_known(name: str, change: dict, tmp_path: Path) -> None:
    """Numbers of keys in place of masks; keys that have been split into heads."""
    op, inputs, constants, attributes, read = CASES[name]
    node = N(op, read.split(" "), ["y"], domain="com.microsoft", num_heads=2, **attributes)
    with pytest.raises(UnsupportedModelError):
        imported(model_of(node, {**inputs, **change}, constants, 17), tmp_path)


@pytest.mark.parametrize("more", [{"past": 4}, {"present": 1}])
def test_past_keys_are_refused(more: dict, tmp_path: Path) -> None:
    read = ["x", "w", "b", "", "past"] if "past" in more else ["x", "w", "b"]
    node = N("Attention", read, ["y", "present"], domain="com.microsoft", num_heads=2)
    inputs = {"x": TOKENS, "past": (2, 1, 2, 3, 4)} if "past" in more else {"x": TOKENS}
    with pytest.raises(UnsupportedModelError, match="onnxruntime alone"):
        imported(model_of(node, inputs, W, 17), tmp_path)
