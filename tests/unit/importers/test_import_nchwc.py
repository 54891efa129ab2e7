"""Files that onnxruntime has written for one processor, in blocks of 8 or 16 channels."""

# ruff: noqa: E501  (a network, one node a line)

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from import_models import N, assert_executed, imported, model_of, random_feeds, run
from onnx import helper, numpy_helper

from edgec.base.dtypes import Array
from edgec.base.errors import UnsupportedModelError
from edgec.importers.onnx import nchwc
from edgec.ir import ops
from edgec.ir.graph import Graph

RNG = np.random.default_rng(8)
IMAGE = (1, 3, 8, 8)


def f(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def network(first: int, second: int) -> onnx.ModelProto:
    """Layers of all kinds that have a form in blocks: `first` and `second` channels."""
    constants: Mapping[str, Array] = {
        "w0": f(first, 3, 3, 3), "b0": f(first), "w1": f(first, 1, 3, 3), "b1": f(first),
        "w2": f(second, first, 1, 1) / 4, "b2": f(second), "w3": f(second, second, 1, 1) / 4,
        "scales": np.array([1, 1, 2, 2], np.float32), "six": np.float32(6), "zero": np.float32(0),
        "w4": f(5, second), "b4": f(5), "w5": f(2, second, 1, 1),
    }  # fmt: skip
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        N("Conv", ["x", "w0", "b0"], ["c0"], pads=[1, 1, 1, 1]), N("Clip", ["c0", "zero", "six"], ["r0"]),
        N("Conv", ["r0", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], group=first), N("Relu", ["c1"], ["r1"]),
        N("MaxPool", ["r1"], ["p1"], **pool),
        N("Conv", ["p1", "w2", "b2"], ["c2"]), N("LeakyRelu", ["c2"], ["r2"], alpha=0.2),
        N("Conv", ["r2", "w3"], ["c3"]), N("Add", ["c3", "r2"], ["s3"]), N("Relu", ["s3"], ["r3"]),
        N("AveragePool", ["r3"], ["p3"], **pool),
        N("Resize", ["p3", "", "scales"], ["u3"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        N("Sigmoid", ["u3"], ["g3"]), N("Conv", ["g3", "w5"], ["z"]),
        N("GlobalAveragePool", ["r3"], ["a3"]), N("Flatten", ["a3"], ["f3"]),
        N("Gemm", ["f3", "w4", "b4"], ["y"], transB=1),
    ]  # fmt: skip
    return model_of(nodes, {"x": IMAGE}, constants, outputs=("y", "z"), opset=13)


def written(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """The model as onnxruntime writes it for this processor."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(model.SerializeToString(), options)
    return onnx.load(folder / "optimized.onnx")


def assert_same(found: onnx.ModelProto, model: onnx.ModelProto, folder: Path) -> Graph:
    graph = imported(found, folder)
    feeds = random_feeds(graph)
    assert_executed(graph, feeds, run(model, feeds))
    return graph


@pytest.mark.parametrize("channels", [(16, 32), (12, 20), (8, 24), (40, 10)])
def test_files_that_onnxruntime_wrote(channels: tuple[int, int], tmp_path: Path) -> None:
    model = network(*channels)
    found = written(model, tmp_path)
    if not any(node.domain == nchwc.DOMAIN for node in found.graph.node):
        pytest.skip("onnxruntime has no such form for this processor")
    graph = assert_same(found, model, tmp_path)
    layers = [node for node in graph.nodes if isinstance(node.attrs, ops.Conv)]
    sizes = [graph.shape(node.output)[-1] for node in layers]
    assert sizes[:4] == [channels[0], channels[0], channels[1], channels[1]], "no channel is filler"
    assert not any(isinstance(node.attrs, ops.Slice) for node in graph.nodes)


def in_blocks(weights: Array, block: int, *, whole: bool) -> Array:
    """Weights [O, I, H, W] as onnxruntime orders them; `whole`: images that are not in blocks."""
    o, i, h, w = weights.shape
    if whole:
        return (
            weights.reshape(o // block, block, i, h, w).transpose(0, 2, 3, 4, 1).reshape(o, i, h, w)
        )
    parts = weights.reshape(o // block, block, i // block, block, h, w)
    return parts.transpose(0, 2, 4, 5, 3, 1).reshape(o, i, h, w)


def by_hand(block: int, scales: Array) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Two convolutions of 32 channels, plain and in blocks; `scales` of the channels."""
    w0, w1 = (
        f(32, 3, 3, 3) * scales[:32, None, None, None],
        f(32, 32, 3, 3) / 64 * scales[:32, None, None, None],
    )
    plain = model_of(
        [N("Conv", ["x", "w0"], ["a"]), N("Conv", ["a", "w1"], ["y"])],
        {"x": IMAGE},
        {"w0": w0, "w1": w1},
    )
    nodes = [
        N("Conv", ["x", "w0"], ["a"], domain=nchwc.DOMAIN),
        N("Conv", ["a", "w1"], ["b"], domain=nchwc.DOMAIN),
        N("ReorderOutput", ["b"], ["y"], domain=nchwc.DOMAIN, channels=32),
    ]
    stored = {"w0": in_blocks(w0, block, whole=True), "w1": in_blocks(w1, block, whole=False)}
    found = model_of(nodes, {"x": IMAGE}, stored)
    found.opset_import.append(helper.make_opsetid(nchwc.DOMAIN, 1))
    return found, plain


@pytest.mark.parametrize("block", [8, 16])
def test_the_weights_tell_the_size_of_blocks(block: int, tmp_path: Path) -> None:
    """Channels of trained networks differ in size by a factor of two and more."""
    scales = np.exp2(RNG.uniform(-1.5, 1.5, 32)).astype(np.float32)
    assert_same(*by_hand(block, scales), tmp_path)


def test_weights_that_do_not_tell_are_refused(tmp_path: Path) -> None:
    found, _ = by_hand(16, np.ones(32, np.float32))
    with pytest.raises(UnsupportedModelError, match="how many channels a block has"):
        imported(found, tmp_path)


def test_filled_channels_that_are_read_stay(tmp_path: Path) -> None:
    """A Concat reads whole blocks; they stay, and so do their weights."""
    w = f(16, 3, 3, 3)
    w[12:] = 0
    nodes = [
        N("Conv", ["x", "w"], ["a"], domain=nchwc.DOMAIN), N("Concat", ["a", "a"], ["c"], axis=1),
        N("ReorderOutput", ["c"], ["y"], domain=nchwc.DOMAIN, channels=32),
    ]  # fmt: skip
    found = model_of(nodes, {"x": IMAGE}, {"w": in_blocks(w, 16, whole=True)})
    found.opset_import.append(helper.make_opsetid(nchwc.DOMAIN, 1))
    plain = model_of(
        [N("Conv", ["x", "w"], ["a"]), N("Concat", ["a", "a"], ["y"], axis=1)],
        {"x": IMAGE},
        {"w": w},
    )
    assert_same(found, plain, tmp_path)


def test_order_of_weights() -> None:
    for block in (8, 16):
        for shape, groups in (((32, 3, 3, 2), 1), ((32, 16, 3, 3), 1), ((48, 1, 3, 3), 48)):
            weights = f(*shape)
            stored = in_blocks(weights, block, whole=shape[1] % block != 0)
            np.testing.assert_array_equal(nchwc.in_order(stored, groups, block), weights)


def test_weights_that_are_computed_are_refused(tmp_path: Path) -> None:
    found, _ = by_hand(8, np.exp2(RNG.uniform(-1.0, 1.0, 32)).astype(np.float32))
    found.graph.initializer.append(numpy_helper.from_array(np.float32(2), "two"))
    found.graph.node.insert(0, N("Mul", ["w1", "two"], ["w2"]))
    found.graph.node[2].input[1] = "w2"
    with pytest.raises(UnsupportedModelError, match="optimized the model for one processor"):
        imported(found, tmp_path)
