"""Zeros among the weights of a graph, and `edgec inspect`, which reports them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from edgec.cli.inspect import print_inspection
from edgec.commands.inspect import inspect
from edgec.ir.sparsity import _pattern
from edgec.report.console import Console


@pytest.mark.parametrize(
    ("rows", "pattern"),
    [
        ([[1, 0, 0, 0, 0, 0, 7, 0]], "1:4"),
        ([[1, 0, 2, 0, 0, 0, 7, 3]], "2:4"),
        ([[1, 2, 3, 0, 0, 4, 0, 0]], "4:8"),
        ([[1, 2, 3, 0, 5, 4, 0, 0]], ""),
        ([[1, 0, 2]], ""),
        ([[1, 0, 2, 0, 9]], "2:4"),
    ],
)
def test_rules_that_zeros_keep(rows: list[list[int]], pattern: str) -> None:
    assert _pattern(np.array(rows, np.int8)) == pattern


def _dense(path: Path, keeps: int) -> Path:
    """A product with a matrix of which `keeps` of each four neighbours are not zero."""
    weights = np.random.default_rng(3).uniform(0.5, 1.0, (16, 64)).astype(np.float32)
    weights.reshape(-1, 4)[:, keeps:] = 0.0
    node = helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])
    graph = helper.make_graph([node], "dense", [x], [y], [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


@pytest.mark.parametrize(
    ("keeps", "line"), [(2, "50% of 1,024 weights are zero; 1 layer 2:4"), (4, "")]
)
def test_inspect_reports_many_zeros(keeps: int, line: str, tmp_path: Path, capsys) -> None:
    found = inspect(_dense(tmp_path / "dense.onnx", keeps))
    (layer,) = found.zeros
    assert (layer.weights, layer.zeros) == (1024, 1024 - 256 * keeps)
    assert found.to_json()["zeros"][0]["pattern"] == ("2:4" if keeps == 2 else "")
    console = Console(width=120)
    print_inspection(found, console)
    said = [each for each in capsys.readouterr().out.splitlines() if "weights are zero" in each]
    assert [each.strip() for each in said] == ([line] if line else [])
