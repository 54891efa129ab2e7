"""A model with more inputs than protocol.h provides for by itself: its firmware runs."""

import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import saved
from onnx import TensorProto, helper

import edgec
from edgec.base.resources import data_dir
from edgec.codegen.project import PROTOCOL_INPUTS

INPUTS = 20


def sum_of_inputs(count: int) -> onnx.ModelProto:
    """`y` is the sum of all inputs: float32 [1, 4] each."""
    shape = [1, 4]
    sums = ["x0", *(f"s{i}" for i in range(1, count - 1)), "y"]
    nodes = [helper.make_node("Add", [sums[i - 1], f"x{i}"], [sums[i]]) for i in range(1, count)]
    inputs = [
        helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, shape) for i in range(count)
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_default_is_that_of_the_header() -> None:
    header = (data_dir("firmware") / "app" / "console" / "protocol.h").read_text("utf-8")
    assert re.findall(r"#define PROTOCOL_MAX_INPUTS (\d+)U", header) == [str(PROTOCOL_INPUTS)]


def test_firmware_takes_all_inputs(tmp_path: Path) -> None:
    if shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-system-arm") is None:
        pytest.skip("arm-none-eabi-gcc or qemu-system-arm is not installed")
    samples = {
        f"x{i}": np.random.default_rng(i).normal(size=(8, 4)).astype(np.float32)
        for i in range(INPUTS)
    }
    model = saved(sum_of_inputs(INPUTS), tmp_path)
    result = edgec.compile_model(model, "mps2_an385", calibration=samples, out=tmp_path / "out")
    checks = {check.what: check for check in result.report.checks}
    assert not checks["emulator"].skipped
    host, emulator = (result.run(samples, on=on) for on in ("host", "emulator"))
    assert isinstance(host, dict) and isinstance(emulator, dict)
    np.testing.assert_array_equal(host["y"], emulator["y"])
