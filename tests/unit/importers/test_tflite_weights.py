"""Weights of TensorFlow Lite files: half precision, codes of dynamic range, codes beside reals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tflite_cases import (
    VALID,
    X4,
    f,
    window,
)
from tflite_models import Op, Sparsity, T, const, write_tflite
from tflite_oracle import needs_litert
from tflite_same import assert_same, executed, imported

RNG = np.random.default_rng(1)


@needs_litert
def test_float16_weights_and_hybrid_weights(tmp_path: Path):
    w16 = RNG.normal(size=(4, 6)).astype(np.float16)
    w8 = RNG.integers(-127, 128, (3, 4)).astype(np.int8)
    tensors = {
        "x": T((1, 6)), "w16": const(w16), "w": T((4, 6)), "h": T((1, 4)),
        "w8": const(w8), "wd": T((3, 4)), "q": const(w8, [0.02]), "y": T((1, 3)),
    }  # fmt: skip
    ops = [
        Op("DEQUANTIZE", ["w16"], ["w"]),
        Op("FULLY_CONNECTED", ["x", "w"], ["h"], "FullyConnectedOptions"),
        Op("DEQUANTIZE", ["q"], ["wd"]),
        Op("FULLY_CONNECTED", ["h", "wd"], ["y"], "FullyConnectedOptions"),
    ]
    path = write_tflite(tmp_path / "m", tensors, ops)
    assert_same(path, {"x": RNG.normal(size=(1, 6)).astype(np.float32)})


def test_weights_of_dynamic_range_are_what_their_codes_mean(tmp_path: Path):
    w8 = RNG.integers(-127, 128, (3, 4)).astype(np.int8)
    tensors = {"x": T((1, 4)), "q": const(w8, [0.5, 0.25, 2.0], axis=0), "y": T((1, 3))}
    ops = [Op("FULLY_CONNECTED", ["x", "q"], ["y"], "FullyConnectedOptions")]
    graph = imported(write_tflite(tmp_path / "m", tensors, ops))
    x = RNG.normal(size=(1, 4)).astype(np.float32)
    wanted = x @ (w8 * np.array([[0.5], [0.25], [2.0]])).T
    np.testing.assert_allclose(executed(graph, {"x": x})["y"], wanted, rtol=1e-6)


def test_codes_are_read_beside_their_dequantize(tmp_path: Path):
    """The int8 LayerNorm of Keras: a mean is dequantized for NEG, and subtracted as codes."""
    codes = T((1, 6), dtype="int8", scale=[0.05], zero=[3])
    tensors = {
        "x": codes, "r": T((1, 6)), "n": T((1, 6)), "s": codes, "y": T((1, 6)), "z": T((1, 6)),
    }  # fmt: skip
    ops = [
        Op("DEQUANTIZE", ["x"], ["r"]),
        Op("NEG", ["r"], ["n"]),
        Op("MUL", ["x", "x"], ["s"], "MulOptions"),
        Op("DEQUANTIZE", ["s"], ["z"]),
        Op("ADD", ["n", "z"], ["y"], "AddOptions"),
    ]
    path = write_tflite(tmp_path / "m", tensors, ops)
    graph = imported(path)
    x = np.array([[-90, -20, 3, 14, 50, 120]], np.int8)
    real = (x - 3.0) * 0.05
    square = np.clip(np.round(real * real / 0.05) + 3, -128, 127)
    wanted = (square - 3) * 0.05 - real
    np.testing.assert_allclose(executed(graph, {"x": x})["y"], wanted, atol=1e-6)


def test_a_convolution_needs_no_bias(tmp_path: Path):
    w = f(4, 1, 1, 3)
    tensors = {"x": T(X4), "w": w, "y": T((1, 8, 9, 4))}
    op = Op("CONV_2D", ["x", "w", ""], ["y"], "Conv2DOptions", window(VALID))
    graph = imported(write_tflite(tmp_path / "m", tensors, [op]))
    x = RNG.normal(size=X4).astype(np.float32)
    assert w.data is not None
    np.testing.assert_allclose(executed(graph, {"x": x})["y"], x @ w.data[:, 0, 0].T, 1e-4, 1e-6)


def sparse_rows(w: np.ndarray) -> tuple[np.ndarray, Sparsity]:
    """A matrix [O, I] in compressed rows: its stored elements and the tree."""
    rows, columns = np.nonzero(w)
    segments = np.concatenate([[0], np.cumsum(np.count_nonzero(w, axis=1))])
    return w[rows, columns], Sparsity([0, 1], [], [len(w), (segments.tolist(), columns.tolist())])


def sparse_columns(w: np.ndarray) -> tuple[np.ndarray, Sparsity]:
    """The same by columns: the last axis comes first."""
    stored, tree = sparse_rows(w.T)
    return stored, replace(tree, order=[1, 0])


def sparse_blocks(w: np.ndarray) -> tuple[np.ndarray, Sparsity]:
    """Blocks of 4 columns, of which those that are zero are left out; both axes may have them."""
    rows, size = len(w), 4
    blocks = w.reshape(rows, -1, size)
    kept = np.any(blocks != 0, axis=2)
    segments = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    levels = [rows, (segments.tolist(), np.nonzero(kept)[1].tolist()), size]
    return blocks[kept].reshape(-1), Sparsity([0, 1, 2], [1], levels)


def sparse_tiles(w: np.ndarray) -> tuple[np.ndarray, Sparsity]:
    """Dense tiles of 2 rows and 4 columns."""
    rows, columns = w.shape
    tiles = w.reshape(rows // 2, 2, columns // 4, 4).transpose(0, 2, 1, 3)
    return tiles.reshape(-1), Sparsity([0, 1, 2, 3], [0, 1], [rows // 2, columns // 4, 2, 4])


@pytest.mark.parametrize("densify", [False, True])
@pytest.mark.parametrize("columns", [8, 320])
@pytest.mark.parametrize("stored", [sparse_rows, sparse_columns, sparse_blocks, sparse_tiles])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.float16])
def test_sparse_weights(dtype, stored, columns, densify, tmp_path: Path):
    """Weights of a pruned network without their zeros, as TensorFlow stores them."""
    real = RNG.normal(size=(6, columns)) * (RNG.uniform(size=(6, columns)) < 0.3)
    w = (real * (40 if dtype == np.int8 else 1)).astype(dtype)
    elements, tree = stored(w)
    scale = [0.02] if dtype == np.int8 else []
    sparse = replace(const(elements, scale), shape=w.shape, sparse=tree)
    whole = replace(const(w, scale), data=None)
    tensors = {"x": T((1, columns)), "s": sparse, "w": whole, "y": T((1, 6))}
    name, ops = "s", []
    if densify:
        name, ops = "w", [Op("DENSIFY", ["s"], ["w"])]
    if dtype == np.float16:
        tensors["r"] = T(w.shape)
        name, ops = "r", [*ops, Op("DEQUANTIZE", [name], ["r"])]
    ops.append(Op("FULLY_CONNECTED", ["x", name], ["y"], "FullyConnectedOptions"))
    graph = imported(write_tflite(tmp_path / "m", tensors, ops))
    x = RNG.normal(size=(1, columns)).astype(np.float32)
    wanted = x @ (w.astype(np.float64) * (scale or [1.0])[0]).T
    np.testing.assert_allclose(executed(graph, {"x": x})["y"], wanted, rtol=1e-4, atol=1e-5)
