"""The committed example networks are what examples/README.md says, and can be made again."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from edgec.base.options import CompileOptions
from edgec.base.resources import data_dir
from edgec.interp import run_graph
from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.workflow.integer import graph_side, integer_model, real_model

EXAMPLES = data_dir("examples")


def samples(name: str) -> dict[str, np.ndarray]:
    with np.load(EXAMPLES / name) as data:
        return {key: data[key] for key in data.files}


def float_accuracy(model: Path, data: dict[str, np.ndarray]) -> float:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (logits,) = session.run(["logits"], {"x": data["x"]})
    assert logits.shape == (len(data["x"]), 10)
    return float((logits.argmax(1) == data["y"]).mean())


@pytest.mark.parametrize(
    ("name", "floor"), [("digits_resnet", 0.98), ("digits_mlp", 0.95), ("digits_vit", 0.97)]
)
def test_accuracy_on_the_held_out_part(name: str, floor: float) -> None:
    accuracy = float_accuracy(EXAMPLES / f"{name}.onnx", samples("digits_test.npz"))
    assert accuracy >= floor
    readme = (EXAMPLES / "README.md").read_text()
    row = next(line for line in readme.splitlines() if f"`{name}.onnx`" in line)
    assert f"{accuracy:.2%}".replace("%", " %") in row


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("digits_resnet", 14_370), ("digits_mlp", 2_410), ("digits_vit", 18_378)],
)
def test_models_are_small_and_self_contained(name: str, parameters: int) -> None:
    path = EXAMPLES / f"{name}.onnx"
    assert path.stat().st_size < 100_000
    model = onnx.load(path, load_external_data=False)
    onnx.checker.check_model(model, full_check=True)
    floats = [t for t in model.graph.initializer if t.data_type == onnx.TensorProto.FLOAT]
    # The exporter folds batch normalization: scale and shift become one bias for each channel.
    stored = sum(int(np.prod(t.dims)) for t in floats)
    # The scale of the attention's logits is one number more.
    assert parameters - 200 <= stored <= parameters + 1
    # Nothing of the machine they were made on.
    assert not re.search(rb"/(root|home|tmp|usr)/|site-packages", path.read_bytes())


def test_transformer_is_read_as_a_transformer() -> None:
    graph = real_model(EXAMPLES / "digits_vit.onnx", None, CompileOptions()).graph
    kinds = Counter(type(node.attrs) for node in graph.nodes)
    assert kinds[ops.Attention] == 2
    assert kinds[ops.LayerNormalization] == 5
    assert sum(node.attrs == ops.Unary(UnaryKind.GELU) for node in graph.nodes) == 2
    assert not kinds[ops.Softmax]
    assert not kinds[ops.MatMul]


def test_integer_transformer_is_within_half_a_point() -> None:
    data = samples("digits_test.npz")
    path = EXAMPLES / "digits_vit.onnx"
    model = integer_model(path, EXAMPLES / "digits_calibration.npz", CompileOptions())
    graph = model.integer
    codes = graph.quant(graph.inputs[0]).quantize(
        graph_side(model.imported, graph, {"x": data["x"]})[graph.inputs[0]]
    )
    found = [
        run_graph(graph, {graph.inputs[0]: code[None]})[graph.outputs[0]].argmax() for code in codes
    ]
    accuracy = float(np.mean(np.array(found) == data["y"]))
    assert abs(accuracy - float_accuracy(path, data)) <= 0.005


def test_sample_files() -> None:
    calibration, test = samples("digits_calibration.npz"), samples("digits_test.npz")
    assert set(calibration) == {"x"}
    assert set(test) == {"x", "y"}
    assert calibration["x"].shape == (200, 1, 8, 8)
    assert test["x"].shape == (540, 1, 8, 8)
    assert test["y"].shape == (540,)
    assert test["y"].dtype == np.int64
    for x in (calibration["x"], test["x"]):
        assert x.dtype == np.float32
        assert x.min() == 0
        assert x.max() == 1
    counts = np.bincount(test["y"], minlength=10)
    assert counts.min() >= 50
    for name in ("digits_calibration.npz", "digits_test.npz"):
        assert (EXAMPLES / name).stat().st_size < 150_000


def test_calibration_and_held_out_samples_are_disjoint() -> None:
    calibration, test = samples("digits_calibration.npz"), samples("digits_test.npz")
    held_out = {image.tobytes() for image in test["x"]}
    assert not any(image.tobytes() in held_out for image in calibration["x"])


@pytest.mark.slow
@pytest.mark.torch
def test_training_script_runs(tmp_path: Path) -> None:
    command = [sys.executable, EXAMPLES / "train_digits.py", "--out", tmp_path, "--epochs", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("held-out accuracy") == 3
    # The samples do not depend on the training.
    for name in ("digits_calibration.npz", "digits_test.npz"):
        with np.load(tmp_path / name) as made:
            for key, array in samples(name).items():
                np.testing.assert_array_equal(made[key], array)
    for name in ("digits_resnet", "digits_mlp", "digits_vit"):
        assert float_accuracy(tmp_path / f"{name}.onnx", samples("digits_test.npz")) > 0.2
