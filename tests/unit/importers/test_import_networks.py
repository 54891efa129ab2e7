"""Whole networks as PyTorch and TensorFlow write them: own ones, and public ones where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import tf_networks
from data_folder import needed_data_folder
from import_models import random_feeds, run
from own_networks import OWN_NETWORKS

from edgec.exporters.onnx.export import export_real
from edgec.importers.onnx.importer import import_model, inspect_model
from edgec.ir.graph import Graph
from edgec.ir.infer import total_macs
from edgec.ir.verify import Stage, verify

OWN_MACS = {
    "digits_mlp": 2_368,
    "digits_resnet": 172_016,
    "digits_vit": 320_448,
    "resnet8": 12_501_632,
    "resnet10": 71_746_816,
    "cct": 29_995_968,
}
TF_MACS = {"residual": 1_262_832, "separable": 93_792, "autoencoder": 4_608}
PUBLIC_MACS = {
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


def public(name: str) -> Path:
    return needed_data_folder() / "models" / f"{name}.onnx"


def check(path: Path, macs: int) -> None:
    """Imported, exported again and run: the same outputs, and the known number of products."""
    graph = import_model(path)
    verify(graph, Stage.REAL, "import")
    assert total_macs(graph) == macs
    summary = inspect_model(path)
    assert summary.supported
    assert summary.macs == macs
    feeds = random_feeds(graph)
    for found, wanted in zip(
        run(export_real(graph), feeds), run(onnx.load(path), feeds), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", OWN_MACS)
def test_own_network_equals_onnxruntime(name):
    check(OWN_NETWORKS[name], OWN_MACS[name])


@pytest.mark.parametrize("quantized", [False, True], ids=["real", "quantized"])
@pytest.mark.parametrize("name", TF_MACS)
def test_tensorflow_network_equals_onnxruntime(name, quantized, tmp_path):
    path = tf_networks.save_written(name, tmp_path, quantized=quantized)
    check(path, TF_MACS[name])


@pytest.mark.data
@pytest.mark.parametrize("name", PUBLIC_MACS)
def test_public_network_equals_onnxruntime(name):
    check(public(name), PUBLIC_MACS[name])


@pytest.mark.data
def test_raw_export_is_the_same_network():
    raw, clean = (
        import_model(public(name)) for name in ("resnet20_cifar10_torch_raw", "resnet20_cifar10")
    )
    assert [n.attrs for n in raw.nodes] == [n.attrs for n in clean.nodes]
    arrays = [[g.constants[i].array for n in g.nodes for i in n.inputs if i in g.constants]
              for g in (raw, clean)]  # fmt: skip
    assert all(np.array_equal(a, b) for a, b in zip(*arrays, strict=True))


@pytest.mark.parametrize("name", ["residual", "separable"])
def test_quantized_weights_stay_integer(name, tmp_path):
    check_integer_weights(import_model(tf_networks.save_written(name, tmp_path, quantized=True)))


@pytest.mark.data
@pytest.mark.parametrize("name", ["mlperf_resnet8_cifar10_int8_qdq", "mlperf_dscnn_kws_int8_qdq"])
def test_quantized_weights_of_public_networks_stay_integer(name):
    check_integer_weights(import_model(public(name)))


def check_integer_weights(graph: Graph) -> None:
    weights = [graph.constants[n.inputs[1]] for n in graph.nodes if n.op in ("Conv", "Gemm")]
    assert weights
    assert all(w.quant is not None and w.dtype.value == "int8" for w in weights)
    (name,) = graph.inputs
    assert graph.values[name].dtype.value == "int8"
    assert graph.values[name].quant is not None
