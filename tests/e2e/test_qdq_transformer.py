"""A transformer that onnxruntime quantized compiles to integers that say what its file says."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)

from edgec.base.dtypes import DType
from edgec.base.errors import EdgecError
from edgec.base.options import CompileOptions
from edgec.commands.compile import CompileResult, compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.interp import run_graph_batch
from edgec.ir import qops
from edgec.ir.qops.chain import unchained
from edgec.workflow.integer import IntegerModel, integer_model

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is missing")


class Samples(CalibrationDataReader):
    """The first calibration images of the digits, one at a time."""

    def __init__(self) -> None:
        x = np.load(EXAMPLES / "digits_calibration.npz")["x"][:64].astype(np.float32)
        self._left = iter([{"x": image[None]} for image in x])

    def get_next(self) -> dict[str, np.ndarray] | None:  # type: ignore[override]
        return next(self._left, None)


def quantized(folder: Path, activations: QuantType) -> Path:
    """The digits ViT as onnxruntime quantizes it: Q/DQ pairs, weights int8 per channel."""
    path = folder / "vit.qdq.onnx"
    quantize_static(
        EXAMPLES / "digits_vit.onnx",
        path,
        Samples(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        weight_type=QuantType.QInt8,
        activation_type=activations,
    )
    return path


@pytest.fixture(scope="module")
def qdq(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quantized(tmp_path_factory.mktemp("qdq"), QuantType.QInt8)


def digits() -> tuple[np.ndarray, np.ndarray]:
    data = np.load(EXAMPLES / "digits_test.npz")
    return data["x"].astype(np.float32), data["y"]


def logits(model: IntegerModel, x: np.ndarray) -> np.ndarray:
    """Codes of the output by the numpy reference; int64 [N, 10]."""
    graph = model.integer
    (name,), (output,) = graph.inputs, graph.outputs
    axes = graph.input_layouts.get(name, tuple(range(x.ndim)))
    codes = graph.quant(name).quantize(x.transpose(axes).astype(np.float64))
    found = run_graph_batch(graph, {name: codes})[output]
    return found.reshape(len(x), -1).astype(np.int64)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("activations", [QuantType.QInt8, QuantType.QUInt8])
def test_it_decides_as_the_file_does(tmp_path: Path, activations: QuantType) -> None:
    path, (x, y) = quantized(tmp_path, activations), digits()
    model = integer_model(path, None, CompileOptions())
    found = logits(model, x)
    wanted = FloatModel(path, optimize=False).run({"x": x})["logits"].reshape(len(x), -1)
    same = np.mean(found.argmax(1) == wanted.argmax(1))
    assert same >= 0.97
    assert abs(np.mean(found.argmax(1) == y) - np.mean(wanted.argmax(1) == y)) <= 0.01


def test_its_tensors_keep_the_codes_of_the_file(qdq: Path) -> None:
    file = onnx.load(qdq)
    numbers = {c.name: onnx.numpy_helper.to_array(c) for c in file.graph.initializer}
    graph = integer_model(qdq, None, CompileOptions()).integer
    norms = [node for node in graph.nodes if isinstance(node.attrs, qops.QNorm)]
    assert len(norms) == 5
    for node in norms:
        (rounding,) = [
            n
            for n in file.graph.node
            if n.op_type == "QuantizeLinear" and n.input[0] == node.output
        ]
        quant = graph.quant(node.output)
        assert quant.tensor_scale == float(numbers[rounding.input[1]])
        assert quant.tensor_zero_point == int(numbers[rounding.input[2]])
        apart, links = unchained(graph, graph.producers[node.first])
        widening = links[-1]
        assert isinstance(widening.attrs, qops.QRescale)
        narrow = apart.quant(widening.first)
        codes = np.arange(-128, 128)
        wide = widening.attrs.output.apply(codes + widening.attrs.bias, widening.attrs.multiplier)
        assert np.array_equal(graph.quant(node.first).dequantize(wide), narrow.dequantize(codes))


@needs_gcc
def test_the_c_code_equals_the_reference(tmp_path: Path, qdq: Path) -> None:
    built: CompileResult = compile_model(qdq, "host", out=tmp_path / "vit")
    x, _ = digits()
    model = integer_model(qdq, None, CompileOptions())
    quant = model.integer.quant(model.integer.outputs[0])
    found = built.run({"x": x[:64]}, on="host")["logits"].reshape(64, -1)
    wanted = quant.dequantize(logits(model, x[:64]))
    assert np.array_equal(np.asarray(found, np.float32), np.asarray(wanted, np.float32))


def test_16_bit_activations_stay_so_where_operators_have_a_form(tmp_path: Path) -> None:
    path = quantized(tmp_path, QuantType.QUInt16)
    model = integer_model(path, None, CompileOptions())
    x, _ = digits()
    wanted = FloatModel(path, optimize=False).run({"x": x[:64]})["logits"]
    quant = model.integer.quant(model.integer.outputs[0])
    found = quant.dequantize(logits(model, x[:64]))
    assert np.mean(found.argmax(-1) == wanted.reshape(found.shape).argmax(-1)) > 0.95
    layers = [node for node in model.integer.nodes if isinstance(node.attrs, qops.QGemm)]
    assert layers
    types = {model.integer.values[node.output].dtype for node in layers}
    assert types == {DType.INT16}, types


def test_what_only_some_tensors_bring_is_asked_for(tmp_path: Path, qdq: Path) -> None:
    """A norm whose input the file leaves in floating point."""
    file = onnx.load(qdq)
    norm = next(n for n in file.graph.node if n.op_type == "LayerNormalization")
    pair = next(n for n in file.graph.node if norm.input[0] in n.output)
    rounding = next(n for n in file.graph.node if pair.input[0] in n.output)
    norm.input[0] = rounding.input[0]
    path = tmp_path / "partly.onnx"
    onnx.save(file, path)
    with pytest.raises(EdgecError, match="not those around this LayerNormalization"):
        integer_model(path, None, CompileOptions())
