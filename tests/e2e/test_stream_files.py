"""A recurrent cell whose file has its state as input and output, from the file to a figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

from edgec.cli.app import app
from edgec.workflow.evaluation import evaluate

F = np.float32
COUNT, WIDTH = 64, 16
BEGINS = (0, 20, 45)
"""Samples with which a stream begins."""


def cell(norm: bool) -> onnx.ModelProto:
    """h = tanh(x W + h U), y = h O; with `norm` y is that of a normalized h, by searched scales."""
    rng = np.random.default_rng(0)
    sizes = {"w": (WIDTH, WIDTH), "u": (WIDTH, WIDTH), "o": (WIDTH, 4)}
    constants = {name: (rng.normal(size=size) / 4).astype(F) for name, size in sizes.items()}
    # A long memory: an orthogonal matrix keeps what was there.
    constants["u"] = np.linalg.qr(constants["u"])[0].astype(F)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("MatMul", ["h0", "u"], ["r"]),
        helper.make_node("Add", ["a", "r"], ["s"]),
        helper.make_node("Tanh", ["s"], ["hn"]),
    ]
    if norm:
        constants |= {"g": np.ones(WIDTH, F), "b": np.zeros(WIDTH, F)}
        nodes.append(helper.make_node("LayerNormalization", ["hn", "g", "b"], ["n"]))
    nodes.append(helper.make_node("MatMul", ["n" if norm else "hn", "o"], ["y"]))
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])
        for name, width in (("x", WIDTH), ("h0", WIDTH), ("y", 4), ("hn", WIDTH))
    ]
    arrays = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "cell", ports[:2], ports[2:], arrays)
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


def labelled(model: onnx.ModelProto, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Streams, and the class that the float model gives each of their steps."""
    session = onnxruntime.InferenceSession(model.SerializeToString())
    x, reset = rng.normal(size=(COUNT, WIDTH)).astype(F), np.zeros(COUNT, np.int32)
    reset[list(BEGINS)] = 1
    labels, h = [], np.zeros((1, WIDTH), F)
    for step in range(COUNT):
        h = np.zeros_like(h) if reset[step] else h
        y, h = session.run(["y", "hn"], {"x": x[step : step + 1], "h0": h})
        labels.append(int(y.argmax()))
    return {"x": x, "reset": reset, "y": np.array(labels)}


@pytest.mark.parametrize("norm", [False, True])
def test_accuracy_over_streams_that_begin_anew(norm: bool, tmp_path: Path) -> None:
    model, rng = cell(norm), np.random.default_rng(1)
    onnx.save(model, tmp_path / "cell.onnx")
    known, fresh = labelled(model, rng), labelled(model, rng)
    np.savez(tmp_path / "known.npz", x=known["x"], reset=known["reset"])
    np.savez(tmp_path / "fresh.npz", **fresh)
    np.savez(tmp_path / "one.npz", x=fresh["x"], y=fresh["y"])
    words = ["--board", "host", "--calibration", str(tmp_path / "known.npz"), "--no-build"]
    out = tmp_path / "out"
    made = CliRunner().invoke(
        app, ["compile", str(tmp_path / "cell.onnx"), *words, "--out", str(out)]
    )
    assert made.exit_code == 0, made.output
    assert "kept from run to run: h0 = hn" in " ".join(made.output.split())
    found = evaluate(out, tmp_path / "fresh.npz")
    assert found.n == COUNT
    assert found.float_accuracy == 1.0
    assert found.accuracy == found.agreement > 0.9
    # The float model forgets where the file says so, and only there.
    assert evaluate(out, tmp_path / "one.npz").float_accuracy < 1.0
