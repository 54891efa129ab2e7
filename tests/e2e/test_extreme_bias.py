"""Biases at the edge of int32 in a QDQ model: accumulators never overflow, outputs stay exact."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from edgec.base.options import CompileOptions
from edgec.commands.compile import compile_model

UNITS, DEPTH = 2, 8
REACH = 255 * 127 * DEPTH
"""What the products of a unit may add to its bias."""


def qdq_gemm(bias: int, zero_point: int) -> onnx.ModelProto:
    """y = gemm(x) with weights of 127 and -127; the scale of y is large enough for any bias."""
    weights = np.full((UNITS, DEPTH), 127, np.int8)
    weights[1] = -127
    x_scale, w_scale = np.float32(0.05), np.full(UNITS, 0.01, np.float32)
    arrays = {
        "x": (None, x_scale, np.int8(zero_point)),
        "w": (weights, w_scale, np.zeros(UNITS, np.int8)),
        "b": (np.full(UNITS, bias, np.int32), x_scale * w_scale, np.zeros(UNITS, np.int32)),
        "y": (None, np.float32(1e4), np.int8(0)),
    }
    constants, nodes = [], []
    for name, parts in arrays.items():
        named = zip((name, f"{name}_scale", f"{name}_zero"), parts, strict=True)
        constants += [numpy_helper.from_array(a, key) for key, a in named if a is not None]
        axis = {"axis": 0} if name in "wb" else {}
        inputs = [name, f"{name}_scale", f"{name}_zero"]
        if name != "y":
            nodes.append(helper.make_node("DequantizeLinear", inputs, [f"{name}_real"], **axis))
    nodes.append(helper.make_node("Gemm", ["x_real", "w_real", "b_real"], ["y_real"], transB=1))
    nodes.append(helper.make_node("QuantizeLinear", ["y_real", "y_scale", "y_zero"], ["y"]))
    ports = [
        helper.make_tensor_value_info(name, TensorProto.INT8, [1, size])
        for name, size in (("x", DEPTH), ("y", UNITS))
    ]
    graph = helper.make_graph(nodes, "edge", ports[:1], ports[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.few_cases(5)
@pytest.mark.parametrize("zero_point", [-128, 0, 127])
@pytest.mark.parametrize("bias", [2**31 - 1, -(2**31), 2**31 - 1 - REACH, -(2**31) + REACH, 2**30])
def test_outputs_are_exact(bias: int, zero_point: int, tmp_path: Path):
    onnx.save(qdq_gemm(bias, zero_point), tmp_path / "edge.onnx")
    options = CompileOptions(build=False)
    result = compile_model(tmp_path / "edge.onnx", "host", out=tmp_path / "out", options=options)
    assert [check.skipped for check in result.report.checks] == [""]
    x = np.array([[-128] * DEPTH, [127] * DEPTH, [zero_point] * DEPTH], np.int8)
    found = np.asarray(result.run(x), np.int64)
    products = (x.astype(np.int64) - zero_point) @ np.full((DEPTH, UNITS), (127, -127))
    wanted = np.clip(np.rint((bias + products) * (0.05 * 0.01) / 1e4), -128, 127)
    np.testing.assert_allclose(found, wanted, atol=1)
