"""`inspect_model`: shapes, costs and verdicts of every node."""

from __future__ import annotations

import numpy as np
from import_models import N, model_of, save

from edgec.importers.onnx.importer import inspect_model


def test_costs_and_shapes(tmp_path):
    nodes = [
        N("Conv", ["x", "w", "b"], ["c"], name="conv"),
        N("ConvTranspose", ["c", "t"], ["u"], strides=[2, 2]),
        N("Reshape", ["u", "s"], ["r"]),
        N("MatMul", ["r", "m"], ["y"]),
    ]
    constants = {
        "w": np.ones((4, 3, 3, 3), np.float32), "b": np.ones(4, np.float32),
        "t": np.ones((4, 2, 2, 2), np.float32), "s": np.array([1, -1], np.int64),
        "m": np.ones((128, 5), np.float32),
    }  # fmt: skip
    path = save(model_of(nodes, {"x": ("N", 3, 6, 6)}, constants), tmp_path)
    summary = inspect_model(path)
    assert [n.macs for n in summary.nodes] == [4 * 16 * 27, 64 * 2 * 4, 0, 640]
    assert [n.parameters for n in summary.nodes] == [112, 32, 0, 640]
    assert summary.macs == sum(n.macs for n in summary.nodes)
    assert summary.nodes[0].name == "conv"
    assert summary.nodes[0].input_shapes == ((1, 3, 6, 6), (4, 3, 3, 3), (4,))
    assert summary.inputs[0].shape == (1, 3, 6, 6)
    assert summary.outputs[0].shape == (1, 5)
    assert (summary.opset, summary.name, summary.supported) == (13, "model", True)


def test_unsupported_and_unknown(tmp_path):
    nodes = [
        N("Mystery", ["x"], ["a"], domain="com.example"),
        N("Relu", ["a"], ["b"]),
        N("Mystery", ["b"], ["y"], domain="com.example"),
    ]
    summary = inspect_model(save(model_of(nodes, {"x": (1, 3)}), tmp_path))
    assert [n.supported for n in summary.nodes] == [False, True, False]
    assert summary.nodes[0].reason
    assert summary.nodes[0].remedy
    assert summary.nodes[1].output_shapes == (None,)
    assert summary.outputs[0].shape is None
