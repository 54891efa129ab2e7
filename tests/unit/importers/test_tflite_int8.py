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
from edgec.base.errors import UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.base.rounding import Rounding
from edgec.commands.quantize import quantize_model
from edgec.importers.formats import import_model, inspect_model
from edgec.interp import run_graph
from edgec.ir.graph import Graph
from edgec.ir.verify import Stage, verify
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(5)


def integers(path: Path) -> Graph:
    """The integer graph with edgec's own rounding, which a QDQ model always has."""
    rounding = Rounding.EDGEC if path.suffix == ".tflite" else None
    return integer_model(path, None, CompileOptions(rounding=rounding)).integer


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


def layer(
    path: Path, codes: tuple[str, str], zero: int, bias: str = "int32", scales: int = 1
) -> Path:
    """A convolution whose activations and weights are of given types, for uint8 those of int8."""
    rng = np.random.default_rng(2)
    weight, numbers = rng.integers(-127, 128, (4, 3, 3, 2)), rng.integers(-3000, 3000, 4)
    kind, weights = codes
    w_scale = [0.25 / (number + 1) for number in range(scales)]
    shift = 128 if kind == "uint8" else 0
    tensors = {
        "x": T((1, 5, 5, 2), dtype=kind, scale=[0.5], zero=[3 + shift]),
        "w": const((weight + zero).astype(weights), w_scale, [zero] * scales),
        "b": const(numbers.astype(bias), [0.5 * scale for scale in w_scale]),
        "y": T((1, 5, 5, 4), dtype=kind, scale=[70.0], zero=[shift - 5]),
    }
    op = Op("CONV_2D", ["x", "w", "b"], ["y"], "Conv2DOptions", {"StrideH": 1, "StrideW": 1})
    return write_tflite(path, tensors, [op])


@pytest.mark.parametrize(
    ("codes", "zero", "bias"),
    [
        (("uint8", "uint8"), 128, "int32"),
        (("uint8", "int8"), 0, "int32"),
        (("int8", "uint8"), 127, "int32"),
        (("int8", "int8"), 0, "int64"),
    ],
)
def test_types_of_codes_and_biases_change_no_number(
    tmp_path: Path, codes: tuple[str, str], zero: int, bias: str
):
    wanted = integers(layer(tmp_path / "int8.tflite", ("int8", "int8"), 0))
    found = integers(layer(tmp_path / "other.tflite", codes, zero, bias))
    for _ in range(5):
        x = RNG.integers(-128, 128, (1, 5, 5, 2)).astype(np.int8)
        assert np.array_equal(computed(found, x), computed(wanted, x))


def test_a_scale_for_all_channels_is_a_scale_for_each(tmp_path: Path):
    graphs = [
        integers(layer(tmp_path / f"{scales}.tflite", ("int8", "int8"), 0, scales=scales))
        for scales in (1, 4)
    ]
    assert [len(set(g.constants["y#1_multiplier"].array.tolist())) for g in graphs] == [1, 4]


def test_off_centre_weights_are_refused_in_words(tmp_path: Path):
    path = layer(tmp_path / "m.tflite", ("uint8", "uint8"), 128)
    data = bytearray(path.read_bytes())
    zero = np.array([128], np.int64).tobytes()
    assert data.count(zero) >= 1
    path.write_bytes(bytes(data).replace(zero, np.array([121], np.int64).tobytes()))
    with pytest.raises(UnsupportedModelError, match="uint8 weights reach from -110 to 133 around"):
        import_model(path)


def test_a_bias_beyond_32_bits_is_refused(tmp_path: Path):
    tensors = {
        "x": T((1, 4), dtype="int8", scale=[0.5], zero=[0]),
        "w": const(np.ones((2, 4), np.int8), [0.25]),
        "b": const(np.array([1, -(2**31)], np.int64)),
        "y": T((1, 2), dtype="int8", scale=[0.5], zero=[0]),
    }
    op = Op("FULLY_CONNECTED", ["x", "w", "b"], ["y"], "FullyConnectedOptions")
    with pytest.raises(UnsupportedModelError, match="bias does not fit 32 bits"):
        import_model(write_tflite(tmp_path / "f.tflite", tensors, [op]))


MLPERF = {
    "mlperf_resnet8_cifar10": 12_501_632,
    "mlperf_dscnn_kws": 2_656_768,
    "mlperf_mobilenetv1_025_vww96": 7_489_664,
    "mlperf_autoencoder_toycar": 264_192,
}


def softmax(path: Path, beta: float) -> Path:
    tensors = {
        "x": T((1, 10), dtype="int8", scale=[0.08], zero=[-5]),
        "y": T((1, 10), dtype="int8", scale=[1 / 256], zero=[-128]),
    }
    ops = [Op("SOFTMAX", ["x"], ["y"], "SoftmaxOptions", {"Beta": beta})]
    return write_tflite(path, tensors, ops)


@pytest.mark.parametrize("rounding", list(Rounding))
def test_a_softmax_has_its_beta(tmp_path: Path, rounding: Rounding):
    options = CompileOptions(rounding=rounding)
    graph = integer_model(softmax(tmp_path / "f.tflite", 2.5), None, options).integer
    for _ in range(20):
        x = RNG.integers(-128, 128, (1, 10)).astype(np.int8)
        shares = np.exp(2.5 * 0.08 * (x.astype(float) - x.max()))
        wanted = np.minimum(256 * shares / shares.sum(), 255) - 128
        assert np.abs(computed(graph, x) - wanted).max() <= 0.75


def test_the_exported_softmax_has_its_beta(tmp_path: Path):
    path, exported = softmax(tmp_path / "f.tflite", 2.5), tmp_path / "q.onnx"
    quantize_model(path, exported)
    ours, theirs = integers(path), integers(exported)
    for _ in range(5):
        x = RNG.integers(-128, 128, (1, 10)).astype(np.int8)
        assert np.array_equal(computed(ours, x), computed(theirs, x))


@pytest.mark.parametrize("beta", [0.0, -1.0])
def test_a_beta_that_is_not_positive_is_refused(tmp_path: Path, beta: float):
    with pytest.raises(UnsupportedModelError, match="beta"):
        import_model(softmax(tmp_path / "f.tflite", beta))


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
