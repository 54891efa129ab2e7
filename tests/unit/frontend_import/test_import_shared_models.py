"""The real networks of ../shared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import random_feeds, run

from edgec.exporters.onnx.export import export_real
from edgec.importers.onnx.importer import import_model
from edgec.importers.onnx.summary import inspect_model
from edgec.ir.infer import total_macs
from edgec.ir.verify import Stage, verify

MODELS = Path(__file__).parents[4] / "shared" / "models"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not there"),
]
MACS = {
    "mlperf_resnet8_cifar10": 12_501_632,
    "mlperf_resnet8_cifar10_int8_qdq": 12_501_632,
    "mlperf_dscnn_kws": 2_656_768,
    "mlperf_dscnn_kws_int8_qdq": 2_656_768,
    "mlperf_mobilenetv1_025_vww96": 7_489_664,
    "mlperf_mobilenetv1_025_vww96_int8_qdq": 7_489_664,
    "mlperf_autoencoder_toycar": 264_192,
    "mlperf_autoencoder_toycar_int8_qdq": 264_192,
    "mcunet_vww80_float": 11_578_816,
    "resnet20_cifar10": 40_551_040,
    "resnet20_cifar10_torch_raw": 40_551_040,
}


@pytest.mark.parametrize("name", MACS)
def test_network_equals_onnxruntime(name):
    path = MODELS / f"{name}.onnx"
    graph = import_model(path)
    verify(graph, Stage.REAL, "import")
    assert total_macs(graph) == MACS[name]
    summary = inspect_model(path)
    assert summary.supported
    assert summary.macs == MACS[name]
    feeds = random_feeds(graph)
    expected = run(onnx.load(path), feeds)
    for found, wanted in zip(run(export_real(graph), feeds), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_raw_export_is_the_same_network():
    raw, clean = (
        import_model(MODELS / f"{name}.onnx")
        for name in ("resnet20_cifar10_torch_raw", "resnet20_cifar10")
    )
    assert [n.attrs for n in raw.nodes] == [n.attrs for n in clean.nodes]
    arrays = [[g.constants[i].array for n in g.nodes for i in n.inputs if i in g.constants]
              for g in (raw, clean)]  # fmt: skip
    assert all(np.array_equal(a, b) for a, b in zip(*arrays, strict=True))


@pytest.mark.parametrize("name", ["mlperf_resnet8_cifar10_int8_qdq", "mlperf_dscnn_kws_int8_qdq"])
def test_quantized_weights_stay_integer(name):
    graph = import_model(MODELS / f"{name}.onnx")
    weights = [graph.constants[n.inputs[1]] for n in graph.nodes if n.op in ("Conv", "Gemm")]
    assert all(w.quant is not None and w.dtype.value == "int8" for w in weights)
    (name,) = graph.inputs
    assert graph.values[name].dtype.value == "int8"
    assert graph.values[name].quant is not None
