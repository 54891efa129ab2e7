"""Operators without weights: every code is what TensorFlow Lite Micro computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tflite_models import Op, T, const, write_tflite
from tflm_oracle import check_exact, compare, needs_tflm, plain_integers

SCALES = st.floats(2**-9, 0.5, width=32)
ZEROS = st.one_of(st.sampled_from([-128, -127, 0, 127]), st.integers(-128, 127))
QUANT = st.tuples(SCALES, ZEROS)
ACTIVATIONS = st.sampled_from(
    [getattr(tflite.ActivationFunctionType, name) for name in ("NONE", "NONE", "RELU", "RELU6")]
)
SEEDS = st.integers(0, 2**31)
QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
pytestmark = needs_tflm


def coded(shape: tuple[int, ...], quant: tuple[float, int]) -> T:
    return T(shape, dtype="int8", scale=[quant[0]], zero=[quant[1]])


def wider(quant: tuple[float, int], *others: tuple[float, int]) -> tuple[float, int]:
    """Parameters whose scale is of the size that sums of the others need."""
    least = max(scale for scale, _ in others)
    return float(np.float32(least * (0.25 + 4 * quant[0]))), quant[1]


def codes(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)


SHAPES = st.sampled_from(
    [
        ((1, 4, 5, 3), (1, 4, 5, 3)),
        ((1, 4, 5, 3), (1, 1, 1, 3)),
        ((1, 4, 5, 3), (1, 4, 5, 1)),
        ((1, 1, 5, 3), (1, 4, 1, 3)),
        ((1, 7), (1, 1)),
    ]
)


@pytest.mark.parametrize("op", ["ADD", "SUB"])
@QUICK
@given(
    shapes=SHAPES, a=QUANT, b=QUANT, y=QUANT, act=ACTIVATIONS, constant=st.booleans(), seed=SEEDS
)
def test_sums(
    tmp_path: Path,
    op: str,
    shapes: Any,
    a: Any,
    b: Any,
    y: Any,
    act: int,
    constant: bool,
    seed: int,
):
    first, second = shapes
    tensors = {
        "a": coded(first, a),
        "b": const(codes(seed, second), [b[0]], [b[1]]) if constant else coded(second, b),
        "y": coded(np.broadcast_shapes(first, second), wider(y, a, b)),
    }
    kind = "AddOptions" if op == "ADD" else "SubOptions"
    ops = [Op(op, ["a", "b"], ["y"], kind, {"FusedActivationFunction": act})]
    inputs = ("a",) if constant else ("a", "b")
    path = write_tflite(tmp_path / "f.tflite", tensors, ops, inputs)
    check_exact(path, [{"a": codes(s, first), "b": codes(s + 1, second)} for s in (seed, seed + 2)])


@QUICK
@given(
    shapes=SHAPES,
    quants=st.tuples(QUANT, QUANT, QUANT),
    act=ACTIVATIONS,
    constant=st.booleans(),
    seed=SEEDS,
)
def test_products(tmp_path: Path, shapes: Any, quants: Any, act: int, constant: bool, seed: int):
    (first, second), (a, b, y) = shapes, quants
    scale = float(np.float32(a[0] * b[0] * (1 + 200 * y[0])))
    tensors = {
        "a": coded(first, a),
        "b": const(codes(seed, second), [b[0]], [b[1]]) if constant else coded(second, b),
        "y": coded(np.broadcast_shapes(first, second), (scale, y[1])),
    }
    ops = [Op("MUL", ["a", "b"], ["y"], "MulOptions", {"FusedActivationFunction": act})]
    inputs = ("a",) if constant else ("a", "b")
    path = write_tflite(tmp_path / "f.tflite", tensors, ops, inputs)
    check_exact(path, [{"a": codes(s, first), "b": codes(s + 1, second)} for s in (seed, seed + 2)])


@QUICK
@given(
    shapes=SHAPES,
    quants=st.tuples(QUANT, QUANT, QUANT),
    constant=st.booleans(),
    seed=SEEDS,
)
def test_squared_differences(tmp_path: Path, shapes: Any, quants: Any, constant: bool, seed: int):
    (first, second), (a, b, y) = shapes, quants
    scale = float(np.float32(max(a[0], b[0]) ** 2 * (1 + 400 * y[0])))
    tensors = {
        "a": coded(first, a),
        "b": const(codes(seed, second), [b[0]], [b[1]]) if constant else coded(second, b),
        "y": coded(np.broadcast_shapes(first, second), (scale, y[1])),
    }
    inputs = ("a",) if constant else ("a", "b")
    op = Op("SQUARED_DIFFERENCE", ["a", "b"], ["y"])
    path = write_tflite(tmp_path / "f.tflite", tensors, [op], inputs)
    check_exact(path, [{"a": codes(s, first), "b": codes(s + 1, second)} for s in (seed, seed + 2)])


@QUICK
@given(
    shape=st.tuples(st.just(1), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)),
    axes=st.lists(st.integers(1, 3), min_size=1, max_size=3, unique=True),
    keep=st.booleans(),
    x=QUANT,
    y=st.one_of(st.none(), QUANT),
    op=st.sampled_from(["MEAN", "MEAN", "SUM", "REDUCE_MAX"]),
)
def test_reductions(tmp_path: Path, shape: Any, axes: Any, keep: bool, x: Any, y: Any, op: str):
    out = [1 if axis in axes else size for axis, size in enumerate(shape)]
    kept = out if keep else [size for axis, size in enumerate(shape) if axis not in axes]
    result = x if y is None or op == "REDUCE_MAX" else wider(y, x)
    tensors = {
        "x": coded(shape, x),
        "a": const(np.array(axes, np.int32)),
        "y": coded(kept, result),
    }
    ops = [Op(op, ["x", "a"], ["y"], "ReducerOptions", {"KeepDims": keep})]
    check_exact(write_tflite(tmp_path / "f.tflite", tensors, ops))


@QUICK
@given(
    size=st.tuples(st.integers(3, 9), st.integers(3, 9), st.integers(1, 5)),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    same=st.booleans(),
    quant=QUANT,
    act=ACTIVATIONS,
    op=st.sampled_from(["AVERAGE_POOL_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"]),
)
def test_pools(
    tmp_path: Path, size: Any, kernel: Any, strides: Any, same: bool, quant: Any, act: int, op: str
):
    padding = tflite.Padding.SAME if same else tflite.Padding.VALID
    reach = (1, 1) if same else kernel
    out = [-(-(n - r + 1) // s) for n, r, s in zip(size, reach, strides, strict=False)]
    options = {
        "Padding": padding,
        "FilterHeight": kernel[0],
        "FilterWidth": kernel[1],
        "StrideH": strides[0],
        "StrideW": strides[1],
        "FusedActivationFunction": act,
    }
    tensors = {"x": coded((1, *size), quant), "y": coded((1, *out, size[2]), quant)}
    ops = [Op(op, ["x"], ["y"], "Pool2DOptions", options)]
    check_exact(write_tflite(tmp_path / "f.tflite", tensors, ops))


@QUICK
@given(
    shape=st.sampled_from([(1, 10), (1, 1), (1, 2), (1, 5, 7), (1, 511), (1, 3, 4, 130)]),
    scale=st.floats(2**-20, 8.0, width=32),
    zero=ZEROS,
    beta=st.one_of(st.just(1.0), st.floats(2**-5, 40.0, width=32)),
    spread=st.integers(1, 255),
    seed=SEEDS,
)
def test_softmax(
    tmp_path: Path,
    shape: tuple[int, ...],
    scale: float,
    zero: int,
    beta: float,
    spread: int,
    seed: int,
):
    tensors = {"x": coded(shape, (scale, zero)), "y": coded(shape, (1 / 256, -128))}
    ops = [Op("SOFTMAX", ["x"], ["y"], "SoftmaxOptions", {"Beta": beta})]
    path = write_tflite(tmp_path / "f.tflite", tensors, ops)
    near = np.random.default_rng(seed).integers(-128, -128 + spread + 1, shape).astype(np.int8)
    check_exact(path, [{"x": codes(seed, shape)}, {"x": near}])


@QUICK
@given(
    size=st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 3)),
    out=st.tuples(st.integers(1, 15), st.integers(1, 15)),
    way=st.sampled_from([{}, {"AlignCorners": True}, {"HalfPixelCenters": True}]),
    quant=QUANT,
    op=st.sampled_from(["BILINEAR", "BILINEAR", "NEAREST_NEIGHBOR"]),
)
def test_resize(tmp_path: Path, size: Any, out: Any, way: Any, quant: Any, op: str):
    kind = "ResizeBilinearOptions" if op == "BILINEAR" else "ResizeNearestNeighborOptions"
    tensors = {
        "x": coded((1, *size), quant),
        "s": const(np.array(out, np.int32)),
        "y": coded((1, *out, size[2]), quant),
    }
    ops = [Op(f"RESIZE_{op}", ["x", "s"], ["y"], kind, way)]
    check_exact(write_tflite(tmp_path / "f.tflite", tensors, ops))


@QUICK
@given(
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 9), st.integers(1, 6)),
    adjoint=st.tuples(st.booleans(), st.booleans()),
    quants=st.tuples(QUANT, QUANT, QUANT),
)
def test_batch_matmul(tmp_path: Path, sizes: Any, adjoint: Any, quants: Any):
    heads, rows, depth, columns = sizes
    (a, b, y), (adj_x, adj_y) = quants, adjoint
    scale = float(np.float32(a[0] * b[0] * (1 + 400 * y[0])))
    left, right = (rows, depth), (depth, columns)
    tensors = {
        "a": coded((1, heads, *(left[::-1] if adj_x else left)), a),
        "b": coded((1, heads, *(right[::-1] if adj_y else right)), b),
        "y": coded((1, heads, rows, columns), (scale, y[1])),
    }
    options = {"AdjX": adj_x, "AdjY": adj_y}
    ops = [Op("BATCH_MATMUL", ["a", "b"], ["y"], "BatchMatMulOptions", options)]
    check_exact(write_tflite(tmp_path / "f.tflite", tensors, ops, ("a", "b")))


@QUICK
@given(
    shape=st.sampled_from([(1, 4, 5, 3), (1, 1, 1, 7)]),
    slopes=st.sampled_from([(1, 1, -1), (1, 1, 1), (-1, 1, 1), (-1, -1, -1)]),
    quants=st.tuples(QUANT, QUANT, QUANT),
    seed=SEEDS,
)
def test_prelu(tmp_path: Path, shape: Any, slopes: Any, quants: Any, seed: int):
    x, slope, y = quants
    sizes = [size if kept < 0 else 1 for size, kept in zip(shape[1:], slopes, strict=True)]
    tensors = {
        "x": coded(shape, x),
        "a": const(codes(seed, tuple(sizes)), [slope[0]], [slope[1]]),
        "y": coded(shape, wider(y, x)),
    }
    check_exact(write_tflite(tmp_path / "f.tflite", tensors, [Op("PRELU", ["x", "a"], ["y"])]))


CLOSE = st.tuples(st.floats(2**-12, 2**-6, width=32), ZEROS)
"""Scales of which steps are lost when codes become whole numbers of 2^-8."""
RELATIONS = ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]


@pytest.mark.parametrize("op", RELATIONS)
@QUICK
@given(
    shapes=SHAPES,
    a=st.one_of(QUANT, CLOSE),
    b=st.one_of(QUANT, CLOSE, st.just(None)),
    factor=st.sampled_from([1.0, 1.0, 0.5, 2.0, 1.01]),
    constant=st.booleans(),
    seed=SEEDS,
)
def test_comparisons(
    tmp_path: Path,
    op: str,
    shapes: Any,
    a: Any,
    b: Any,
    factor: float,
    constant: bool,
    seed: int,
):
    """Codes of scales that are equal, close together or of any size, near each other or not."""
    first, second = shapes
    b = b or (min(factor * a[0], 0.99), a[1])
    near = np.random.default_rng(seed).integers(-4, 4, second).astype(np.int8)
    tensors = {
        "a": coded(first, a),
        "b": const(near, [b[0]], [b[1]]) if constant else coded(second, b),
        "y": T(np.broadcast_shapes(first, second), dtype="bool"),
    }
    inputs = ("a",) if constant else ("a", "b")
    kind = {"NOT_EQUAL": "NotEqual", "LESS_EQUAL": "LessEqual", "GREATER_EQUAL": "GreaterEqual"}
    options = f"{kind.get(op, op.capitalize())}Options"
    path = write_tflite(
        tmp_path / "f.tflite", tensors, [Op(op, ["a", "b"], ["y"], options)], inputs
    )
    close = np.random.default_rng(seed).integers(-8, 8, first).astype(np.int8)
    samples = [{"a": codes(seed, first), "b": codes(seed + 1, second)}, {"a": close, "b": near}]
    check_exact(path, samples)


@pytest.mark.parametrize("op", ["EQUAL", "LESS"])
@pytest.mark.parametrize(
    ("a", "b", "most"),
    [
        ((0.01, 3), (0.011, -5), 0),
        ((2**-9, 3), (2**-9, 3), 0),
        ((0.125, -128), (2**-9, -128), 0),
        ((0.25, 7), (0.25, 8), 0),
        ((0.3572104275226593, 54), (0.35721051692962646, 54), 1),
    ],
)
def test_all_pairs_of_codes_are_compared(tmp_path: Path, op: str, a: Any, b: Any, most: int):
    """Scales that are almost the same may have one pair of codes wrong."""
    every = np.arange(-128, 128).astype(np.int8)
    sample = {"a": every.reshape(1, 256, 1, 1), "b": every.reshape(1, 1, 256, 1)}
    tensors = {name: coded(sample[name].shape, quant) for name, quant in (("a", a), ("b", b))}
    tensors["y"] = T((1, 256, 256, 1), dtype="bool")
    ops = [Op(op, ["a", "b"], ["y"], f"{op.capitalize()}Options")]
    path = write_tflite(tmp_path / "f.tflite", tensors, ops, ("a", "b"))
    found = compare(path, plain_integers(path), [sample])
    assert found.compared == ["y"]
    assert found.elements == 256 * 256
    assert found.different.get("y", 0) <= most
