"""Real networks keep their accuracy; benchmarks/accuracy.py measures public ones on all data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tf_networks
from data_folder import needed_data_folder
from original_model import outputs_of
from own_networks import OWN_NETWORKS, digits

from edgec.base.dtypes import Array
from edgec.base.options import QuantOptions
from edgec.exporters.onnx.export import export_qdq
from edgec.floatrun.float_model import FloatModel
from edgec.importers.onnx.importer import import_model
from edgec.interp import run_graph
from edgec.passes import REAL_PASSES, run_passes
from edgec.quant import annotate, sqnr_db, to_integer


def outputs(model: FloatModel, x: Array) -> Array:
    """The only output for all samples."""
    return model.run({model.input_names[0]: x})[model.output_names[0]]


def check_accuracy(path: Path, calibration: Array, x: Array, labels: Array) -> None:
    """Half a point of accuracy at most is lost, and decisions are nearly all the same."""
    graph = run_passes(import_model(path), REAL_PASSES).graph
    moved = calibration.transpose(graph.input_layouts.get(graph.inputs[0], range(calibration.ndim)))
    annotated, report = annotate(graph, {graph.inputs[0]: moved}, QuantOptions())
    assert min(layer.sqnr_db for layer in report.layers) > 20
    wanted = outputs_of(path, x)
    found = outputs(FloatModel(export_qdq(annotated), optimize=False), x)
    accuracy = [100 * np.mean(y.argmax(axis=1) == labels) for y in (wanted, found)]
    assert abs(accuracy[0] - accuracy[1]) <= 0.5
    assert np.mean(wanted.argmax(axis=1) == found.argmax(axis=1)) > 0.98
    assert sqnr_db(wanted, found) > 28


def check_codes(path: Path, codes: Array) -> None:
    """Import, pins and integer arithmetic change no output of a quantized file."""
    graph = run_passes(import_model(path), REAL_PASSES).graph
    integer = to_integer(annotate(graph, None, QuantOptions())[0])
    wanted = outputs_of(path, codes)
    for sample, expected in zip(codes, wanted, strict=True):
        found = run_graph(integer, {integer.inputs[0]: sample[None]})[integer.outputs[0]]
        np.testing.assert_array_equal(found[0], expected)


@pytest.mark.parametrize("name", ["digits_mlp", "digits_resnet"])
def test_digits_stay_within_half_a_point(name):
    x, labels = digits("test")
    check_accuracy(OWN_NETWORKS[name], digits("calibration")[0], x, labels)


def test_a_quantized_file_computes_what_onnx_says(tmp_path):
    path = tf_networks.save_written("separable", tmp_path, quantized=True)
    codes = np.random.default_rng(1).integers(-128, 128, (40, 25, 10, 1)).astype(np.int8)
    check_codes(path, codes)


@pytest.mark.data
def test_keyword_spotting_stays_within_half_a_point():
    folder = needed_data_folder()
    file = np.load(folder / "data" / "kws01_eval_500.npz")
    real = (file["x"].astype(np.float32) - file["input_zero_point"]) * file["input_scale"]
    real, labels = real.astype(np.float32), file["y"].astype(np.int64)
    path = folder / "models" / "mlperf_dscnn_kws.onnx"
    check_accuracy(path, real[:100], real[100:], labels[100:])


@pytest.mark.data
def test_a_public_quantized_file_computes_what_onnx_says():
    folder = needed_data_folder()
    codes = np.load(folder / "data" / "kws01_eval_500.npz")["x"][:40]
    check_codes(folder / "models" / "mlperf_dscnn_kws_int8_qdq.onnx", codes)
