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
from parity import check_host

from edgec.base.dtypes import DType
from edgec.base.errors import (
    ConfigError,
    ImportModelError,
    QuantizationError,
    UnsupportedModelError,
)
from edgec.base.options import CompileOptions, Observer, Precision, QuantOptions
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


def dense(mean: float = 0.0) -> onnx.ModelProto:
    """Two matrix products; the weights of the first have this mean."""
    constants = {
        "w": RNG.normal(mean, size=(24, 70)).astype(F), "b": RNG.normal(size=24).astype(F),
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
    assert {value.dtype for value in built.integer.values.values()} == {DType.INT16}
    assert any("weights of 16 bits" in note for note in built.notes) is (
        weights is QuantType.QInt16
    )
    few = integer_model(path, None, CompileOptions(quant=QuantOptions(precision=Precision.INT8)))
    assert {value.dtype for value in few.integer.values.values()} == {DType.INT8}
    assert decibels(few, path, x) > 35.0
    # Weights of 16 bits are quantized again, to 8.
    assert decibels(built, path, x) > (42.0 if weights is QuantType.QInt16 else 70.0)


@pytest.mark.parametrize("weights", [QuantType.QInt4, QuantType.QUInt4])
def test_weights_of_4_bits(weights, tmp_path):
    """Without sign they have a zero point, and codes less that need not have 4 bits."""
    path, x = tmp_path / "q.onnx", RNG.normal(size=(32, 70)).astype(F)
    quantize_static(
        save(dense(mean=1.0), tmp_path), path, _Samples(x), quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QInt8, weight_type=weights,
    )  # fmt: skip
    built = integer_model(path, None, CompileOptions())
    large, small = select_kernels(built.integer, Target.of(load_board("host")))
    assert isinstance(large.spec, PackedFilters) is (weights is QuantType.QInt4)
    assert not isinstance(small.spec, PackedFilters), "it is too small for that"
    weight = next(c for c in built.imported.constants.values() if c.shape == (24, 70))
    if weights is QuantType.QInt4:  # symmetric around zero: -8 may not occur
        assert weight.array.max() == 7 and weight.array.min() >= -8
    else:
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


def layers(pins: Mapping[str, tuple[float, int | np.generic]]) -> onnx.ModelProto:
    """Two products; tensors by name with the scale and zero point of their codes, real outside."""
    constants: dict[str, np.ndarray] = {"w_s": F(0.02)}
    nodes = []
    for name, shape in {"w": (12, 20), "v": (6, 12)}.items():
        constants[f"{name}_q"] = RNG.integers(-127, 128, shape).astype(np.int8)
        nodes.append(N("DequantizeLinear", [f"{name}_q", "w_s"], [name]))

    def coded(name: str, output: str) -> None:
        scale, zero = pins[name]
        constants[f"{name}_s"], constants[f"{name}_z"] = np.array(scale, F), np.array(zero)
        numbers = [f"{name}_s", f"{name}_z"]
        nodes.append(N("QuantizeLinear", [name, *numbers], [f"{name}_q"]))
        nodes.append(N("DequantizeLinear", [f"{name}_q", *numbers], [output]))

    coded("x", "xd")
    nodes.append(N("Gemm", ["xd", "w"], ["h"], transB=1))
    coded("h", "hd")
    nodes.append(N("Gemm", ["hd", "v"], ["g"], transB=1))
    coded("g", "y")
    return model_of(nodes, {"x": (1, 20)}, constants, opset=21)


@pytest.mark.parametrize("wide", ["x", "h", "g", "xh", "hg"])
def test_one_tensor_has_16_bits(wide, tmp_path):
    """Its neighbours keep the int8 codes that the file gives them, and no rule of 16x8 files."""
    steps = {"x": 4.0, "h": 20.0, "g": 80.0}
    pins = {
        name: (most / 32767, np.int16(0)) if name in wide else (most / 127, np.int8(0))
        for name, most in steps.items()
    }
    path, x = save(layers(pins), tmp_path), RNG.uniform(-3, 3, (32, 20)).astype(F)
    built = integer_model(path, None, CompileOptions())
    graph = built.integer
    made = dict(zip("xhg", (graph.inputs[0], *(node.output for node in graph.nodes)), strict=True))
    for name, own in made.items():
        value = graph.values[own]
        assert value.dtype is (DType.INT16 if name in wide else DType.INT8), name
        assert graph.quant(own).tensor_scale == pytest.approx(pins[name][0], rel=1e-6)
    assert [node.op for node in graph.nodes] == ["QGemm", "QGemm"]
    model = onnx.load(path)
    wanted = np.concatenate([run(model, {"x": one[None]})[0] for one in x])
    codes = [run_graph(graph, {"x": graph.quant("x").quantize(one[None])})["y"] for one in x]
    steps = np.abs(np.concatenate(codes) - wanted / np.float64(pins["g"][0]))
    # A code of h on the border between two moves g by half a weight.
    assert steps.max() < (1.5 if wide in ("xh", "h", "x") else 40.0) and np.median(steps) < 0.6
    check_host(graph, tmp_path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (QuantOptions(precision=Precision.INT16), "--precision: the model brings the ranges"),
        (QuantOptions(precision=Precision.AUTO), "--precision: the model brings the ranges"),
        (QuantOptions(observer=Observer.MINMAX), "--observer: the model brings the ranges"),
    ],
)
def test_options_without_effect_are_refused_as_for_codes_of_8_bits(options, said, tmp_path):
    pins = {"x": (0.03, np.int8(0)), "h": (20 / 32767, np.int16(0)), "g": (0.6, np.int8(0))}
    path, data = save(layers(pins), tmp_path), {"x": RNG.normal(size=(32, 20)).astype(F)}
    with pytest.raises(ConfigError, match=said):
        integer_model(path, data, CompileOptions(quant=options))


@pytest.mark.parametrize("precision", [None, *Precision])
def test_a_file_that_pins_one_tensor_is_calibrated_beside_it(precision, tmp_path):
    """The Relu that follows is part of the layer; the file's range is kept, whatever is asked."""
    constants = {
        "w": RNG.normal(size=(12, 20)).astype(F), "v": RNG.normal(size=(6, 12)).astype(F),
        "s": F(40 / 32767), "z": np.int16(0),
    }  # fmt: skip
    nodes = [
        N("Gemm", ["x", "w"], ["h"], transB=1),
        N("QuantizeLinear", ["h", "s", "z"], ["q"]),
        N("DequantizeLinear", ["q", "s", "z"], ["d"]),
        N("Relu", ["d"], ["r"]),
        N("Gemm", ["r", "v"], ["y"], transB=1),
    ]
    path = save(model_of(nodes, {"x": (1, 20)}, constants, opset=21), tmp_path)
    data = RNG.normal(size=(64, 20)).astype(F)
    options = CompileOptions(quant=QuantOptions(precision=precision))
    built = integer_model(path, {"x": data}, options)
    (r,) = (node.output for node in built.integer.nodes if "Gemm:h" in node.sources)
    assert built.integer.values[r].dtype is (
        DType.INT8 if precision is Precision.INT8 else DType.INT16
    )
    # Inputs and outputs have the ranges of these samples: types are tested here, not estimates.
    assert decibels(built, path, data) > 25.0


def test_codes_of_16_bits_that_the_program_reads(tmp_path):
    """As they are where their zero point is 0; others would be other numbers."""
    s, z = {"s": F(0.1)}, N("QuantizeLinear", ["x", "s", "z"], ["y"])
    signed, around = (
        model_of([z], {"x": (1, 8)}, {**s, "z": np.int16(zero)}, opset=21,
                 output_type=TensorProto.INT16)
        for zero in (0, 5)
    )  # fmt: skip
    graph = integer_model(save(signed, tmp_path), None, CompileOptions()).integer
    (y,) = graph.outputs
    assert (graph.values[y].dtype, graph.quant(y).tensor_scale) == (DType.INT16, float(F(0.1)))
    with pytest.raises(QuantizationError, match="the output has codes of 16 bits around"):
        integer_model(save(around, tmp_path), None, CompileOptions())
    unsigned = model_of([z], {"x": (1, 8)}, {**s, "z": np.uint16(0)}, opset=21,
                        output_type=TensorProto.UINT16)  # fmt: skip
    with pytest.raises(ImportModelError, match="unsigned codes of 16 bits"):
        imported(unsigned, tmp_path)


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
