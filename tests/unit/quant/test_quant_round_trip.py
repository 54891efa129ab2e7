"""A QDQ file that edgec wrote comes back as the same integer graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import tf_networks
from data_folder import needed_data_folder
from own_networks import CONVOLUTIONAL, OWN_NETWORKS
from quant_samples import branches, perceptron, residual_network, samples, upsampler

from edgec.base.options import QuantOptions
from edgec.exporters.onnx.export import export_qdq
from edgec.importers.onnx.importer import import_model
from edgec.interp import run_graph
from edgec.ir.graph import Graph
from edgec.passes import REAL_PASSES, run_passes
from edgec.quant import CalibrationSource, annotate, to_integer


def reimported(annotated: Graph, folder: Path) -> Graph:
    """Through a file and the importer, as an integer graph."""
    path = folder / "model.onnx"
    onnx.save(export_qdq(annotated), path)
    real = run_passes(import_model(path), REAL_PASSES).graph
    again, report = annotate(real, None, QuantOptions())
    assert report.source is CalibrationSource.NONE
    return to_integer(again)


def assert_same(first: Graph, second: Graph) -> None:
    """Same operators, numbers and wiring in the same order; only names may differ."""
    assert [n.op for n in first.nodes] == [n.op for n in second.nodes]
    renamed = dict(zip(first.inputs, second.inputs, strict=True))
    for a, b in zip(first.nodes, second.nodes, strict=True):
        assert a.attrs == b.attrs, f"{a.name} / {b.name}"
        for x, y in zip(a.inputs, b.inputs, strict=True):
            if x in first.constants:
                np.testing.assert_array_equal(first.constants[x].array, second.constants[y].array)
            else:
                assert renamed[x] == y
        renamed[a.output] = b.output
        assert first.values[a.output].quant == second.values[b.output].quant
        assert first.values[a.output].shape == second.values[b.output].shape
    assert [renamed[name] for name in first.outputs] == list(second.outputs)


@pytest.mark.parametrize(
    "graph",
    [residual_network(), branches(), perceptron(), upsampler(1)],
    ids=["residual", "branches", "perceptron", "upsampler"],
)
@pytest.mark.parametrize("channels_first", [False, True])
def test_generated_networks(graph, channels_first, tmp_path):
    (x,) = graph.inputs
    if channels_first and len(graph.shape(x)) == 4:
        graph = graph.replace(input_layouts={x: (0, 2, 3, 1)})
    data = samples(graph, 8)
    annotated, _ = annotate(graph, data, QuantOptions())
    before, after = to_integer(annotated), reimported(annotated, tmp_path)
    for i in range(8):
        codes = before.quant(x).quantize(data[x][i : i + 1])
        (mine,) = (run_graph(before, {x: codes})[n] for n in before.outputs)
        shape = after.shape(after.inputs[0])
        moved = codes if codes.shape == shape else codes.transpose(0, 3, 1, 2)
        (theirs,) = (run_graph(after, {after.inputs[0]: moved})[n] for n in after.outputs)
        np.testing.assert_array_equal(mine.reshape(-1), theirs.reshape(-1))


def test_the_same_graph_up_to_names(tmp_path):
    graph = perceptron()
    annotated, _ = annotate(graph, samples(graph, 8), QuantOptions())
    assert_same(to_integer(annotated), reimported(annotated, tmp_path))


def check_round_trip(path: Path, folder: Path) -> None:
    real = run_passes(import_model(path), REAL_PASSES).graph
    annotated, _ = annotate(real, samples(real, 2), QuantOptions())
    assert_same(to_integer(annotated), reimported(annotated, folder))


@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_own_networks(name, tmp_path):
    check_round_trip(OWN_NETWORKS[name], tmp_path)


@pytest.mark.parametrize("quantized", [False, True], ids=["real", "quantized"])
@pytest.mark.parametrize("name", tf_networks.NETWORKS)
def test_tensorflow_networks(name, quantized, tmp_path):
    check_round_trip(tf_networks.save_written(name, tmp_path, quantized=quantized), tmp_path)


@pytest.mark.few_cases(4)
@pytest.mark.data
@pytest.mark.parametrize(
    "model",
    [
        "mlperf_resnet8_cifar10",
        "resnet20_cifar10",
        "mlperf_dscnn_kws",
        "mlperf_mobilenetv1_025_vww96",
        "mlperf_autoencoder_toycar",
        "mcunet_vww80_float",
        "mlperf_resnet8_cifar10_int8_qdq",
        "mlperf_dscnn_kws_int8_qdq",
        "mlperf_mobilenetv1_025_vww96_int8_qdq",
        "mlperf_autoencoder_toycar_int8_qdq",
    ],
)
def test_public_networks(model, tmp_path):
    check_round_trip(needed_data_folder() / "models" / f"{model}.onnx", tmp_path)
