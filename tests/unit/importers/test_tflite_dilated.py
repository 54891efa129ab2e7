"""Dilated convolutions of TensorFlow Lite files: blocks of space in the batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_cases import (
    RELU,
    VALID,
    f,
    i,
    scalar,
    window,
)
from tflite_models import Op, T, const, write_tflite
from tflite_oracle import needs_litert, run_litert
from tflite_same import assert_same, executed

from edgec.passes import REAL_PASSES, run_passes

RNG = np.random.default_rng(1)


def dilated(folder: Path, one_axis: bool) -> Path:
    """A dilated convolution as converters of TensorFlow write it, of images or of sequences."""
    pair = const(np.array([[2, 3]] if one_axis else [[2, 3], [3, 3]], np.int32))
    crop = const(np.array([[0, 1]] if one_axis else [[0, 1], [0, 0]], np.int32))
    blocks = i(2) if one_axis else i(2, 3)
    shape = (1, 9, 3) if one_axis else (1, 9, 9, 3)
    tensors = {
        "x": T(shape), "b": blocks, "p": pair, "c": crop, "w": f(4, 1 if one_axis else 3, 3, 3),
        "v": f(4), "axis": scalar(np.int32(1)), "y": T((1,)), "z": T((1,)),
        **{name: T((1,)) for name in ("s", "e", "k", "q")},
    }  # fmt: skip
    conv = window(VALID, FusedActivationFunction=RELU)
    middle = [Op("CONV_2D", ["s", "w", "v"], ["q"], "Conv2DOptions", conv)]
    if one_axis:
        middle = [
            Op("EXPAND_DIMS", ["s", "axis"], ["e"]),
            Op("CONV_2D", ["e", "w", "v"], ["k"], "Conv2DOptions", conv),
            Op("SQUEEZE", ["k"], ["q"], "SqueezeOptions", {"SqueezeDims": [1]}),
        ]
    operators = [
        Op("SPACE_TO_BATCH_ND", ["x", "b", "p"], ["s"]),
        *middle,
        Op("BATCH_TO_SPACE_ND", ["q", "b", "c"], ["z"]),
        Op("NEG", ["z"], ["y"]),
    ]
    return write_tflite(folder / "m.tflite", tensors, operators)


@needs_litert
@pytest.mark.parametrize("one_axis", [False, True])
def test_dilated_convolutions(one_axis: bool, tmp_path: Path):
    path = dilated(tmp_path, one_axis)
    shape = (1, 9, 3) if one_axis else (1, 9, 9, 3)
    inputs = {"x": RNG.normal(size=shape).astype(np.float32)}
    fused = run_passes(assert_same(path, inputs), REAL_PASSES).graph
    assert [node.op for node in fused.nodes if node.op not in ("Reshape", "Unary", "Clip")] == [
        "Conv"
    ]
    (wanted,) = run_litert(path, inputs).values()
    np.testing.assert_allclose(executed(fused, inputs)["y"], wanted, rtol=1e-4, atol=1e-5)


@needs_litert
def test_blocks_without_a_convolution_become_moves(tmp_path: Path):
    pads, crops = (
        const(np.array(pairs, np.int32)) for pairs in ([[0, 1], [1, 2]], [[1, 0], [0, 2]])
    )
    tensors = {
        "x": T((1, 5, 6, 3)), "b": i(2, 3), "p": pads, "c": crops, "y": T((1,)),
        "s": T((1,)), "r": T((1,)),
    }  # fmt: skip
    operators = [
        Op("SPACE_TO_BATCH_ND", ["x", "b", "p"], ["s"]), Op("NEG", ["s"], ["r"]),
        Op("BATCH_TO_SPACE_ND", ["r", "b", "c"], ["y"]),
    ]  # fmt: skip
    path = write_tflite(tmp_path / "m.tflite", tensors, operators)
    inputs = {"x": RNG.normal(size=(1, 5, 6, 3)).astype(np.float32)}
    moved = run_passes(assert_same(path, inputs), REAL_PASSES).graph
    (wanted,) = run_litert(path, inputs).values()
    np.testing.assert_array_equal(executed(moved, inputs)["y"], wanted)
