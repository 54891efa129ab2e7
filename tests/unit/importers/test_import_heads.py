"""Ends of segmentation networks, and shapes without a batch, through integers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from import_models import N, imported, model_of, run, save
from onnx import TensorProto

from edgec.base.errors import UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(4)
SHAPE = (1, 3, 8, 6)


def segmentation(nodes: list[onnx.NodeProto], **fields) -> onnx.ModelProto:
    constants = {"w": (RNG.normal(size=(4, 3, 3, 3)) / 5).astype(np.float32)}
    conv = N("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1])
    return model_of([conv, *nodes], {"x": SHAPE}, constants, **fields)


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("upsampled", [False, True])
def test_classes_of_pixels(axis, keepdims, upsampled, tmp_path):
    """ArgMax along any axis; where onnxruntime decides otherwise, two scores are nearly equal."""
    nodes = [N("ArgMax", ["r" if upsampled else "c"], ["y"], axis=axis, keepdims=keepdims)]
    if upsampled:
        nodes.insert(0, N("Upsample", ["c", "s"], ["r"], mode="nearest"))
    model = segmentation(nodes, opset=9, output_type=TensorProto.INT64)
    if upsampled:
        factors = onnx.numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s")
        model.graph.initializer.append(factors)
    x = RNG.normal(size=(8, *SHAPE[1:])).astype(np.float32)
    graph = integer_model(save(model, tmp_path), {"x": x}, CompileOptions()).integer
    codes = graph.quant("x").quantize(x[:1].transpose(0, 2, 3, 1))
    found = run_graph(graph, {"x": codes})["y"]
    wanted = run(model, {"x": x[:1]})[0]
    frame = graph.output_layouts.get("y")
    same = found if frame is None else found.transpose(np.argsort(frame))
    assert same.shape == wanted.shape
    assert (same == wanted).mean() > 0.95


def test_classes_of_two_heads_are_two_outputs(tmp_path):
    nodes = [
        N("ArgMax", ["c"], ["a"], axis=1),
        N("ArgMax", ["c"], ["b"], axis=2),
        N("Flatten", ["a"], ["fa"]),
        N("Flatten", ["b"], ["fb"]),
        N("Concat", ["fa", "fb"], ["y"], axis=1),
    ]
    with pytest.raises(UnsupportedModelError, match="joins integers"):
        imported(segmentation(nodes, output_type=TensorProto.INT64), tmp_path)


def test_convolution_without_a_batch_says_what_it_needs(tmp_path):
    weight = {"w": np.ones((4, 1, 3, 3), np.float32)}
    model = model_of([N("Conv", ["x", "w"], ["y"])], {"x": (1, 49, 40)}, weight)
    with pytest.raises(UnsupportedModelError, match=r"\[N, C, H, W\]"):
        imported(model, tmp_path)
