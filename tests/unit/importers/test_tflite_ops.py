"""Every TensorFlow Lite operator and form: the graph computes what the interpreter computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_cases import (
    CASES,
    RESIZE,
    built,
    i,
    resized,
    scalar,
)
from tflite_models import Op, T, const, write_tflite
from tflite_oracle import needs_litert
from tflite_same import assert_same

from edgec.base.errors import UnsupportedModelError
from edgec.importers.tflite.importer import import_model
from edgec.importers.tflite.load_tensor import FileModel, FileOperator, FileTensor
from edgec.importers.tflite.registry import HANDLERS, supported_operators
from edgec.importers.tflite.wrapping import without_wrapping

RNG = np.random.default_rng(1)


@needs_litert
@pytest.mark.parametrize("name", CASES)
def test_operators(name: str, tmp_path: Path):
    x = 3.0 * np.random.default_rng(2).normal(size=CASES[name][1])
    assert_same(built(tmp_path, name), {"x": x.astype(np.float32)})


@needs_litert
@pytest.mark.parametrize("name", RESIZE)
def test_resize(name: str, tmp_path: Path):
    x = np.random.default_rng(2).normal(size=(1, 4, 5, 2)).astype(np.float32)
    assert_same(resized(tmp_path, name), {"x": x})


@needs_litert
@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE"])
def test_two_computed_operands(op: str, tmp_path: Path):
    kind = "" if op == "SQUARED_DIFFERENCE" else f"{op.title()}Options"
    tensors = {"x": T((1, 4, 3)), "z": T((1, 1, 3)), "y": T((1,))}
    path = write_tflite(tmp_path / "m", tensors, [Op(op, ["x", "z"], ["y"], kind)], ["x", "z"])
    x, z = (np.random.default_rng(3).uniform(0.5, 2.0, size) for size in ((1, 4, 3), (1, 1, 3)))
    assert_same(path, {"x": x.astype(np.float32), "z": z.astype(np.float32)})


@needs_litert
@pytest.mark.parametrize("op", ["MAXIMUM", "MINIMUM"])
def test_extremes_of_two_computed_tensors(op: str, tmp_path: Path):
    tensors = {"x": T((1, 4, 3)), "z": T((1, 1, 3)), "y": T((1,))}
    path = write_tflite(tmp_path / "m", tensors, [Op(op, ["x", "z"], ["y"])], ["x", "z"])
    rng = np.random.default_rng(3)
    assert_same(path, {n: rng.normal(size=tensors[n].shape).astype(np.float32) for n in "xz"})


@needs_litert
def test_matrices_computed_both(tmp_path: Path):
    tensors = {"x": T((1, 2, 3, 4)), "z": T((1, 2, 5, 4)), "y": T((1,))}
    op = Op("BATCH_MATMUL", ["x", "z"], ["y"], "BatchMatMulOptions", {"AdjY": True})
    path = write_tflite(tmp_path / "m", tensors, [op], ["x", "z"])
    rng = np.random.default_rng(3)
    assert_same(path, {n: rng.normal(size=tensors[n].shape).astype(np.float32) for n in "xz"})


@needs_litert
@pytest.mark.parametrize("transposed", [False, True])
def test_several_constant_matrices(transposed: bool, tmp_path: Path):
    shape = (3, 5, 4) if transposed else (3, 4, 5)
    w = const(np.random.default_rng(4).normal(size=shape).astype(np.float32))
    tensors = {"x": T((1, 3, 2, 4)), "w": w, "y": T((1,))}
    op = Op("BATCH_MATMUL", ["x", "w"], ["y"], "BatchMatMulOptions", {"AdjY": transposed})
    path = write_tflite(tmp_path / "m", tensors, [op])
    x = np.random.default_rng(3).normal(size=(1, 3, 2, 4))
    assert_same(path, {"x": x.astype(np.float32)})


@needs_litert
@pytest.mark.parametrize("op", ["SQRT", "RSQRT", "LOG"])
def test_roots_of_positive_numbers(op: str, tmp_path: Path):
    path = write_tflite(tmp_path / "m", {"x": T((1, 9)), "y": T((1,))}, [Op(op, ["x"], ["y"])])
    assert_same(path, {"x": np.linspace(0.1, 4.0, 9, dtype=np.float32)[None]})


@needs_litert
@pytest.mark.parametrize("op", ["SPLIT", "SPLIT_V", "TOPK_V2", "UNPACK"])
def test_several_outputs(op: str, tmp_path: Path):
    axis = scalar(np.int32(1))
    tensors = {"x": T((1, 4, 3)), "a": axis, "s": i(1, -1), "k": scalar(np.int32(2))}
    inputs, kind, options, count = {
        "SPLIT": (["a", "x"], "SplitOptions", {"NumSplits": 2}, 2),
        "SPLIT_V": (["x", "s", "a"], "SplitVOptions", {"NumSplits": 2}, 2),
        "TOPK_V2": (["x", "k"], "TopKV2Options", {}, 2),
        "UNPACK": (["x"], "UnpackOptions", {"Axis": 2, "Num": 3}, 3),
    }[op]
    outputs = [f"y{number}" for number in range(count)]
    tensors |= {name: T((1,)) for name in outputs}
    if op == "TOPK_V2":
        tensors["y1"] = T((1,), dtype="int32")
    path = write_tflite(
        tmp_path / "m", tensors, [Op(op, inputs, outputs, kind, options)], outputs=outputs
    )
    x = np.random.default_rng(3).normal(size=(1, 4, 3)).astype(np.float32)
    assert_same(path, {"x": x})


def keras_embedding(rows: int, folder: Path) -> Path:
    """An Embedding as Keras writes it: ids below zero count from the end."""
    tensors = {
        "ids": T((1, 5), dtype="int32"),
        **{"zero": scalar(np.int32(0)), "rows": scalar(np.int32(rows))},
        "table": const(RNG.normal(size=(9, 4)).astype(np.float32)),
        **{name: T((1, 5), dtype=kind) for name, kind in (("c", "bool"), ("p", "int32"))},
        **{"k": T((1, 5), dtype="int32"), "y": T((1, 5, 4))},
    }
    ops = [
        Op("LESS", ["ids", "zero"], ["c"]),
        Op("ADD", ["ids", "rows"], ["p"], "AddOptions"),
        Op("SELECT", ["c", "p", "ids"], ["k"]),
        Op("GATHER", ["table", "k"], ["y"], "GatherOptions"),
    ]
    return write_tflite(folder / "m.tflite", tensors, ops, ["ids"])


def test_ids_counted_from_the_end(tmp_path):
    ids = RNG.integers(0, 9, (1, 5)).astype(np.int32)
    graph = assert_same(keras_embedding(9, tmp_path), {"ids": ids})
    assert [node.op for node in graph.nodes] == ["Embedding"]


def test_operators_without_outputs_stay_beside_wrapped_ids():
    """Assignments of variables have none."""
    keep = FileOperator("ASSIGN_VARIABLE", (7, 8), (), "", None)
    ids, rows, zero = 0, 1, 2
    operators = (
        FileOperator("LESS", (ids, zero), (3,), "", None),
        FileOperator("ADD", (ids, rows), (4,), "", None),
        FileOperator("SELECT", (3, 4, ids), (5,), "", None),
        FileOperator("GATHER", (9, 5), (6,), "", None),
        keep,
    )
    numbers = {rows: np.asarray([9], np.int32), zero: np.asarray([0], np.int32)}
    none = np.zeros(0)
    tensors = tuple(
        FileTensor(str(n), (9, 4), (9, 4), "INT32", numbers.get(n), none, none, 0)
        for n in range(10)
    )
    found = without_wrapping(FileModel(tensors, 10, operators, (ids,), (6,)))
    assert [each.op for each in found] == ["GATHER", "ASSIGN_VARIABLE"]
    assert found[0].inputs == (9, ids)


def test_lengths_of_zero_are_not_divided_by(tmp_path):
    tensors = {"x": T((1, 2, 4)), "y": T((1, 2, 4))}
    path = write_tflite(
        tmp_path / "m.tflite", tensors, [Op("L2_NORMALIZATION", ["x"], ["y"], "L2NormOptions")]
    )
    assert_same(path, {"x": np.asarray([[[0, 0, 0, 0], [1, 2, 0, 2]]], np.float32)})


def test_ids_counted_from_elsewhere_are_refused(tmp_path):
    with pytest.raises(UnsupportedModelError, match="int32 numbers"):
        import_model(keras_embedding(8, tmp_path))


def test_zeros_of_a_shape_are_a_constant(tmp_path):
    """A start that Keras makes for the state of a recurrent layer of its own."""
    tensors = {"x": T((1, 5, 4)), "z": T((1, 5, 4)), "y": T((1, 5, 4))}
    ops = [Op("ZEROS_LIKE", ["x"], ["z"]), Op("MAXIMUM", ["x", "z"], ["y"])]
    path = write_tflite(tmp_path / "m.tflite", tensors, ops)
    assert_same(path, {"x": RNG.normal(size=(1, 5, 4)).astype(np.float32)})


def test_every_handler_states_its_constraints():
    table = supported_operators()
    assert [op for op, _ in table] == sorted(HANDLERS)
    assert all(len(text) > 5 and "\n" not in text for _, text in table)


def test_every_handler_is_tested():
    here = Path(__file__).parent
    places = (here.glob("test_tflite_*.py"), (here.parents[1] / "helpers").glob("tflite_*.py"))
    tests = [path.read_text("utf-8") for paths in places for path in paths]
    named = {op for op in HANDLERS if any(f'"{op}"' in text for text in tests)}
    assert set(HANDLERS) - named - {op for op, *_ in (*CASES.values(), *RESIZE.values())} == set()
