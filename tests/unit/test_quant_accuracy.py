"""Real networks keep their accuracy; benchmarks/accuracy.py measures all of them on all data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgec.base.options import QuantOptions
from edgec.exporters.onnx.export import export_qdq
from edgec.floatrun.float_model import FloatModel
from edgec.importers.onnx.importer import import_model
from edgec.interp import run_graph
from edgec.passes import REAL_PASSES, run_passes
from edgec.quant import annotate, sqnr_db, to_integer

pytestmark = pytest.mark.shared
SHARED = Path(__file__).parents[3] / "shared"


@pytest.fixture(scope="module")
def keywords():
    """Keyword spotting: float features, int8 features, labels."""
    path = SHARED / "data" / "kws01_eval_500.npz"
    if not path.exists():
        pytest.skip("the data of ../shared are not there")
    file = np.load(path)
    real = (file["x"].astype(np.float32) - file["input_zero_point"]) * file["input_scale"]
    return real.astype(np.float32), file["x"], file["y"].astype(np.int64)


def outputs(model: FloatModel, x: np.ndarray) -> np.ndarray:
    """The only output for all samples."""
    return model.run({model.input_names[0]: x})[model.output_names[0]]


def test_keyword_spotting_stays_within_half_a_point(keywords):
    real, _, labels = keywords
    path = SHARED / "models" / "mlperf_dscnn_kws.onnx"
    graph = run_passes(import_model(path), REAL_PASSES).graph
    annotated, report = annotate(graph, {graph.inputs[0]: real[:100]}, QuantOptions())
    assert min(layer.sqnr_db for layer in report.layers) > 20
    wanted = outputs(FloatModel(path), real[100:])
    found = outputs(FloatModel(export_qdq(annotated)), real[100:])
    accuracy = [100 * np.mean(y.argmax(axis=1) == labels[100:]) for y in (wanted, found)]
    assert abs(accuracy[0] - accuracy[1]) <= 0.5
    assert np.mean(wanted.argmax(axis=1) == found.argmax(axis=1)) > 0.98
    assert sqnr_db(wanted, found) > 28


def test_a_quantized_file_computes_what_onnxruntime_computes(keywords):
    """Import, pins and integer arithmetic change no output."""
    _, codes, _ = keywords
    path = SHARED / "models" / "mlperf_dscnn_kws_int8_qdq.onnx"
    graph = run_passes(import_model(path), REAL_PASSES).graph
    integer = to_integer(annotate(graph, None, QuantOptions())[0])
    wanted = outputs(FloatModel(path), codes[:40])
    for sample, expected in zip(codes[:40], wanted, strict=True):
        found = run_graph(integer, {integer.inputs[0]: sample[None]})[integer.outputs[0]]
        np.testing.assert_array_equal(found[0], expected)
