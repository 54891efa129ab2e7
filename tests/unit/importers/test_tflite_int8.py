"""Integer TensorFlow Lite files: the same integers as a QDQ model of the same scales."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from data_folder import data_folder
from tflite_models import Op, T, const, write_tflite
from tflite_networks import W_SCALES, X_SCALE, int8_network, qdq_network
from tflite_oracle import needs_litert, run_litert

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.importers.formats import import_model, inspect_model
from edgec.interp import run_graph
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(5)


def integers(path: Path) -> Graph:
    return integer_model(path, None, CompileOptions()).integer


def computed(graph: Graph, x: Array) -> Array:
    found = run_graph(graph, {graph.inputs[0]: x.reshape(graph.shape(graph.inputs[0]))})
    return found[graph.outputs[0]]


def test_the_same_integers_as_a_qdq_model(tmp_path: Path):
    ours, theirs = integers(int8_network(tmp_path / "m.tflite")), integers(qdq_network(tmp_path))
    for _ in range(20):
        x = RNG.integers(-128, 128, (1, 6, 6, 4)).astype(np.int8)
        assert np.array_equal(computed(ours, x), computed(theirs, x))


@needs_litert
def test_close_to_the_interpreter(tmp_path: Path):
    """One rounding in each layer, not the interpreter's two: one step now and then."""
    path = int8_network(tmp_path / "m.tflite")
    graph = integers(path)
    for _ in range(20):
        x = RNG.integers(-128, 128, (1, 6, 6, 4)).astype(np.int8)
        wanted = run_litert(path, {"x": x})["y"].astype(int) - 128
        assert np.abs(computed(graph, x) - wanted).max() <= 1


def test_codes_of_every_tensor_mean_what_the_file_says(tmp_path: Path):
    graph = import_model(int8_network(tmp_path / "m.tflite"))
    verify(graph, Stage.REAL, "import")
    assert [node.op for node in graph.nodes if "uantize" not in node.op] == [
        "Conv", "Clip", "Reduce",
    ]  # fmt: skip
    assert (graph.values["x"].quant, graph.values["c"].quant) != (None, None)
    assert graph.values["c"].quant == graph.values["m"].quant
    assert graph.values["y"].dtype.value == "uint8"
    bias = next(c for c in graph.constants.values() if c.name == "b")
    assert bias.quant is not None
    np.testing.assert_array_equal(np.float32(bias.quant.scale), X_SCALE * W_SCALES)


def test_a_bias_without_a_scale_has_that_of_its_sums(tmp_path: Path):
    """What the file says of a bias changes nothing: the interpreter adds it to the sums."""
    tensors = {
        "x": T((1, 4), dtype="int8", scale=[0.5], zero=[0]),
        "w": const(np.ones((2, 4), np.int8), [0.25]),
        "b": const(np.array([1, -2], np.int32)),
        "y": T((1, 2), dtype="int8", scale=[0.5], zero=[0]),
    }
    op = Op("FULLY_CONNECTED", ["x", "w", "b"], ["y"], "FullyConnectedOptions")
    graph = import_model(write_tflite(tmp_path / "f.tflite", tensors, [op]))
    bias = graph.constants["b"].quant
    assert bias is not None and bias.scale == (0.125, 0.125)


MLPERF = {
    "mlperf_resnet8_cifar10": 12_501_632,
    "mlperf_dscnn_kws": 2_656_768,
    "mlperf_mobilenetv1_025_vww96": 7_489_664,
    "mlperf_autoencoder_toycar": 264_192,
}


@pytest.mark.data
@pytest.mark.parametrize("name", MLPERF)
def test_mlperf_files_have_the_integers_of_their_qdq_models(name: str):
    folder = data_folder()
    assert folder is not None
    path = folder / "models" / f"{name}_int8.tflite"
    if not path.exists():
        pytest.skip(f"no {path.name} (docs/data.md)")
    summary = inspect_model(path)
    assert (summary.macs, summary.supported) == (MLPERF[name], True)
    ours, theirs = integers(path), integers(folder / "models" / f"{name}_int8_qdq.onnx")
    for _ in range(3):
        x = RNG.integers(-128, 128, ours.shape(ours.inputs[0])).astype(np.int8)
        found, wanted = computed(ours, x), computed(theirs, x)
        assert np.array_equal(found.ravel(), wanted.ravel())
