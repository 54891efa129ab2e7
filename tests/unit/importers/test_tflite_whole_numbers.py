"""Whole numbers in TensorFlow Lite files: shapes and sums at import, ids and casts at run time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tflite
from tflite_cases import (
    STRIDED,
    f,
    i,
    scalar,
)
from tflite_models import Op, T, const, write_tflite
from tflite_oracle import needs_litert
from tflite_same import assert_same, executed, imported

from edgec.base.errors import UnsupportedModelError

RNG = np.random.default_rng(1)


WHOLE = {
    "ADD": [[4, 14], [9, 5]], "SUB": [[-2, -8], [5, -9]], "MUL": [[3, 33], [14, -14]],
    "FLOOR_DIV": [[0, 0], [3, -1]], "FLOOR_MOD": [[1, 3], [1, 5]],
    "MAXIMUM": [[3, 11], [7, 7]], "MINIMUM": [[1, 3], [2, -2]],
}  # fmt: skip


@pytest.mark.parametrize("op", WHOLE)
def test_whole_numbers_are_computed_at_import(op: str, tmp_path: Path):
    a, b = [[1, 3], [7, -2]], [[3, 11], [2, 7]]
    tensors = {
        "x": T((1, 2, 2)), "a": const(np.array(a, np.int32)), "b": const(np.array(b, np.int32)),
        "c": T((2, 2), dtype="int32"), "r": T((2, 2)), "y": T((1, 2, 2)),
    }  # fmt: skip
    cast = {"InDataType": tflite.TensorType.INT32, "OutDataType": tflite.TensorType.FLOAT32}
    ops = [
        Op(op, ["a", "b"], ["c"]),
        Op("CAST", ["c"], ["r"], "CastOptions", cast),
        Op("ADD", ["x", "r"], ["y"], "AddOptions"),
    ]
    graph = imported(write_tflite(tmp_path / "m", tensors, ops))
    x = np.zeros((1, 2, 2), np.float32)
    np.testing.assert_array_equal(executed(graph, {"x": x})["y"][0], WHOLE[op])


@pytest.mark.parametrize(
    ("op", "wanted"), [("REDUCE_MAX", 7), ("REDUCE_MIN", -2), ("REDUCE_PROD", -42), ("SUM", 9)]
)
def test_whole_numbers_are_reduced_at_import(op: str, wanted: int, tmp_path: Path):
    tensors = {
        "x": T((1, 4)), "a": i(1, 3, 7, -2), "axis": i(-1), "c": T((1,), dtype="int32"),
        "r": T((1,)), "y": T((1, 4)),
    }  # fmt: skip
    cast = {"InDataType": tflite.TensorType.INT32, "OutDataType": tflite.TensorType.FLOAT32}
    ops = [
        Op(op, ["a", "axis"], ["c"], "ReducerOptions", {"KeepDims": True}),
        Op("CAST", ["c"], ["r"], "CastOptions", cast),
        Op("ADD", ["x", "r"], ["y"], "AddOptions"),
    ]
    graph = imported(write_tflite(tmp_path / "m", tensors, ops))
    found = executed(graph, {"x": np.zeros((1, 4), np.float32)})["y"]
    np.testing.assert_array_equal(found, np.full((1, 4), wanted))


@pytest.mark.parametrize(
    ("op", "a", "b", "reason"),
    [
        ("FLOOR_DIV", (1, 2), (1, 0), "divides by zero"),
        ("ADD", (1, 2), (1, 2, 3), "do not fit each other"),
    ],
)
def test_whole_numbers_that_do_not_fit_are_refused(op, a, b, reason, tmp_path: Path):
    tensors = {
        "x": T((1, 2)), "a": i(*a), "b": i(*b), "c": T((2,), dtype="int32"), "y": T((1, 2)),
    }  # fmt: skip
    ops = [Op(op, ["a", "b"], ["c"]), Op("RESHAPE", ["x", "c"], ["y"])]
    with pytest.raises(UnsupportedModelError, match=reason):
        imported(write_tflite(tmp_path / "m", tensors, ops))


@needs_litert
def test_whole_numbers_become_real(tmp_path: Path):
    options = {"InDataType": tflite.TensorType.INT32, "OutDataType": tflite.TensorType.FLOAT32}
    tensors = {"x": T((1, 4), dtype="int32"), "y": T((1, 4))}
    path = write_tflite(tmp_path / "m", tensors, [Op("CAST", ["x"], ["y"], "CastOptions", options)])
    assert_same(path, {"x": np.array([[6, -1, 3, 0]], np.int32)})


@needs_litert
def test_the_shape_arithmetic_of_keras(tmp_path: Path):
    """Flatten of an open batch: SHAPE, STRIDED_SLICE, PACK, RESHAPE."""
    tensors = {
        "x": T((1, 4, 3), signature=(-1, 4, 3)),
        "shape": T((3,), dtype="int32"), "b": i(0), "e": i(1), "s": i(1),
        "batch": T((), dtype="int32"), "rest": scalar(np.int32(12)),
        "wanted": T((2,), dtype="int32"), "y": T((1, 12), signature=(-1, 12)),
    }  # fmt: skip
    ops = [
        Op("SHAPE", ["x"], ["shape"], "ShapeOptions", {"OutType": tflite.TensorType.INT32}),
        Op("STRIDED_SLICE", ["shape", "b", "e", "s"], ["batch"], STRIDED, {"ShrinkAxisMask": 1}),
        Op("PACK", ["batch", "rest"], ["wanted"], "PackOptions", {"ValuesCount": 2}),
        Op("RESHAPE", ["x", "wanted"], ["y"]),
    ]
    path = write_tflite(tmp_path / "m", tensors, ops)
    x = np.random.default_rng(3).normal(size=(1, 4, 3)).astype(np.float32)
    graph = assert_same(path, {"x": x})
    assert [node.op for node in graph.nodes] == ["Reshape"]


@needs_litert
def test_rows_of_a_dense_layer_are_counted_at_import(tmp_path: Path):
    """Dense on [batch, 4, 3] of Keras: REDUCE_PROD of parts of the shape, PACK, RESHAPE."""
    tensors = {
        "x": T((1, 4, 3), signature=(-1, 4, 3)), "first": i(0, 1), "last": i(2), "a": i(0),
        **{name: T((1,), dtype="int32") for name in ("shape", "rows", "width")},
        "count": T((), dtype="int32"), "depth": T((), dtype="int32"),
        "wanted": T((2,), dtype="int32"), "y": T((4, 3)),
    }  # fmt: skip
    ops = [
        Op("SHAPE", ["x"], ["shape"], "ShapeOptions", {"OutType": tflite.TensorType.INT32}),
        Op("GATHER", ["shape", "first"], ["rows"], "GatherOptions"),
        Op("GATHER", ["shape", "last"], ["width"], "GatherOptions"),
        Op("REDUCE_PROD", ["rows", "a"], ["count"], "ReducerOptions"),
        Op("REDUCE_PROD", ["width", "a"], ["depth"], "ReducerOptions"),
        Op("PACK", ["count", "depth"], ["wanted"], "PackOptions", {"ValuesCount": 2}),
        Op("RESHAPE", ["x", "wanted"], ["y"]),
    ]
    path = write_tflite(tmp_path / "m", tensors, ops)
    x = np.random.default_rng(3).normal(size=(1, 4, 3)).astype(np.float32)
    graph = assert_same(path, {"x": x})
    assert [node.op for node in graph.nodes] == ["Reshape"]


@needs_litert
def test_rows_chosen_by_ids(tmp_path: Path):
    tensors = {"x": T((1, 4), dtype="int32"), "t": f(7, 3), "y": T((1, 4, 3))}
    op = Op("GATHER", ["t", "x"], ["y"], "GatherOptions", {"Axis": 0})
    path = write_tflite(tmp_path / "m", tensors, [op])
    assert_same(path, {"x": np.array([[6, 0, 3, 3]], np.int32)})
