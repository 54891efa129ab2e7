"""Files of the QOperator format: the same network as the QDQ file of the same quantization."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import N, imported, model_of, run, save
from onnx import TensorProto, helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)

from edgec.base.options import CompileOptions
from edgec.floatrun.executor import Executor
from edgec.interp import run_graph
from edgec.workflow.checks import check_inputs
from edgec.workflow.integer import integer_model

RNG = np.random.default_rng(11)
F = np.float32
X = ["x", "xs", "xz"]
Z = ["zs", "zz"]
SCALES = {"xs": F(0.05), "ws": F(0.02), "zs": F(0.11)}
CONV = {"w": (4, 3, 3, 3), "b": (4,)}
IMAGE = (1, 3, 6, 6)

CASES = {
    "QLinearConv": (
        [*X, "w", "ws", "wz", *Z, "b"], {"pads": [1, 1, 1, 1]}, IMAGE, CONV
    ),
    "QLinearConv per channel": (
        [*X, "w", "many", "zeros", *Z, "b"], {"strides": [2, 2]}, IMAGE, CONV
    ),
    "QLinearMatMul": ([*X, "w", "ws", "wz", *Z], {}, (1, 5, 6), {"w": (6, 4)}),
    "QLinearMatMul per column": (
        [*X, "w", "many", "zeros", *Z], {}, (1, 5, 6), {"w": (6, 4)}
    ),
    "QGemm": (
        [*X, "w", "ws", "wz", "b", *Z], {"transB": 1}, (1, 6), {"w": (4, 6), "b": (4,)}
    ),
    "QGemm of real output": (
        [*X, "w", "many", "zeros", "b"], {"alpha": 0.5}, (1, 6), {"w": (6, 4), "b": (4,)}
    ),
    "QLinearAdd": ([*X, "w", "ws", "wz", *Z], {}, (1, 3, 4), {"w": (3, 4)}),
    "QLinearMul": ([*X, "w", "ws", "wz", *Z], {}, (1, 3, 4), {"w": (3, 4)}),
    "QLinearGlobalAveragePool": ([*X, *Z], {}, IMAGE, {}),
    "QLinearAveragePool": ([*X, *Z], {"kernel_shape": [2, 2]}, IMAGE, {}),
    "QLinearConcat": (
        [*Z, *X, "w", "ws", "wz"], {"axis": 1}, (1, 3, 4), {"w": (1, 2, 4)}
    ),
    "QLinearSigmoid": ([*X, "half", "low"], {}, (1, 9), {}),
    "QLinearLeakyRelu": ([*X, *Z], {"alpha": 0.2}, (1, 9), {}),
    "QLinearReduceMean": ([*X, *Z], {"axes": [2, 3], "keepdims": 0}, IMAGE, {}),
    "QLinearSoftmax": ([*X, "small", "low"], {"axis": -1, "opset": 17}, (1, 9), {}),
}  # fmt: skip


def single(case: str, dtype: type) -> onnx.ModelProto:
    """One operator on codes."""
    inputs, attributes, shape, stored = CASES[case]
    op, info = case.split(" ", maxsplit=1)[0], np.iinfo(dtype)
    zero = 128 if info.min == 0 else 0
    constants = {
        **SCALES, "half": F(1 / 256), "small": F(1 / 256), "low": dtype(info.min),
        "xz": dtype(zero + 3), "zz": dtype(zero - 5), "wz": dtype(zero),
        "many": np.array([0.01, 0.02, 0.03, 0.04], F), "zeros": np.full(4, zero, dtype),
    }  # fmt: skip
    for name, size in stored.items():
        kind, most = (np.int32, 900) if name == "b" else (dtype, 100)
        least = -most if name == "b" else zero - most
        constants[name] = RNG.integers(least, least + 2 * most, size).astype(kind)
    used = {name: constants[name] for name in inputs if name in constants}
    domain = "" if op in ("QLinearConv", "QLinearMatMul") else "com.microsoft"
    node = N(op, inputs, ["y"], domain=domain, **attributes)
    code = TensorProto.UINT8 if info.min == 0 else TensorProto.INT8
    real = "real output" in case
    model = model_of(
        [node], {"x": shape}, used, opset=17, input_type=code,
        output_type=TensorProto.FLOAT if real else code,
    )  # fmt: skip
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("case", [case for case in CASES if case != "QLinearReduceMean"])
def test_operator_on_codes(case, dtype, tmp_path):
    """onnxruntime rounds some of them differently: a step here and there."""
    model = single(case, dtype)
    info = np.iinfo(dtype)
    x = RNG.integers(info.min, info.max + 1, CASES[case][2]).astype(dtype)
    (wanted,) = run(model, {"x": x})
    graph = imported(model, tmp_path)
    found = Executor(graph, ["y"]).run({"x": x[None]})["y"][0]
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
        return
    steps = np.abs(found.astype(int) - wanted.astype(int))
    assert steps.max() <= 1
    assert (steps > 0).sum() <= max(1, 0.05 * steps.size)


def test_mean_of_codes(tmp_path):
    """QLinearReduceMean, of which onnxruntime has no kernel for this opset."""
    graph = imported(single("QLinearReduceMean", np.int8), tmp_path)
    x = RNG.integers(-128, 128, IMAGE).astype(np.int8)
    found = Executor(graph, ["y"]).run({"x": x[None]})["y"][0]
    mean = (0.05 * (x.astype(float) - 3)).mean(axis=(2, 3))
    np.testing.assert_allclose(found, np.clip(np.round(mean / 0.11) - 5, -128, 127), atol=1)


LAST = ("QLinearConv", "QLinearConv per channel", "QLinearGlobalAveragePool", "QLinearAveragePool")


@pytest.mark.parametrize("case", LAST)
def test_images_whose_channels_come_last(case, tmp_path):
    """As onnxruntime's optimizer leaves them: transposes around, weights as they are."""
    model = single(case, np.int8)
    (node,) = model.graph.node
    x = RNG.integers(-128, 128, IMAGE).astype(np.int8)
    wanted = Executor(imported(model, tmp_path), ["y"]).run({"x": x[None]})["y"][0]
    node.domain = "com.microsoft"
    node.attribute.append(helper.make_attribute("channels_last", 1))
    dims = model.graph.input[0].type.tensor_type.shape.dim
    for dim, size in zip(dims, (1, 6, 6, 3), strict=True):
        dim.dim_value = size
    graph = imported(model, tmp_path)
    found = Executor(graph, ["y"]).run({"x": x.transpose(0, 2, 3, 1)[None]})["y"][0]
    np.testing.assert_array_equal(found.transpose(0, 3, 1, 2), wanted)


class _Samples(CalibrationDataReader):
    def __init__(self, x: np.ndarray) -> None:
        self._rest: Iterator[np.ndarray] = iter(x)

    def get_next(self) -> Mapping[str, np.ndarray] | None:
        sample = next(self._rest, None)
        return None if sample is None else {"x": sample[None]}


def network() -> onnx.ModelProto:
    """Convolutions with a residual, a concatenation, a gate, pooling and a dense layer."""
    sizes = {"w1": (8, 3, 3, 3), "w2": (8, 1, 3, 3), "w3": (6, 16, 1, 1), "w4": (6, 5)}
    constants = {n: (RNG.normal(size=s) / 3).astype(F) for n, s in sizes.items()}
    constants |= {n: RNG.normal(size=s).astype(F) for n, s in (("b1", 8), ("b4", 5))}
    nodes = [
        N("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        N("Relu", ["c1"], ["r1"]),
        N("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1], group=8),
        N("Add", ["c2", "r1"], ["a"]),
        N("Concat", ["a", "r1"], ["j"], axis=1),
        N("MaxPool", ["j"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        N("Conv", ["m", "w3"], ["c3"]),
        N("Sigmoid", ["c3"], ["s"]),
        N("Mul", ["c3", "s"], ["g"]),
        N("GlobalAveragePool", ["g"], ["p"]),
        N("Flatten", ["p"], ["f"]),
        N("Gemm", ["f", "w4", "b4"], ["y"]),
    ]
    return model_of(nodes, {"x": (1, 3, 8, 8)}, constants, opset=17)


@pytest.mark.parametrize("activations", [QuantType.QInt8, QuantType.QUInt8])
@pytest.mark.parametrize("per_channel", [False, True])
def test_qoperator_build_is_the_qdq_build(activations, per_channel, tmp_path: Path):
    """Every number of the integer networks is the same, and onnxruntime agrees with them.

    Weights of 7 bits, as onnxruntime advises for x86-64: without VNNI its integer convolutions
    of uint8 and int8 add pairs of products in int16, which codes of 8 bits overflow.
    """
    source = save(network(), tmp_path)
    x = RNG.normal(size=(16, 3, 8, 8)).astype(F)
    built = []
    for kind in (QuantFormat.QDQ, QuantFormat.QOperator):
        path = tmp_path / f"{kind.name}.onnx"
        quantize_static(
            source, path, _Samples(x), quant_format=kind, per_channel=per_channel,
            activation_type=activations, weight_type=QuantType.QInt8, reduce_range=True,
        )  # fmt: skip
        model = integer_model(path, None, CompileOptions())
        outputs = [run_graph(model.integer, s)["y"] for s in check_inputs(model, 8)]
        built.append((model.integer, np.concatenate(outputs), onnx.load(path)))
    qdq, qoperator = built
    assert {"QLinearConv", "QLinearAdd"} <= {n.op_type for n in qoperator[2].graph.node}
    np.testing.assert_array_equal(qdq[1], qoperator[1])
    assert [n.attrs for n in qdq[0].nodes] == [n.attrs for n in qoperator[0].nodes]
    quant, codes = qdq[0].quant("y"), qdq[0].quant("x").quantize(x.transpose(0, 2, 3, 1))
    for index in range(8):
        ours = quant.dequantize(run_graph(qdq[0], {"x": codes[index : index + 1]})["y"])
        theirs = run(qoperator[2], {"x": x[index : index + 1]})[0]
        assert np.abs(ours - theirs).max() <= 1.01 * quant.tensor_scale
