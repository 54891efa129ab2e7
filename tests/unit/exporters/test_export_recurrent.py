"""LSTM, GRU and RNN stay operators of the exported file."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from loop_models import cell, info, model, node
from onnx import numpy_helper
from quantized_loops import Network
from recurrent_models import recurrent
from typer.testing import CliRunner

from edgec.base.options import Precision
from edgec.cli.app import app
from edgec.commands.quantize import quantize_model
from edgec.exporters.onnx.export import export_qdq, export_real
from edgec.exporters.onnx.recurrent import are_recurrent
from edgec.floatrun.float_model import FloatModel
from edgec.importers.formats import import_model
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES
from edgec.quant.common.quality import sqnr_db

KINDS = {"LSTM", "GRU", "RNN", "Scan"}
CELLS = {
    "lstm": ("LSTM", {}),
    "lstm of several": ("LSTM", {"direction": "bidirectional", "states": True}),
    "lstm backwards": ("LSTM", {"direction": "reverse", "bias": False, "outputs": ["c"]}),
    "lstm with functions": ("LSTM", {"activations": ["HardSigmoid", "Softsign", "Tanh"]}),
    "lstm with a clip": ("LSTM", {"clip": 1.5}),
    "lstm of several sequences": ("LSTM", {"batch": 3}),
    "lstm with coupled gates": ("LSTM", {"input_forget": 1, "direction": "bidirectional"}),
    "gru": ("GRU", {"states": True}),
    "gru of several sequences": ("GRU", {"linear_before_reset": 1, "batch": 2, "layout": 0}),
    "gru after": ("GRU", {"linear_before_reset": 1}),
    "gru of two directions": ("GRU", {"linear_before_reset": 1, "direction": "bidirectional"}),
    "gru with numbers": (
        "GRU",
        {
            "activations": ["HardSigmoid", "LeakyRelu"],
            "activation_alpha": [0.25, 0.1],
            "activation_beta": [0.4],
        },
    ),
    "rnn": ("RNN", {"gain": 0.3}),
    "rnn with relu": ("RNN", {"activations": ["Relu"], "gain": 0.2, "outputs": ["h"]}),
}


def kinds(proto: onnx.ModelProto) -> list[str]:
    return [each.op_type for each in proto.graph.node if each.op_type in KINDS]


def arrays(path, data):
    proto = onnx.load(path)
    return FloatModel(proto).run_steps(data, {}, [each.name for each in proto.graph.output])


@pytest.mark.parametrize("name", CELLS)
def test_a_float_file_has_the_operator_and_its_numbers(name, tmp_path):
    op, attrs = CELLS[name]
    path = tmp_path / "model.onnx"
    onnx.save(recurrent(op, steps=7, **{"gain": 0.5, **attrs}), path)
    imported = import_model(path)
    graph = run_passes(imported, REAL_PASSES).graph
    exported = export_real(graph, model_layout=True)
    count = 2 if attrs.get("direction") == "bidirectional" else 1
    assert kinds(exported) == [op] * count
    x = np.random.default_rng(2).normal(size=(4, *imported.shape("x")[1:])).astype(np.float32)
    wanted = arrays(path, {"x": x})
    onnx.save(exported, path)
    for output, array in arrays(path, {"x": x}).items():
        np.testing.assert_allclose(array, wanted[output].reshape(array.shape), atol=2e-6)


@pytest.mark.parametrize(
    "name", ["lstm of several", "lstm with coupled gates", "gru after", "rnn with relu"]
)
def test_a_quantized_file_is_near_the_integers_and_quantized_again(name, tmp_path):
    """What the operator does not round costs little; weights keep their codes."""
    op, attrs = CELLS[name]
    proto = recurrent(op, steps=10, **{"gain": 0.4, "seed": 3, **attrs})
    network = Network(proto, tmp_path)
    written = export_qdq(network.quantized.partly)
    assert set(kinds(written)) == {op}
    stored = [numpy_helper.to_array(each) for each in written.graph.initializer]
    assert sum(array.dtype == np.int8 and array.ndim == 3 for array in stored) >= 2
    path = tmp_path / "quantized.onnx"
    onnx.save(written, path)
    data = network.data(24, 2)
    theirs = arrays(path, data)
    again = Network(written, tmp_path)
    for output, array in theirs.items():
        own, second = (each.outputs(data)[output] for each in (network, again))
        assert sqnr_db(array, own.reshape(array.shape)) >= 45, output
        assert sqnr_db(array, second.reshape(array.shape)) >= 35, output


def test_the_command_keeps_the_operator(tmp_path):
    path, out = tmp_path / "model.onnx", tmp_path / "quantized.onnx"
    onnx.save(recurrent("LSTM", steps=4), path)
    x = np.random.default_rng(1).normal(size=(8, 4, 1, 3)).astype(np.float32)
    quantize_model(path, out, calibration={"x": x})
    assert kinds(onnx.load(out)) == ["LSTM"]


def test_int8_states_are_asked_for(tmp_path):
    network = Network(recurrent("GRU", steps=5), tmp_path, Precision.INT8)
    assert kinds(export_qdq(network.quantized.annotated)) == ["GRU"]


def test_layers_on_one_another(tmp_path):
    """Two bidirectional layers: what one gives is laid out as the other reads it."""
    rng = np.random.default_rng(5)
    stored, nodes, features = {}, [], 3
    for layer in range(2):
        for name, shape in (("W", (2, 16, features)), ("R", (2, 16, 4)), ("B", (2, 32))):
            stored[f"{name}{layer}"] = (rng.normal(size=shape) * 0.5).astype(np.float32)
        names = f"x{layer} W{layer} R{layer} B{layer}"
        nodes.append(node("LSTM", names, f"y{layer}", hidden_size=4, direction="bidirectional"))
        nodes.append(node("Transpose", f"y{layer}", f"t{layer}", perm=[0, 2, 1, 3]))
        nodes.append(node("Reshape", f"t{layer} shape", f"x{layer + 1}"))
        features = 8
    stored["shape"] = np.array([6, 1, 8], np.int64)
    path = tmp_path / "model.onnx"
    onnx.save(model(nodes, [info("x0", 6, 1, 3)], [info("x2", 6, 1, 8)], stored), path)
    graph = run_passes(import_model(path), REAL_PASSES).graph
    data = {"x0": rng.normal(size=(3, 6, 1, 3)).astype(np.float32)}
    wanted = arrays(path, data)["x2"]
    exported = export_real(graph, model_layout=True)
    assert kinds(exported) == ["LSTM"] * 4
    onnx.save(exported, path)
    np.testing.assert_allclose(arrays(path, data)["x2"].reshape(wanted.shape), wanted, atol=2e-6)


def test_other_cells_stay_loops(tmp_path):
    """A Scan of the file keeps the codes of the integers, though it is a simple cell."""
    network = Network(cell(), tmp_path, Precision.INT8)
    assert not are_recurrent(network.real)
    assert kinds(export_qdq(network.quantized.annotated)) == ["Scan"]


def test_the_next_command_names_the_samples(tmp_path):
    """The file does not say the ranges within the operator."""
    path, data = tmp_path / "model.onnx", tmp_path / "data.npz"
    onnx.save(recurrent("RNN", steps=4, gain=0.3), path)
    np.savez(data, x=np.random.default_rng(1).normal(size=(8, 4, 1, 3)).astype(np.float32))
    words = ["quantize", str(path), "--calibration", str(data), "--out", str(tmp_path / "q.onnx")]
    said = "".join(CliRunner().invoke(app, words).output.split())
    assert f"--boardnucleo--calibration{data}" in said
