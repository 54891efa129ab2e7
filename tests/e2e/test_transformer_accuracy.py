"""The trained ViT of ../shared, all in integers, beside its float form on CIFAR-10."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from batched_integer import run_batch

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions, QuantOptions, Residual
from edgec.floatrun.float_model import FloatModel
from edgec.ir.graph import Graph
from edgec.quant import sqnr_db
from edgec.workflow.integer import integer_model

SHARED = Path(__file__).resolve().parents[3] / "shared"
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
CALIBRATION = 96
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (SHARED / "models").is_dir(), reason="../shared is not there"),
]


def images(name: str, count: int) -> tuple[Array, Array]:
    """Normalised images float32 [count, 3, 32, 32] and labels of a part of CIFAR-10."""
    pytest.importorskip("PIL", reason="needs Pillow: pip install pillow")
    from shared_data import cifar_part

    part = cifar_part(SHARED / "data", name, count)
    normal = (part.x / 255.0 - np.array(MEAN)) / np.array(STD)
    return normal.transpose(0, 3, 1, 2).astype(np.float32), part.y


@pytest.fixture(scope="module")
def calibration() -> Array:
    return images("cifar10_train_0", CALIBRATION)[0]


def quantized(
    name: str, calibration: Array, residual: Residual = Residual.INT16
) -> tuple[FloatModel, Graph]:
    path = SHARED / "models" / f"{name}.onnx"
    options = CompileOptions(quant=QuantOptions(residual=residual))
    model = integer_model(path, {"input": calibration}, options)
    return FloatModel(path), model.integer


def logits(graph: Graph, x: Array) -> Array:
    """Real logits of the integer graph; x float32 [N, 3, 32, 32]."""
    codes = graph.quant("input").quantize(x.transpose(0, 2, 3, 1))
    parts = [run_batch(graph, {"input": codes[i : i + 50]}) for i in range(0, len(codes), 50)]
    return graph.quant("logits").dequantize(np.concatenate([part["logits"] for part in parts]))


@pytest.mark.parametrize("name", ["vit_tiny_cifar10", "vit_tiny_cifar10_opset17"])
def test_integer_vit_agrees_with_float(name, calibration):
    model, graph = quantized(name, calibration)
    x, _ = images("cifar10_train_1", 100)
    wanted, found = model.run({"input": x})["logits"], logits(graph, x)
    assert sqnr_db(wanted, found) > 32
    assert np.mean(wanted.argmax(1) == found.argmax(1)) >= 0.97


@pytest.mark.slow
def test_integer_vit_is_within_half_a_point_of_float(calibration):
    model, graph = quantized("vit_tiny_cifar10", calibration)
    x, y = images("cifar10_test_5000", 5000)
    wanted = np.mean(model.run({"input": x})["logits"].argmax(1) == y)
    assert wanted == pytest.approx(0.8208, abs=0.001)
    assert abs(np.mean(logits(graph, x).argmax(1) == y) - wanted) <= 0.005


@pytest.mark.slow
def test_int8_stream_is_within_a_point_of_float(calibration):
    model, graph = quantized("vit_tiny_cifar10", calibration, Residual.INT8)
    x, y = images("cifar10_test_5000", 1000)
    wanted = np.mean(model.run({"input": x})["logits"].argmax(1) == y)
    assert np.mean(logits(graph, x).argmax(1) == y) >= wanted - 0.01
