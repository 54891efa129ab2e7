"""Functions of tensors without axes, as a loss has them: kernels walk through one element."""

from __future__ import annotations

import numpy as np
import pytest
from import_models import N, model_of
from parity import compiled

from edgec.base.options import CompileOptions
from edgec.interp import run_graph
from edgec.sim.compare import compare_trace
from edgec.sim.host import HostModel
from edgec.workflow.checks import check_inputs
from edgec.workflow.integer import quantized_model, real_model


@pytest.mark.parametrize("op", ["Mul", "Add", "Sub", "Div"])
def test_two_numbers(op, tmp_path):
    nodes = [N("ReduceSum", ["x"], ["a"], keepdims=0), N("ReduceMax", ["x"], ["b"], keepdims=0),
             N(op, ["a", "b"], ["c"]), N("Reshape", ["c", "s"], ["y"])]  # fmt: skip
    path = tmp_path / "model.onnx"
    shape = {"s": np.array([1, 1], np.int64)}
    path.write_bytes(model_of(nodes, {"x": (1, 6)}, shape).SerializeToString())
    data = {"x": np.random.default_rng(3).uniform(0.5, 1, (8, 6)).astype(np.float32)}
    model = quantized_model(real_model(path, data, CompileOptions()), CompileOptions())
    program = compiled(model.integer, tmp_path / "library")
    host = HostModel(tmp_path / "library", tmp_path / "build", flags=("-O0",))
    for sample in check_inputs(model, 4):
        trace = host.trace([sample[name] for name in model.integer.inputs])
        compare_trace(program, run_graph(model.integer, sample), trace)
