"""Files that onnxruntime has optimized: its joined nodes become the operators of ONNX."""

# ruff: noqa: E501  (a table of cases, one a line)

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from import_models import N, assert_executed, imported, model_of, random_feeds, run
from onnx import helper

from edgec.base.dtypes import Array
from edgec.base.errors import UnsupportedModelError
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.ops import UnaryKind
from edgec.passes.base import run_passes
from edgec.passes.pipeline import REAL_PASSES

RNG = np.random.default_rng(21)
OURS = "com.microsoft"
IMAGE, TOKENS = (1, 3, 6, 6), (1, 5, 8)


def f(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


W = {"w": f(4, 3, 3, 3), "b": f(4)}
SCALE = {"g": f(8), "b": f(8)}

# name -> (operator, shapes of inputs, constants, attributes, names of inputs, names of outputs)
CASES = {
    "conv": ("FusedConv", {"x": IMAGE}, W, {"activation": "Relu"}, "x w b", "y"),
    "conv without": ("FusedConv", {"x": IMAGE}, W, {}, "x w b", "y"),
    "conv leaky": ("FusedConv", {"x": IMAGE}, W, {"activation": "LeakyRelu", "activation_params": [0.2]}, "x w", "y"),
    "conv clip": ("FusedConv", {"x": IMAGE}, W, {"activation": "Clip", "activation_params": [-1.0, 2.0]}, "x w b", "y"),
    "conv hard": ("FusedConv", {"x": IMAGE}, W, {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]}, "x w b", "y"),
    "conv sum": ("FusedConv", {"x": IMAGE, "z": (1, 4, 4, 4)}, W, {"activation": "Relu"}, "x w b z", "y"),
    "gemm": ("FusedGemm", {"x": (1, 8)}, {"w": f(8, 4), "b": f(4)}, {"activation": "Relu"}, "x w b", "y"),
    "gemm leaky": ("FusedGemm", {"x": (1, 8)}, {"w": f(4, 8), "b": f(4)}, {"transB": 1, "activation": "LeakyRelu", "activation_alpha": 0.2}, "x w b", "y"),
    "gemm elu": ("FusedGemm", {"x": (1, 8)}, {"w": f(8, 4)}, {"activation": "Elu", "activation_alpha": 0.5}, "x w", "y"),
    "gemm selu": ("FusedGemm", {"x": (1, 8)}, {"w": f(8, 4)}, {"activation": "Selu", "activation_alpha": 1.5, "activation_gamma": 0.9}, "x w", "y"),
    "gemm hard": ("FusedGemm", {"x": (1, 8)}, {"w": f(8, 4)}, {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4}, "x w", "y"),
    "gemm softplus": ("FusedGemm", {"x": (1, 8)}, {"w": f(8, 4)}, {"activation": "Softplus"}, "x w", "y"),
    "gemm softsign": ("FusedGemm", {"x": (1, 8)}, {"w": f(8, 4)}, {"activation": "Softsign"}, "x w", "y"),
    "gemm threshold": ("FusedGemm", {"x": (1, 8)}, {"w": f(8, 4)}, {"activation": "ThresholdedRelu", "activation_alpha": 0.7}, "x w", "y"),
    "matmul": ("FusedMatMul", {"x": TOKENS, "z": TOKENS}, {}, {"transB": 1, "alpha": 0.25}, "x z", "y"),
    "matmul first": ("FusedMatMul", {"x": TOKENS, "z": (1, 5, 4)}, {}, {"transA": 1}, "x z", "y"),
    "matmul batch": ("FusedMatMul", {"x": (5, 2, 3, 8), "z": (2, 3, 8, 4)}, {}, {"transBatchA": 1}, "x z", "y"),
    "matmul both": ("FusedMatMul", {"x": (8, 2, 3, 5), "z": (4, 2, 3, 8)}, {}, {"transBatchA": 1, "transA": 1, "transBatchB": 1, "transB": 1, "alpha": 0.5}, "x z", "y"),
    "conv hard swish": ("FusedConv", {"x": IMAGE}, W, {"activation": "HardSwish"}, "x w b", "y"),
    "matmul plain": ("FusedMatMul", {"x": TOKENS}, {"w": f(8, 3)}, {"alpha": 2.0}, "x w", "y"),
    "gelu": ("Gelu", {"x": TOKENS}, {}, {}, "x", "y"),
    "bias gelu": ("BiasGelu", {"x": TOKENS}, SCALE, {}, "x b", "y"),
    "fast gelu": ("FastGelu", {"x": TOKENS}, {}, {}, "x", "y"),
    "fast gelu bias": ("FastGelu", {"x": TOKENS}, SCALE, {}, "x b", "y"),
    "quick gelu": ("QuickGelu", {"x": TOKENS}, {}, {}, "x", "y"),
    "quick gelu alpha": ("QuickGelu", {"x": TOKENS}, {}, {"alpha": 1.0}, "x", "y"),
    "skip": ("SkipLayerNormalization", {"x": TOKENS, "z": TOKENS}, SCALE, {"epsilon": 0.01}, "x z g b", "y"),
    "skip bias": ("SkipLayerNormalization", {"x": TOKENS, "z": TOKENS}, {**SCALE, "c": f(8)}, {}, "x z g b c", "y  s"),
    "skip sum": ("SkipLayerNormalization", {"x": TOKENS, "z": TOKENS}, SCALE, {}, "x z g  ", "y  s"),
    "simplified": ("SkipSimplifiedLayerNormalization", {"x": TOKENS, "z": TOKENS}, SCALE, {}, "x z g", "y  s"),
}  # fmt: skip


def model(name: str, opset: int = 17) -> onnx.ModelProto:
    op, inputs, constants, attributes, read, made = CASES[name]
    outputs = made.split(" ")
    outputs = [outputs[0], "", "", outputs[-1]] if len(outputs) > 1 else outputs
    node = N(op, read.split(" "), outputs, domain=OURS, **attributes)
    used = {key: array for key, array in constants.items() if key in read.split(" ")}
    found = model_of([node], inputs, used, outputs=[o for o in outputs if o], opset=opset)
    found.opset_import.append(helper.make_opsetid(OURS, 1))
    return found


@pytest.mark.parametrize("opset", [13, 17, 18])
@pytest.mark.parametrize("name", CASES)
def test_joined_nodes(name: str, opset: int, tmp_path: Path) -> None:
    assert_same(model(name, opset), tmp_path)


def assert_same(found: onnx.ModelProto, folder: Path) -> Graph:
    graph = imported(found, folder)
    feeds = random_feeds(graph)
    assert_executed(graph, feeds, run(found, feeds))
    return run_passes(graph, REAL_PASSES).graph


FUNCTIONS = {
    "gelu": UnaryKind.GELU,
    "fast gelu": UnaryKind.GELU_TANH,
    "quick gelu": UnaryKind.SWISH,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_become_one_operator(name: str, tmp_path: Path) -> None:
    (node,) = assert_same(model(name), tmp_path).nodes
    assert isinstance(node.attrs, ops.Unary)
    assert node.attrs.kind is FUNCTIONS[name]


@pytest.mark.parametrize("opset", [13, 17, 18])
def test_norms_become_one_operator(opset: int, tmp_path: Path) -> None:
    nodes = assert_same(model("skip", opset), tmp_path).nodes
    assert [node.op for node in nodes] == ["Add", "LayerNormalization"]
    nodes = assert_same(model("simplified", opset), tmp_path).nodes
    assert [node.op for node in nodes] == ["Add", "RMSNormalization"]


def optimized(found: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """The model as onnxruntime writes it, without the layouts of this processor."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    onnxruntime.InferenceSession(found.SerializeToString(), options)
    return onnx.load(folder / "optimized.onnx")


def network(opset: int) -> onnx.ModelProto:
    """Part of a transformer, whose products, GELU and norms onnxruntime joins."""
    numbers: Mapping[str, Array] = {"two": np.float32(2**0.5), "one": np.float32(1)}
    numbers = {
        **numbers,
        "half": np.float32(0.5),
        "w": f(8, 16),
        "v": f(16, 8),
        **SCALE,
        "c": f(16),
    }
    nodes = [
        N("Transpose", ["x"], ["t"], perm=[0, 2, 1]), N("MatMul", ["x", "t"], ["l"]),
        N("Mul", ["l", "half"], ["m"]), N("Softmax", ["m"], ["p"], axis=2), N("MatMul", ["p", "x"], ["a"]),
        N("MatMul", ["a", "w"], ["h"]), N("Add", ["h", "c"], ["i"]),
        N("Div", ["i", "two"], ["d"]), N("Erf", ["d"], ["e"]), N("Add", ["e", "one"], ["q"]),
        N("Mul", ["i", "q"], ["r"]), N("Mul", ["r", "half"], ["s"]),
        N("MatMul", ["s", "v"], ["o"]), N("Add", ["o", "x"], ["u"]),
        N("LayerNormalization", ["u", "g", "b"], ["y"]),
    ]  # fmt: skip
    return model_of(nodes, {"x": TOKENS}, numbers, opset=opset)


FOUND = ["Attention", "Gemm", "Unary", "Gemm", "Add", "LayerNormalization"]


def test_a_file_that_onnxruntime_wrote(tmp_path: Path) -> None:
    written = optimized(network(17), tmp_path)
    assert {"Gelu", "FusedMatMul", "SkipLayerNormalization"} <= {
        n.op_type for n in written.graph.node
    }
    graph = assert_same(written, tmp_path)
    assert [node.op for node in graph.nodes] == FOUND


@pytest.mark.parametrize("op", ["LayerNormalization", "SimplifiedLayerNormalization"])
def test_norms_before_onnx_had_them(op: str, tmp_path: Path) -> None:
    """Onnxruntime puts them into ONNX's own domain, whatever the opset."""
    names = ["x", "g", "b"] if op == "LayerNormalization" else ["x", "g"]
    found = model_of(
        [N(op, names, ["y"])], {"x": TOKENS}, {n: SCALE[n] for n in names[1:]}, opset=12
    )
    (node,) = assert_same(found, tmp_path).nodes
    assert node.op == op.replace("Simplified", "RMS").replace("RMSLayer", "RMS")


def test_a_pool_of_images_whose_channels_come_last(tmp_path: Path) -> None:
    nodes = [
        N("QuantizeLinear", ["x", "s", "z"], ["q"]),
        N("NhwcMaxPool", ["q"], ["p"], domain=OURS, kernel_shape=[2, 2], strides=[2, 2]),
        N("DequantizeLinear", ["p", "s", "z"], ["y"]),
    ]
    constants = {"s": np.float32(0.05), "z": np.int8(0)}
    found = model_of(nodes, {"x": (1, 6, 6, 3)}, constants)
    found.opset_import.append(helper.make_opsetid(OURS, 1))
    graph = imported(found, tmp_path)
    feeds = random_feeds(graph)
    assert_executed(graph, feeds, run(found, feeds))


def test_layouts_of_one_processor_are_refused(tmp_path: Path) -> None:
    node = N("Conv", ["x", "w"], ["y"], domain="com.microsoft.nchwc")
    found = model_of([node], {"x": IMAGE}, W)
    found.opset_import.append(helper.make_opsetid("com.microsoft.nchwc", 1))
    with pytest.raises(UnsupportedModelError, match="optimized the model for one processor"):
        imported(found, tmp_path)


@pytest.mark.parametrize(
    ("op", "attributes", "outputs"),
    [
        ("FusedConv", {"activation": "Unheard"}, ["y"]),
        ("SkipLayerNormalization", {}, ["y", "mean"]),
    ],
)
def test_forms_that_are_not_known(op: str, attributes, outputs, tmp_path: Path) -> None:
    node = N(op, ["x", "x", "g"], outputs, domain=OURS, **attributes)
    found = model_of([node], {"x": TOKENS}, SCALE)
    found.opset_import.append(helper.make_opsetid(OURS, 1))
    with pytest.raises(UnsupportedModelError, match="onnxruntime alone"):
        imported(found, tmp_path)
