"""`FloatModel`: files and memory, batches, element types, errors."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from quant_samples import residual_network, samples

from edgec.base.errors import ConfigError, ImportModelError, InternalError
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.float_model import BATCH_SAMPLES, FloatModel, TensorInfo


def adder(batch: int | str | None, kind: int = TensorProto.FLOAT, width: int = 3):
    """y = x + x, y2 = sum over the samples of a run."""
    x = helper.make_tensor_value_info("x", kind, [batch, width])
    y = helper.make_tensor_value_info("y", kind, [batch, width])
    total = helper.make_tensor_value_info("total", kind, [width])
    nodes = [
        helper.make_node("Add", ["x", "x"], ["y"]),
        helper.make_node("ReduceSum", ["x", "axes"], ["total"], keepdims=0),
    ]
    axes = helper.make_tensor("axes", TensorProto.INT64, [1], [0])
    graph = helper.make_graph(nodes, "adder", [x], [y, total], [axes])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_fixed_batch_runs_once_a_sample():
    model = FloatModel(adder(1))
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    found = model.run({"x": x})
    np.testing.assert_array_equal(found["y"], 2 * x)
    np.testing.assert_array_equal(found["total"], x)


def test_free_batch_runs_in_batches():
    model = FloatModel(adder("N"))
    assert model.inputs == (TensorInfo("x", (None, 3), "float32"),)
    count = BATCH_SAMPLES + 5
    x = np.ones((count, 3), np.float32)
    found = model.run({"x": x})
    assert found["y"].shape == (count, 3)
    # One total a run shows how many there were.
    assert found["total"].reshape(2, 3)[:, 0].tolist() == [BATCH_SAMPLES, 5]


def test_a_fixed_batch_of_several():
    model = FloatModel(adder(2))
    assert model.run({"x": np.ones((4, 3), np.float32)})["y"].shape == (4, 3)
    with pytest.raises(ConfigError, match="3 samples do not fill batches of 2"):
        model.run({"x": np.ones((3, 3), np.float32)})


def test_wanted_outputs_alone():
    model = FloatModel(adder(1))
    assert model.output_names == ("y", "total")
    assert list(model.run({"x": np.ones((1, 3), np.float32)}, ["total"])) == ["total"]


def test_files_and_memory_and_threads_agree(tmp_path):
    graph = residual_network()
    proto = export_real(graph)
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    data = samples(graph, 5)
    (a,) = FloatModel(proto).run(data).values()
    (b,) = FloatModel(path, threads=2).run(data).values()
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.int32])
def test_numbers_are_converted_for_float_inputs(dtype):
    model = FloatModel(adder(1))
    found = model.run({"x": np.full((1, 3), 2, dtype)})["y"]
    assert found.dtype == np.float32
    assert found.tolist() == [[4.0, 4.0, 4.0]]


def test_integer_inputs_take_their_own_type_alone():
    model = FloatModel(adder(1, TensorProto.INT32))
    assert model.inputs[0].dtype == "int32"
    assert not model.inputs[0].is_float
    assert model.run({"x": np.ones((1, 3), np.int32)})["y"].tolist() == [[2, 2, 2]]
    with pytest.raises(ConfigError, match=r"array of float32 .*\n.*int32 \[N, 3\]"):
        model.run({"x": np.ones((1, 3), np.float32)})


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "no array for this input"),
        ({"z": np.ones((1, 3))}, "no input 'z'"),
        ({"x": np.ones((1, 4))}, r"shape \[1, 4\] does not fit"),
        ({"x": np.ones(3)}, r"shape \[3\] does not fit"),
        ({"x": np.ones((0, 3))}, "no samples"),
        ({"x": np.array([["a", "b", "c"]])}, "does not fit"),
    ],
)
def test_bad_inputs(inputs, message):
    with pytest.raises(ConfigError, match=message):
        FloatModel(adder(1)).run(inputs)


def test_files_that_are_no_models(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not a model" * 100)
    with pytest.raises(ImportModelError, match="onnxruntime cannot load"):
        FloatModel(path)
    with pytest.raises(ImportModelError, match="onnxruntime cannot load"):
        FloatModel(tmp_path / "missing.onnx")


def test_failures_at_run_time_are_reported():
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "M"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    shape = helper.make_tensor("shape", TensorProto.INT64, [2], [7, 5])
    node = helper.make_node("Reshape", ["x", "shape"], ["y"])
    graph = helper.make_graph([node], "reshaper", [x], [y], [shape])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(InternalError, match="reshaper: onnxruntime failed"):
        FloatModel(proto).run({"x": np.ones((2, 3), np.float32)})
