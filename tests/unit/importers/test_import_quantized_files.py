"""Files that other tools quantized, through integers, against onnxruntime on the same file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from exported_transformers import stored
from import_models import run
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.workflow.integer import graph_side, integer_model

RNG = np.random.default_rng(21)
SAMPLES = 16


class _Samples(CalibrationDataReader):
    def __init__(self, name: str, x: Array) -> None:
        self._name, self._rest = name, iter(x)

    def get_next(self) -> Mapping[str, Array] | None:
        sample = next(self._rest, None)
        return None if sample is None else {self._name: sample[None]}


def images(path: Path) -> tuple[str, Array]:
    """The name of the only input, and random samples of it."""
    (info,) = onnx.load(path).graph.input
    shape = [dim.dim_value or 1 for dim in info.type.tensor_type.shape.dim]
    return info.name, RNG.normal(size=(SAMPLES, *shape[1:])).astype(np.float32)


def decibels(path: Path) -> float:
    """Signal to noise of the integer network against onnxruntime without optimizations."""
    name, x = images(path)
    built = integer_model(path, {name: x}, CompileOptions())
    graph, model = built.integer, onnx.load(path)
    real = graph_side(built.imported, graph, {name: x})[name]
    (output,) = graph.outputs
    signal = noise = 0.0
    for index in range(4):
        codes = graph.quant(name).quantize(real[index : index + 1])
        found = graph.quant(output).dequantize(run_graph(graph, {name: codes})[output])
        wanted = run(model, {name: x[index : index + 1]})[0]
        signal += float((wanted**2).sum())
        noise += float(((found.reshape(wanted.shape) - wanted) ** 2).sum())
    return 10.0 * float(np.log10(signal / noise)) if noise else np.inf


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("exporter", ["old-17", "new-20"])
@pytest.mark.parametrize("name", ["deit", "encoder", "swin", "mobilevit"])
def test_transformers_by_the_static_quantization_of_onnxruntime(name, exporter, tmp_path):
    """As the tool leaves them, its pre-processing not asked for: a few tensors have no scale."""
    source, path = stored(name, exporter), tmp_path / "q.onnx"
    quantize_static(
        source, path, _Samples(*images(source)), quant_format=QuantFormat.QDQ, per_channel=True,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip
    assert decibels(path) > 30.0


def test_export_of_pytorch_2_quantization():
    """torchao's prepare_pt2e and convert_pt2e, by torch.onnx.export with dynamo=True.

    It leaves the ends of the network in real numbers: they are calibrated.
    """
    assert decibels(stored("pt2e-cnn", "18")) > 40.0
