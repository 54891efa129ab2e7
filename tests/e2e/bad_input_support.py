"""What the bad-input tests share: running the command line, small models, snapshots of folders."""

import hashlib
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from edgec.base.resources import data_dir
from edgec.cli.app import run_app

EXAMPLES = data_dir("examples")
MLP = EXAMPLES / "digits_mlp.onnx"
RESNET = EXAMPLES / "digits_resnet.onnx"
CALIBRATION = EXAMPLES / "digits_calibration.npz"
TEST_DATA = EXAMPLES / "digits_test.npz"

# Exit codes that mean "your input", as edgec.base.errors has them; 70 (a bug) is never right.
INPUT_ERRORS = range(2, 11)


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str


def edgec(capsys: pytest.CaptureFixture[str], *arguments: object) -> Done:
    """Run the command line in this process."""
    capsys.readouterr()
    code = run_app([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return Done(code, captured.out, captured.err)


def edgec_process(*arguments: object, before: str = "") -> subprocess.Popen[str]:
    """Start the command line as a process of its own; `before` is Python run first in it."""
    script = f"{textwrap.dedent(before)}\nfrom edgec.__main__ import main\nmain()"
    return subprocess.Popen(
        [sys.executable, "-c", script, *(str(argument) for argument in arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_one_message(done: Done, *words: str, code: int | None = None) -> None:
    """One clear message, nothing on stdout, an exit code of the user's own errors."""
    assert done.code in INPUT_ERRORS if code is None else done.code == code, done
    assert done.out == ""
    # What noise made of the firmware's own errors is quoted, indented.
    errors = sum(line.startswith("error: ") for line in done.err.splitlines())
    assert errors == 1, done.err
    assert "Traceback" not in done.err
    assert "bug of edgec" not in done.err
    assert len(done.err) < 4000
    # Control characters in names must not reach the terminal.
    assert all(char == "\n" or char.isprintable() for char in done.err), repr(done.err)
    for word in words:
        assert word.lower() in done.err.lower(), done.err


def snapshot(folder: Path) -> dict[str, str]:
    """Every file below a folder, and everything beside it, with its digest."""
    return {
        str(path.relative_to(folder.parent)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else ""
        for path in sorted(folder.parent.rglob("*"))
    }


def constant(name: str, array: object, dtype: str = "float32") -> TensorProto:
    return numpy_helper.from_array(np.asarray(array, dtype), name)


def model_of(
    nodes: Sequence[onnx.NodeProto],
    constants: Sequence[TensorProto] = (),
    *,
    input_shape: Sequence[int | str] = (1, 4),
    output: str = "y",
    input_name: str = "x",
    graph_name: str = "g",
) -> onnx.ModelProto:
    """A model with one float input and one float output of the same rank."""
    graph = helper.make_graph(
        nodes,
        graph_name,
        [helper.make_tensor_value_info(input_name, TensorProto.FLOAT, input_shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [None] * len(input_shape))],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def gemm_model(weights: object, *, bias: object = (0, 0, 0)) -> onnx.ModelProto:
    """A 4-to-3 fully connected layer."""
    node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="fc", transB=1)
    return model_of([node], [constant("w", weights), constant("b", bias)])


def good_weights() -> np.ndarray:
    return np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def saved(model: onnx.ModelProto, folder: Path) -> Path:
    """Write without onnx's own checks: the models are wrong on purpose."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path
