"""Whole networks by onnxruntime's static quantizer, in all its formats, through integers.

A file that onnxruntime fused for a processor is the Q/DQ file in the QOperator format: the same
scales, other operators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from import_models import N, model_of, run, save
from onnx import numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.quant.common.report import Cause
from edgec.workflow.integer import IntegerModel, integer_model
from edgec.workflow.quality import advice

F = np.float32
S8, U8 = QuantType.QInt8, QuantType.QUInt8
TYPES: dict[str, dict[str, Any]] = {
    "s8s8": {"activation_type": S8, "weight_type": S8},
    "u8s8": {"activation_type": U8, "weight_type": S8},
    "u8u8": {"activation_type": U8, "weight_type": U8, "extra_options": {"WeightSymmetric": True}},
    "per channel": {"activation_type": S8, "weight_type": S8, "per_channel": True},
    "reduced": {"activation_type": U8, "weight_type": S8, "reduce_range": True},
}


class Samples(CalibrationDataReader):
    """Feeds, one at a time."""

    def __init__(self, feeds: list[dict[str, Array]]) -> None:
        self._rest: Iterator[dict[str, Array]] = iter(feeds)

    def get_next(self) -> Mapping[str, Array] | None:
        return next(self._rest, None)


def residual_network() -> onnx.ModelProto:
    """As MLPerf's ResNet-8: a residual block, one with a shortcut, an average and a product."""
    rng = np.random.default_rng(5)
    nodes, constants = [], {}

    def conv(x: str, y: str, filters: int, depth: int, kernel: int, stride: int = 1) -> str:
        shape = (filters, depth, kernel, kernel)
        spread = (2.0 / (depth * kernel * kernel)) ** 0.5
        constants[f"{y}w"] = (rng.normal(size=shape) * spread).astype(F)
        constants[f"{y}b"] = rng.normal(size=filters).astype(F) * F(0.1)
        nodes.append(
            N("Conv", [x, f"{y}w", f"{y}b"], [y], pads=[kernel // 2] * 4, strides=[stride] * 2)
        )
        return y

    def relu(x: str) -> str:
        nodes.append(N("Relu", [x], [f"{x}r"]))
        return f"{x}r"

    a = relu(conv("x", "a", 8, 3, 3))
    b = conv(relu(conv(a, "b", 8, 8, 3)), "c", 8, 8, 3)
    nodes.append(N("Add", [b, a], ["d"]))
    d = relu("d")
    e = conv(relu(conv(d, "e", 16, 8, 3, 2)), "f", 16, 16, 3)
    nodes.append(N("Add", [e, conv(d, "g", 16, 8, 1, 2)], ["h"]))
    nodes.append(N("GlobalAveragePool", [relu("h")], ["i"]))
    return _with_head(nodes, constants, "i", 16)


def separable_network() -> onnx.ModelProto:
    """As MLPerf's DS-CNN: a tall window, two depthwise and pointwise pairs, a product."""
    rng = np.random.default_rng(6)
    nodes, constants, x = [], {}, "x"
    for y, (filters, depth, kernel, group) in {
        "a": (16, 3, 3, 1), "b": (16, 1, 3, 16), "c": (16, 16, 1, 1),
        "d": (16, 1, 3, 16), "e": (16, 16, 1, 1),
    }.items():  # fmt: skip
        shape = (filters, depth, kernel, kernel)
        spread = (2.0 / (depth * kernel * kernel)) ** 0.5
        constants[f"{y}w"] = (rng.normal(size=shape) * spread).astype(F)
        constants[f"{y}b"] = rng.normal(size=filters).astype(F) * F(0.1)
        inputs = [x, f"{y}w", f"{y}b"]
        nodes.append(N("Conv", inputs, [y], pads=[kernel // 2] * 4, group=group))
        nodes.append(N("Relu", [y], [f"{y}r"]))
        x = f"{y}r"
    nodes.append(N("GlobalAveragePool", [x], ["i"]))
    return _with_head(nodes, constants, "i", 16)


def _with_head(nodes: list[Any], constants: dict[str, Array], x: str, depth: int) -> Any:
    rng = np.random.default_rng(7)
    constants["v"] = rng.normal(size=(10, depth)).astype(F)
    nodes += [N("Flatten", [x], ["flat"]), N("Gemm", ["flat", "v"], ["y"], transB=1)]
    return model_of(nodes, {"x": (1, 3, 10, 10)}, constants, opset=17)


NETWORKS = {"residual": residual_network, "separable": separable_network}


def images(seed: int, count: int) -> list[dict[str, Array]]:
    rng = np.random.default_rng(seed)
    return [{"x": rng.normal(size=(1, 3, 10, 10)).astype(F)} for _ in range(count)]


def quantized(network: str, types: str, kind: QuantFormat, folder: Path) -> Path:
    path = folder / "q.onnx"
    source = save(NETWORKS[network](), folder)
    feeds = Samples(images(1, 16))
    quantize_static(source, path, feeds, quant_format=kind, **TYPES[types])
    return path


def fused(path: Path) -> tuple[Path, Counter[str]]:
    """The same quantization in `QLinear` operators, and how many of each there are."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path.with_name("fused.onnx"))
    ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    found = path.with_name("fused.onnx")
    return found, Counter(node.op_type for node in onnx.load(found).graph.node)


def real_outputs(built: IntegerModel, feeds: list[dict[str, Array]]) -> Array:
    """What the integer network says, in real numbers [N, ...]."""
    graph, found = built.integer, []
    (output,) = graph.outputs
    for feed in feeds:
        codes = {}
        for name in graph.inputs:
            value = graph.values[name]
            x = feed[name].transpose(graph.input_layouts.get(name, range(feed[name].ndim)))
            wide = value.quant is None
            codes[name] = x.astype(np.int32) if wide else value.quant.quantize(x)
        found.append(graph.quant(output).dequantize(run_graph(graph, codes)[output]))
    return np.stack(found)


@pytest.mark.parametrize("types", ["u8s8", "u8u8", "reduced"])
@pytest.mark.parametrize("network", NETWORKS)
def test_both_formats_of_one_quantization_are_one_network(
    network: str, types: str, tmp_path: Path
) -> None:
    path = quantized(network, types, QuantFormat.QDQ, tmp_path)
    other, operators = fused(path)
    assert operators["QLinearConv"] == sum(n.op_type == "Conv" for n in onnx.load(path).graph.node)
    assert operators["QLinearAdd"] == 2 * (network == "residual")
    samples = images(2, 4)
    both = [real_outputs(integer_model(p, None, CompileOptions()), samples) for p in (path, other)]
    np.testing.assert_array_equal(*both)


@pytest.mark.few_cases(7)
@pytest.mark.parametrize("kind", [QuantFormat.QDQ, QuantFormat.QOperator])
@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_codes_are_those_of_onnxruntime(
    network: str, types: str, kind: QuantFormat, tmp_path: Path
) -> None:
    """Equal codes, but for sums of floats that onnxruntime rounds the other way."""
    path = quantized(network, types, kind, tmp_path)
    built, samples = integer_model(path, None, CompileOptions()), images(3, 8)
    found, model = real_outputs(built, samples), onnx.load(path)
    wanted = np.stack([run(model, feed)[0] for feed in samples]).reshape(found.shape)
    step = built.integer.quant(built.integer.outputs[0]).tensor_scale
    codes = np.rint(np.abs(found - wanted) / step)
    assert codes.max() <= 1
    assert np.mean(codes > 0) <= 0.05
    np.testing.assert_array_equal(found.argmax(-1), wanted.argmax(-1))


def token_network() -> onnx.ModelProto:
    """Embeddings of tokens and positions, a norm, a layer with a residual, and a head."""
    rng = np.random.default_rng(9)
    shapes = {"words": (20, 16), "places": (1, 9, 16), "w": (16, 16), "v": (16, 10)}
    constants = {n: rng.normal(size=s).astype(F) for n, s in shapes.items()}
    constants |= {"gain": np.ones(16, F), "shift": np.zeros(16, F)}
    nodes = [
        N("Gather", ["words", "ids"], ["rows"]),
        N("Add", ["rows", "places"], ["a"]),
        N("LayerNormalization", ["a", "gain", "shift"], ["n"], axis=-1),
        N("MatMul", ["n", "w"], ["m"]),
        N("Relu", ["m"], ["r"]),
        N("Add", ["r", "a"], ["h"]),
        N("MatMul", ["h", "v"], ["y"]),
    ]
    ids = onnx.TensorProto.INT64
    return model_of(nodes, {"ids": (1, 9)}, constants, opset=17, input_type=ids)


def tokens(seed: int, count: int) -> list[dict[str, Array]]:
    rng = np.random.default_rng(seed)
    return [{"ids": rng.integers(0, 20, (1, 9))} for _ in range(count)]


@pytest.mark.parametrize("types", ["s8s8", "u8s8", "per channel"])
def test_a_quantized_table_of_token_embeddings_keeps_its_scale(types: str, tmp_path: Path) -> None:
    path = tmp_path / "q.onnx"
    source = save(token_network(), tmp_path)
    feeds = Samples(tokens(1, 16))
    quantize_static(source, path, feeds, quant_format=QuantFormat.QDQ, **TYPES[types])
    built, samples = integer_model(path, None, CompileOptions()), tokens(2, 6)
    found, model = real_outputs(built, samples), onnx.load(path)
    wanted = np.stack([run(model, feed)[0] for feed in samples]).reshape(found.shape)
    noise = float(((found - wanted) ** 2).sum())
    assert 10 * np.log10(float((wanted**2).sum()) / noise) > 35.0


def test_rows_of_codes_that_are_dequantized_afterwards(tmp_path: Path) -> None:
    """As the dynamic quantization of onnxruntime writes an embedding."""
    rng = np.random.default_rng(4)
    constants = {
        "rows": rng.integers(0, 255, (20, 8)).astype(np.uint8), "s": F(0.02), "z": np.uint8(131),
        "w": rng.integers(-100, 100, (8, 6)).astype(np.int8), "ws": F(0.01), "wz": np.int8(0),
        "ys": F(0.1), "yz": np.int8(5),
    }  # fmt: skip
    nodes = [
        N("Gather", ["rows", "ids"], ["codes"]),
        N("DequantizeLinear", ["codes", "s", "z"], ["e"]),
        N("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        N("MatMul", ["e", "v"], ["m"]),
        N("QuantizeLinear", ["m", "ys", "yz"], ["q"]),
        N("DequantizeLinear", ["q", "ys", "yz"], ["y"]),
    ]
    model = model_of(nodes, {"ids": (1, 9)}, constants, opset=17, input_type=onnx.TensorProto.INT64)
    built = integer_model(save(model, tmp_path), None, CompileOptions())
    feeds = [{"ids": rng.integers(0, 20, (1, 9))} for _ in range(3)]
    wanted = np.stack([run(model, feed)[0] for feed in feeds])
    np.testing.assert_allclose(real_outputs(built, feeds), wanted, atol=1e-6)


@pytest.mark.parametrize("kind", [QuantFormat.QDQ, QuantFormat.QOperator])
def test_the_relu_that_the_quantizer_drops_is_in_what_integers_are_compared_with(
    kind: QuantFormat, tmp_path: Path
) -> None:
    """onnxruntime drops a Relu before codes that begin at zero."""
    path = quantized("residual", "per channel", kind, tmp_path)
    assert "Relu" not in {node.op_type for node in onnx.load(path).graph.node}
    samples = np.concatenate([feed["x"] for feed in images(1, 16)])
    report = integer_model(path, {"x": samples}, CompileOptions()).quantization
    assert min(layer.sqnr_db for layer in report.layers) > 25.0
    assert report.decisions is not None and report.decisions.equal == 16


def test_a_layer_whose_codes_are_too_coarse_is_named(tmp_path: Path) -> None:
    """A file that comes quantized says where it loses: here one tensor has 16 levels in use."""
    path = quantized("residual", "per channel", QuantFormat.QDQ, tmp_path)
    model = onnx.load(path)
    layer = [node for node in model.graph.node if node.op_type == "Conv"][1]
    (coder,) = (node for node in model.graph.node if layer.output[0] in node.input)
    for scale in model.graph.initializer:
        if scale.name == coder.input[1]:
            scale.CopyFrom(numpy_helper.from_array(16 * numpy_helper.to_array(scale), scale.name))
    onnx.save(model, path)
    built = integer_model(
        path, {"x": np.concatenate([feed["x"] for feed in images(1, 16)])}, CompileOptions()
    )
    worst = max(built.quantization.losses, key=lambda loss: loss.noise)
    assert worst.why is Cause.LEVELS and worst.sources == (f"Conv:{layer.output[0]}",)
    assert worst.noise > 0.5 * sum(loss.noise for loss in built.quantization.losses)
    # The output is good all the same.
    assert advice(worst, built.integer, built.quantization, built.settings) == ""
