"""Comparisons and truth values in TensorFlow Lite files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tflite
from tflite_cases import (
    f,
    i,
    scalar,
)
from tflite_models import Op, T, write_tflite
from tflite_oracle import needs_litert
from tflite_same import assert_same

RNG = np.random.default_rng(1)


RELATIONS = ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]


@needs_litert
@pytest.mark.parametrize("select", ["SELECT", "SELECT_V2"])
@pytest.mark.parametrize("op", RELATIONS)
def test_comparisons_choose(op: str, select: str, tmp_path: Path):
    tensors = {"x": T((1, 6)), "z": T((1, 6)), "c": T((1, 6), dtype="bool"), "y": T((1, 6))}
    ops = [Op(op, ["x", "z"], ["c"]), Op(select, ["c", "x", "z"], ["y"])]
    path = write_tflite(tmp_path / "m", tensors, ops, ["x", "z"])
    x, z = np.array([[1, 2, 3, 4, 5, 6]], np.float32), np.array([[1, 3, 2, 4, 0, 9]], np.float32)
    assert_same(path, {"x": x, "z": z})


@needs_litert
@pytest.mark.parametrize("op", ["LOGICAL_AND", "LOGICAL_OR"])
def test_truth_values_are_combined(op: str, tmp_path: Path):
    boolean = T((1, 6), dtype="bool")
    tensors = {"x": T((1, 6)), "z": T((1, 6)), "a": boolean, "b": boolean, "c": boolean}
    tensors |= {"d": boolean, "half": scalar(np.float32(0.5)), "y": T((1, 6))}
    ops = [
        Op("LESS", ["x", "z"], ["a"]), Op("GREATER", ["x", "half"], ["b"]),
        Op(op, ["a", "b"], ["c"]), Op("LOGICAL_NOT", ["c"], ["d"]),
        Op("SELECT_V2", ["d", "half", "x"], ["y"]),
    ]  # fmt: skip
    path = write_tflite(tmp_path / "m", tensors, ops, ["x", "z"])
    rng = np.random.default_rng(4)
    assert_same(path, {name: rng.normal(size=(1, 6)).astype(np.float32) for name in "xz"})


@needs_litert
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("op", ["REDUCE_ANY", "REDUCE_ALL"])
def test_truth_values_are_reduced(op: str, keep: bool, tmp_path: Path):
    """Keras' Masking: a step counts where any of its features is not the mask's number."""
    shape = (1, 4, 1) if keep else (1, 4)
    tensors = {"x": T((1, 4, 3)), "zero": scalar(np.float32(0)), "a": T((1, 4, 3), dtype="bool")}
    tensors |= {"axes": i(2), "b": T(shape, dtype="bool"), "y": T(shape)}
    casts = {"InDataType": tflite.TensorType.BOOL, "OutDataType": tflite.TensorType.FLOAT32}
    ops = [
        Op("NOT_EQUAL", ["x", "zero"], ["a"]),
        Op(op, ["a", "axes"], ["b"], "ReducerOptions", {"KeepDims": keep}),
        Op("CAST", ["b"], ["y"], "CastOptions", casts),
    ]
    x = np.float32([[[1, 2, 3], [0, 0, 0], [0, -1, 0], [0, 0, 0]]])
    assert_same(write_tflite(tmp_path / "m", tensors, ops), {"x": x})


@needs_litert
def test_truth_values_become_real(tmp_path: Path):
    options = {"InDataType": tflite.TensorType.BOOL, "OutDataType": tflite.TensorType.FLOAT32}
    tensors = {"x": T((1, 6)), "z": f(1, 6), "c": T((1, 6), dtype="bool"), "y": T((1, 6))}
    ops = [Op("LESS", ["x", "z"], ["c"]), Op("CAST", ["c"], ["y"], "CastOptions", options)]
    x = RNG.normal(size=(1, 6)).astype(np.float32)
    assert_same(write_tflite(tmp_path / "m", tensors, ops), {"x": x})
