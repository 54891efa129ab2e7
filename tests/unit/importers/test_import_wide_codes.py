"""Codes of 16 and 4 bits and scales of blocks, in files that onnxruntime's quantizers write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import N, imported, model_of, run, save
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.matmul_nbits_quantizer import (
    DefaultWeightOnlyQuantConfig,
    MatMulNBitsQuantizer,
)

from edgec.base.errors import ImportModelError, UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph
from edgec.ir.metadata import import_notes
from edgec.kernels.packed.filters.spec import PackedFilters
from edgec.kernels.select import select_kernels
from edgec.target.board import load_board
from edgec.target.target import Target
from edgec.workflow.integer import IntegerModel, integer_model

RNG = np.random.default_rng(8)
F = np.float32


class _Samples(CalibrationDataReader):
    def __init__(self, x: np.ndarray) -> None:
        self._rest: Iterator[np.ndarray] = iter(x)

    def get_next(self) -> Mapping[str, np.ndarray] | None:
        sample = next(self._rest, None)
        return None if sample is None else {"x": sample[None]}


def dense() -> onnx.ModelProto:
    constants = {
        "w": RNG.normal(size=(24, 70)).astype(F), "b": RNG.normal(size=24).astype(F),
        "v": RNG.normal(size=(6, 24)).astype(F),
    }  # fmt: skip
    nodes = [
        N("Gemm", ["x", "w", "b"], ["h"], transB=1),
        N("Relu", ["h"], ["r"]),
        N("Gemm", ["r", "v"], ["y"], transB=1),
    ]
    return model_of(nodes, {"x": (1, 70)}, constants, opset=17)


def decibels(built: IntegerModel, path: Path, x: np.ndarray) -> float:
    """Signal to noise of the integer network against onnxruntime on the same file."""
    graph, model = built.integer, onnx.load(path)
    wanted = np.concatenate([run(model, {"x": one[None]})[0] for one in x])
    codes = [run_graph(graph, {"x": graph.quant("x").quantize(one[None])})["y"] for one in x]
    error = graph.quant("y").dequantize(np.concatenate(codes)) - wanted
    return float(10 * np.log10((wanted**2).sum() / (error**2).sum()))


def before_opset_21(path: Path) -> None:
    """Rewrite a file as it has to be where ONNX has no such codes yet."""
    model = onnx.load(path)
    for node in model.graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            node.domain = "com.microsoft"
    del model.opset_import[:]
    versions = (("", 17), ("com.microsoft", 1))
    model.opset_import.extend(helper.make_opsetid(*version) for version in versions)
    onnx.save(model, path)


@pytest.mark.parametrize("weights", [QuantType.QInt8, QuantType.QInt16])
@pytest.mark.parametrize("activations", [QuantType.QInt16, QuantType.QUInt16])
def test_activations_of_16_bits(activations, weights, tmp_path):
    """Below opset 21 they are operators of onnxruntime's own domain."""
    path, x = tmp_path / "q.onnx", RNG.normal(size=(32, 70)).astype(F)
    quantize_static(
        save(dense(), tmp_path), path, _Samples(x), quant_format=QuantFormat.QDQ,
        activation_type=activations, weight_type=weights,
    )  # fmt: skip
    before_opset_21(path)
    built = integer_model(path, None, CompileOptions())
    assert any("activations of 16 bits" in note for note in built.notes)
    assert any("weights of 16 bits" in note for note in built.notes) is (
        weights is QuantType.QInt16
    )
    assert decibels(built, path, x) > 35.0


@pytest.mark.parametrize("weights", [QuantType.QInt4, QuantType.QUInt4])
def test_weights_of_4_bits(weights, tmp_path):
    path, x = tmp_path / "q.onnx", RNG.normal(size=(32, 70)).astype(F)
    quantize_static(
        save(dense(), tmp_path), path, _Samples(x), quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QInt8, weight_type=weights,
    )  # fmt: skip
    built = integer_model(path, None, CompileOptions())
    large, small = select_kernels(built.integer, Target.of(load_board("host")))
    assert isinstance(large.spec, PackedFilters) is (weights is QuantType.QInt4)
    assert not isinstance(small.spec, PackedFilters), "it is too small for that"
    weight = next(c for c in built.imported.constants.values() if c.shape == (24, 70))
    assert weight.array.max() - weight.array.min() == 15


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(
    ("bits", "kind"),
    [(4, QuantFormat.QDQ), (4, QuantFormat.QOperator), (8, QuantFormat.QOperator)],
)
def test_weights_in_blocks(bits, kind, symmetric, tmp_path):
    """Exactly the weights that onnxruntime computes with; the last block is not full."""
    model = model_of(
        [N("MatMul", ["x", "w"], ["y"])], {"x": (1, 5, 70)},
        {"w": RNG.normal(size=(70, 9)).astype(F)}, opset=21,
    )  # fmt: skip
    settings = DefaultWeightOnlyQuantConfig(
        block_size=32, is_symmetric=symmetric, bits=bits, quant_format=kind
    )
    quantizer = MatMulNBitsQuantizer(model, algo_config=settings)
    quantizer.process()
    quantized = quantizer.model.model
    assert [node.op_type for node in quantized.graph.node] != ["MatMul"]
    graph = imported(quantized, tmp_path)
    x = RNG.normal(size=(1, 5, 70)).astype(F)
    found = Executor(graph, ["y"]).run({"x": x[None]})["y"][0]
    np.testing.assert_allclose(found, run(quantized, {"x": x})[0], rtol=1e-4, atol=1e-4)
    if kind is QuantFormat.QDQ:
        assert any("a scale for each block" in note for note in import_notes(graph))


@pytest.mark.parametrize("zero", ["none", "packed", "real"])
def test_packed_product_with_a_bias(zero, tmp_path):
    blocks, size, rows = 3, 16, 5
    constants = {
        "w": RNG.integers(0, 256, (rows, blocks, size // 2)).astype(np.uint8),
        "s": (0.01 + RNG.random(rows * blocks)).astype(F),
        "b": RNG.normal(size=rows).astype(F),
    }
    if zero == "packed":
        constants["z"] = RNG.integers(0, 256, rows * 2).astype(np.uint8)
    elif zero == "real":
        constants["z"] = RNG.normal(size=(rows, blocks)).astype(F)
    inputs = ["x", "w", "s", "z" if zero != "none" else "", "", "b"]
    node = N("MatMulNBits", inputs, ["y"], domain="com.microsoft", K=45, N=rows, bits=4,
             block_size=size)  # fmt: skip
    model = model_of([node], {"x": (1, 2, 45)}, constants, opset=17)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    graph = imported(model, tmp_path)
    x = RNG.normal(size=(1, 2, 45)).astype(F)
    found = Executor(graph, ["y"]).run({"x": x[None]})["y"][0]
    np.testing.assert_allclose(found, run(model, {"x": x})[0], rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("change", ["short", "bits", "groups"])
def test_damaged_products_are_refused(change, tmp_path):
    constants = {"w": np.zeros((5, 3, 8), np.uint8), "s": np.ones(15, F)}
    if change == "short":
        constants["w"] = constants["w"][:4]
    if change == "groups":
        constants["g"] = np.zeros(45, np.int32)
    inputs = ["x", "w", "s", "", "g"] if change == "groups" else ["x", "w", "s"]
    bits = 3 if change == "bits" else 4
    node = N("MatMulNBits", inputs, ["y"], domain="com.microsoft", K=45, N=5, bits=bits,
             block_size=16)  # fmt: skip
    model = model_of([node], {"x": (1, 45)}, constants, opset=17)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    with pytest.raises(UnsupportedModelError, match="onnxruntime"):
        imported(model, tmp_path)


def test_an_output_of_16_bits_is_refused(tmp_path):
    nodes = [N("QuantizeLinear", ["x", "s", "z"], ["y"])]
    model = model_of(
        nodes, {"x": (1, 8)}, {"s": F(0.1), "z": np.int16(0)}, opset=21,
        output_type=TensorProto.INT16,
    )  # fmt: skip
    with pytest.raises(ImportModelError, match="codes of 16 bits"):
        imported(model, tmp_path)


def test_scales_that_fit_no_blocks(tmp_path):
    model = model_of(
        [N("DequantizeLinear", ["w", "s"], ["d"], axis=0, block_size=4),
         N("MatMul", ["x", "d"], ["y"])],
        {"x": (1, 8)}, {"w": np.ones((8, 3), np.int8), "s": np.ones((3, 3), F)}, opset=21,
    )  # fmt: skip
    with pytest.raises(UnsupportedModelError, match="do not fit blocks of 4"):
        imported(model, tmp_path)
    tensor = numpy_helper.from_array(np.full((2, 3), 0.5, F), "s")
    model.graph.initializer[1].CopyFrom(tensor)
    graph = imported(model, tmp_path)
    assert {constant.dtype.value for constant in graph.constants.values()} == {"float32"}
