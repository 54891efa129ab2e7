"""A transformer as an ONNX file: inspected, quantized on the way to C, not written as QDQ."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from small_transformers import NETS, inputs_of

from edgec.base.errors import QuantizationError
from edgec.base.options import CompileOptions
from edgec.cli.app import run_app
from edgec.commands.inspect import inspect
from edgec.commands.quantize import quantize_model
from edgec.exporters.onnx.export import export_real
from edgec.ir import qops
from edgec.workflow.integer import integer_model


def saved(name: str, folder: Path) -> Path:
    path = folder / f"{name}.onnx"
    onnx.save(export_real(NETS[name]()), path)
    return path


@pytest.mark.parametrize("name", ["vit", "post_norm"])
def test_a_file_becomes_an_integer_graph(name, tmp_path):
    data = inputs_of(NETS[name](), 16)
    model = integer_model(saved(name, tmp_path), data, CompileOptions())
    assert model.annotated is None
    assert model.macs_in_file > 0
    assert {"QNorm", "QAttention"} <= {node.op for node in model.integer.nodes}
    for tensor, array in model.calibration.items():
        assert array.dtype == (np.float32 if data[tensor].dtype == np.float32 else np.int32)
    dump = CompileOptions(dump_ir=tmp_path / "dump")
    integer_model(saved(name, tmp_path), data, dump)
    numbers = sorted(path.name[:2] for path in (tmp_path / "dump").iterdir())
    assert len(set(numbers)) == len(numbers)


def test_the_option_of_the_stream_reaches_the_code(tmp_path, capsys):
    np.savez(tmp_path / "data.npz", **inputs_of(NETS["vit"](), 16))
    model, arenas = saved("vit", tmp_path), {}
    for residual in ("int16", "int8"):
        arguments = ["compile", str(model), "--board", "host", "--residual", residual, "--json"]
        arguments += ["--calibration", str(tmp_path / "data.npz"), "--no-build"]
        assert run_app([*arguments, "--out", str(tmp_path / residual)]) == 0
        arenas[residual] = json.loads(capsys.readouterr().out)["memory"]["arena_bytes"]
    assert arenas["int8"] < arenas["int16"]


def test_a_transformer_is_inspected(tmp_path):
    found = inspect(saved("vit", tmp_path))
    assert found.summary.supported
    assert found.live_macs is not None


def test_qdq_is_refused(tmp_path):
    data = inputs_of(NETS["vit"](), 4)
    with pytest.raises(QuantizationError, match="QDQ") as caught:
        quantize_model(saved("vit", tmp_path), tmp_path / "out.onnx", calibration=data)
    assert "compile" in (caught.value.hint or "")
    assert not (tmp_path / "out.onnx").exists()


def test_the_stream_is_the_only_wide_tensor(tmp_path):
    model = integer_model(saved("vit", tmp_path), inputs_of(NETS["vit"](), 8), CompileOptions())
    for node in model.integer.nodes:
        wide = model.integer.values[node.output].dtype.size_bytes == 2
        inside = isinstance(node.attrs, qops.QGemm | qops.QConv) and node.attrs.residual
        moves = node.op in ("QReshape", "QConcat")
        assert not wide or inside or moves
