"""`edgec quantize --qonnx` as users call it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from loop_models import cell
from onnx import TensorProto, helper
from pooled_models import save, small_network
from quantized_loops import RECURRENT

from edgec.cli.app import run_app

DOMAIN = "qonnx.custom_op.general"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.npz"
    np.savez(path, x=np.random.default_rng(4).normal(size=(24, 8, 8, 3)).astype(np.float32))
    return path


def written(model: Path, data: Path, out: Path, *more: str) -> onnx.ModelProto:
    command = ["quantize", str(model), "--calibration", str(data), *more, "-o", str(out)]
    assert run_app(command) == 0
    return onnx.load(out)


def sources(model: Path, folder: Path) -> list[bytes]:
    """Generated C."""
    build = ["compile", str(model), "--board", "nucleo", "--no-build", "-o", str(folder)]
    assert run_app(build) == 0
    found = [each.read_bytes() for each in sorted(folder.rglob("src/*.c"))]
    assert found
    return found


def test_the_firmware_is_that_of_the_qdq_file(data: Path, tmp_path: Path):
    model = save(small_network(), tmp_path / "small.onnx")
    for name, more in (("qdq", ()), ("qonnx", ("--qonnx",)), ("again", ("--qonnx",))):
        (tmp_path / name).mkdir()
        file = written(model, data, tmp_path / name / "net.onnx", *more)
        quantizers = [node.domain == DOMAIN for node in file.graph.node].count(True)
        linear = [node.op_type.endswith("izeLinear") for node in file.graph.node].count(True)
        assert (quantizers > 10, linear > 10) == (bool(more), not more)
        assert [o.version for o in file.opset_import if o.domain == DOMAIN] == [1] * bool(more)
    files = [tmp_path / name / "net.onnx" for name in ("qdq", "qonnx", "again")]
    assert files[1].read_bytes() == files[2].read_bytes()
    assert sources(files[0], tmp_path / "a") == sources(files[1], tmp_path / "b")


def test_an_input_of_bytes_stays_one(tmp_path: Path):
    """The codes go in: a DequantizeLinear of ONNX makes them real."""
    weight = np.random.default_rng(5).normal(size=(16, 6)).astype(np.float32)
    nodes = [
        helper.make_node("Cast", ["x"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["real", "w"], ["y"], name="dense"),
    ]
    graph = helper.make_graph(
        nodes,
        "bytes",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 6])],
        [onnx.numpy_helper.from_array(weight, "w")],
    )
    model, data = tmp_path / "bytes.onnx", tmp_path / "data.npz"
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), model)
    np.savez(data, x=np.random.default_rng(6).integers(0, 256, (24, 16)).astype(np.uint8))
    (tmp_path / "qdq").mkdir()
    written(model, data, tmp_path / "qdq" / "net.onnx")
    file = written(model, data, tmp_path / "net.onnx", "--qonnx")
    assert file.graph.input[0].type.tensor_type.elem_type == TensorProto.UINT8
    kinds = [node.op_type for node in file.graph.node]
    assert kinds.count("DequantizeLinear") == 1
    assert kinds.count("Quant") == 3  # weights, bias, output
    first, second = tmp_path / "qdq" / "net.onnx", tmp_path / "net.onnx"
    assert sources(first, tmp_path / "a") == sources(second, tmp_path / "b")


def test_element_types_of_integers_are_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    model, out = save(small_network(), tmp_path / "small.onnx"), tmp_path / "out.onnx"
    command = ["quantize", str(model), "--calibration", str(data), "-o", str(out)]
    assert run_app([*command, "--qonnx", "--weight-types", "int4"]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert message.count("error:") == 1
    assert "QONNX stores weights as float32" in message
    assert not out.exists()


def test_a_loop_is_refused_before_it_is_quantized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    model, out = tmp_path / "loop.onnx", tmp_path / "out.onnx"
    onnx.save(cell(), model)
    assert run_app(["quantize", str(model), "--qonnx", "-o", str(out)]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert message.count("error:") == 1
    assert "tensors within a loop of the network are quantized" in message
    assert "no calibration data" not in message
    assert not out.exists()


def test_few_bits_in_a_loop_are_refused_before_they_are_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    model, out = tmp_path / "loop.onnx", tmp_path / "out.onnx"
    onnx.save(cell(width=64, units=64), model)
    assert run_app(["compress", str(model), "--bits", "4", "--qonnx", "-o", str(out)]) == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert "tensors within a loop of the network are quantized" in printed
    assert "deciding layers" not in printed
    assert not out.exists()


def test_a_recurrent_operator_keeps_its_place(tmp_path: Path):
    """It computes in float; its inputs, weights and outputs have quantizers."""
    model, out = tmp_path / "gru.onnx", tmp_path / "out.onnx"
    onnx.save(RECURRENT["gru"](), model)
    assert run_app(["quantize", str(model), "--qonnx", "-o", str(out)]) == 0
    kinds = [node.op_type for node in onnx.load(out).graph.node]
    assert kinds.count("GRU") == 1
    assert kinds.count("Quant") == 9
    assert "QuantizeLinear" not in kinds
