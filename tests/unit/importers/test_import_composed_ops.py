"""Operators that are made up of others: the imported graph computes what others compute."""

# ruff: noqa: E501  (a table of cases, one a line)

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from import_models import N, assert_executed, assert_same, imported, model_of, random_feeds
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from edgec.base.dtypes import Array
from edgec.base.errors import UnsupportedModelError
from edgec.floatrun.executor import Executor
from edgec.importers.common.scattered import Reduction

RNG = np.random.default_rng(11)
INT64, BOOL = TensorProto.INT64, TensorProto.BOOL


def f(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def i(*values: int) -> Array:
    return np.array(values, np.int64)


def grid(*shape: int) -> Array:
    return RNG.uniform(-1.4, 1.4, shape).astype(np.float32)


CELLS = np.array([[1, 0, 2, -1], [0, 2, 1, 0]], np.int64)
TABLE = (f(9, 2), f(9, 2))
X4 = (1, 6, 4, 5)

# name -> (operator, input shape, constants in input order, opset, attributes)
CASES: dict[str, tuple[str, tuple[int, ...], dict[str, Array], int, dict[str, object]]] = {
    "mean": ("Mean", (2, 3), {"c": f(3), "d": f(2, 1)}, 13, {}),
    "mean_of_one": ("Mean", (2, 3), {}, 13, {}),
    "pow_of_several": ("Pow", (2, 3), {"e": np.array([2.0, 3.0, 1.0], np.float32)}, 13, {}),
    "pow_of_integers": ("Pow", (2, 3), {"e": i(2, 3, 1)}, 13, {}),
    "reduce_prod": ("ReduceProd", (2, 3, 2), {}, 13, {"axes": [1]}),
    "reduce_prod_odd": ("ReduceProd", (2, 7), {}, 13, {"axes": [-1], "keepdims": 0}),
    "reduce_prod_two_axes": ("ReduceProd", (2, 3, 2), {"a": i(0, -1)}, 18, {"keepdims": 0}),
    "reduce_prod_noop": ("ReduceProd", (2, 3), {"a": i()}, 18, {"noop_with_empty_axes": 1}),
    "trilu": ("Trilu", (2, 4, 5), {}, 14, {}),
    "trilu_above": ("Trilu", (4, 5), {"k": np.array(2)}, 14, {}),
    "trilu_below": ("Trilu", (4, 5), {"k": np.array(-1)}, 14, {"upper": 0}),
    "trilu_everything": ("Trilu", (4, 5), {"k": np.array(-9)}, 14, {}),
    "center_crop_pad": ("CenterCropPad", (5, 4, 3), {"s": i(2, 7, 3)}, 18, {}),
    "center_crop_axes": ("CenterCropPad", (5, 4, 3), {"s": i(2, 1)}, 18, {"axes": [-3, 1]}),
    "reverse_sequence": ("ReverseSequence", (4, 3, 2), {"n": i(4, 1, 3)}, 10, {}),
    "reverse_sequence_batch": ("ReverseSequence", (3, 4), {"n": i(4, 1, 0)}, 10, {"batch_axis": 0, "time_axis": 1}),
    "lrn": ("LRN", (2, 6, 3, 3), {}, 13, {"size": 3, "alpha": 0.2, "beta": 0.6, "bias": 1.5}),
    "mvn": ("MeanVarianceNormalization", (1, 3, 4, 5), {}, 13, {}),
    "mvn_axes": ("MeanVarianceNormalization", (2, 3, 4, 5), {}, 13, {"axes": [1]}),
    "lp_pool_three": ("LpPool", X4, {}, 13, {"kernel_shape": [2, 3], "p": 3}),
    "lp_pool_four": ("LpPool", X4, {}, 13, {"kernel_shape": [2, 2], "p": 4, "strides": [2, 2]}),
    "average_pool_3d": ("AveragePool", (1, 2, 5, 4, 6), {}, 13, {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2], "pads": [1, 1, 0, 0, 1, 1]}),
    "average_pool_3d_include": ("AveragePool", (1, 2, 5, 4, 6), {}, 13, {"kernel_shape": [2, 3, 2], "pads": [1, 1, 0, 0, 1, 1], "count_include_pad": 1}),
    "average_pool_3d_ceil": ("AveragePool", (1, 2, 5, 4, 6), {}, 13, {"kernel_shape": [2, 3, 2], "strides": [2, 2, 2], "ceil_mode": 1}),
    "max_pool_3d_ceil": ("MaxPool", (1, 2, 5, 4, 6), {}, 13, {"kernel_shape": [2, 3, 2], "strides": [2, 2, 2], "ceil_mode": 1}),
    "max_pool_3d_same": ("MaxPool", (1, 2, 5, 4, 6), {}, 13, {"kernel_shape": [3, 3, 2], "strides": [2, 2, 2], "auto_pad": "SAME_UPPER"}),
    "conv_3d_same": ("Conv", (1, 2, 4, 5, 6), {"w": f(3, 2, 3, 3, 2)}, 13, {"auto_pad": "SAME_UPPER", "strides": [1, 2, 1]}),
    "lp_pool_3d": ("LpPool", (1, 2, 5, 4, 6), {}, 18, {"kernel_shape": [2, 3, 2], "p": 1}),
    "affine_grid": ("AffineGrid", (2, 2, 3), {"s": i(2, 1, 3, 4)}, 20, {}),
    "affine_grid_corners": ("AffineGrid", (1, 2, 3), {"s": i(1, 1, 3, 4)}, 20, {"align_corners": 1}),
    "affine_grid_volume": ("AffineGrid", (1, 3, 4), {"s": i(1, 1, 3, 4, 2)}, 20, {}),
    "rotary": ("RotaryEmbedding", (2, 3, 4, 4), {"c": TABLE[0], "s": TABLE[1], "p": np.array([[0, 3, 8, 8], [1, 2, 3, 4]])}, 23, {}),
    "rotary_interleaved": ("RotaryEmbedding", (2, 3, 4, 4), {"c": f(2, 4, 2), "s": f(2, 4, 2)}, 23, {"interleaved": 1}),
    "rotary_flat": ("RotaryEmbedding", (2, 4, 12), {"c": f(2, 4, 2), "s": f(2, 4, 2)}, 23, {"num_heads": 3}),
    "rotary_some": ("RotaryEmbedding", (2, 3, 4, 6), {"c": f(2, 4, 2), "s": f(2, 4, 2)}, 23, {"rotary_embedding_dim": 4}),
    "scatter": ("Scatter", (3, 4), {"i": CELLS, "u": f(2, 4)}, 10, {}),
    "scatter_elements": ("ScatterElements", (3, 4), {"i": CELLS, "u": f(2, 4)}, 16, {"axis": 0}),
    "scatter_axis": ("ScatterElements", (2, 5), {"i": CELLS, "u": f(2, 4)}, 16, {"axis": 1}),
    "scatter_nd": ("ScatterND", (4, 3, 2), {"i": i(1, 3).reshape(2, 1), "u": f(2, 3, 2)}, 16, {}),
    "scatter_nd_rows": ("ScatterND", (4, 3, 2), {"i": np.array([[0, 2], [3, 0]]), "u": f(2, 2)}, 16, {}),
    "scatter_nd_elements": ("ScatterND", (4, 3), {"i": np.array([[0, 2], [3, 0], [-1, -1]]), "u": f(3)}, 16, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_operator_equals_onnxruntime(name, tmp_path):
    op, shape, constants, opset, attributes = CASES[name]
    node = N(op, ["x", *constants], ["y"], **attributes)
    assert_same(model_of([node], {"x": shape}, constants, opset=opset), tmp_path)


@pytest.mark.parametrize("reduction", Reduction)
@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
def test_updates_join_elements(op, reduction, tmp_path):
    """Elements have up to three updates; of those without a reduction the last one counts."""
    if op == "ScatterND":
        indices, shape = np.array([[0], [2], [0]], np.int64), (3, 4)
    else:
        indices, shape = np.array([[0, 2, 1], [0, 0, 1], [0, 1, 0]], np.int64), (3, 3)
    if reduction is Reduction.NONE:
        indices = np.sort(indices, axis=0)[[0, 2]] if op == "ScatterND" else np.eye(3, dtype=int)
        shape = (len(indices), 4) if op == "ScatterND" else shape
    node = N(op, ["x", "i", "u"], ["y"], reduction=reduction.value)
    model = model_of([node], {"x": (3, 4), "u": shape}, {"i": indices}, opset=18)
    assert_same(model, tmp_path)


@pytest.mark.parametrize("start", [0, 2, 3])
def test_assignment_to_a_slice_is_a_concat(start, tmp_path):
    """What PyTorch exports for ``x[:, start:start + 2] = u``."""
    rows, columns = np.meshgrid(np.arange(4), np.arange(start, start + 2), indexing="ij")
    indices = np.stack([rows, columns], axis=-1)
    node = N("ScatterND", ["x", "i", "u"], ["y"])
    graph = assert_same(
        model_of([node], {"x": (4, 5), "u": (4, 2)}, {"i": indices}, opset=16), tmp_path
    )
    assert {n.op for n in graph.nodes} <= {"Reshape", "Slice", "Concat"}


MODES = [(m, p, a) for m in ("nearest", "bilinear", "bicubic") for p in ("zeros", "border", "reflection") for a in (0, 1)]  # fmt: skip


@pytest.mark.parametrize(("mode", "outside", "corners"), MODES)
@pytest.mark.parametrize("many", [False, True])
def test_grid_of_constant_positions(mode, outside, corners, many, tmp_path, monkeypatch):
    within = 0.7 if (mode, outside) == ("bicubic", "border") else 1.0
    if many:  # samples that are summed up tap by tap
        monkeypatch.setattr("edgec.importers.common.grids._MOST_DENSE", 0)
    node = N(
        "GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=outside, align_corners=corners
    )
    model = model_of([node], {"x": (1, 3, 4, 5)}, {"g": within * grid(1, 3, 6, 2)}, opset=16)
    assert_same(model, tmp_path)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_grid_in_a_volume(mode, tmp_path):
    node = N("GridSample", ["x", "g"], ["y"], mode=mode)
    model = model_of([node], {"x": (1, 2, 3, 4, 2)}, {"g": grid(1, 3, 2, 2, 3)}, opset=20)
    assert_same(model, tmp_path)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis, tmp_path):
    nodes = [N("ArgMax", ["x"], ["i"], axis=-1, keepdims=0), N("OneHot", ["i", "d", "v"], ["y"], axis=axis)]  # fmt: skip
    constants = {"d": np.array(7, np.int64), "v": np.array([-0.5, 2.0], np.float32)}
    assert_same(model_of(nodes, {"x": (3, 7)}, constants), tmp_path)


def test_a_power_of_a_constant_base(tmp_path):
    model = model_of(
        [N("Pow", ["b", "x"], ["y"])], {"x": (2, 3)}, {"b": np.array([0.5, 2, 3], np.float32)}
    )
    assert_same(model, tmp_path)


@pytest.mark.parametrize("parts", [[3, 0, 2], [0, 5]])
def test_empty_parts_of_a_split_are_left_out(parts, tmp_path):
    names = [f"p{index}" for index in range(len(parts))]
    nodes = [N("Split", ["x", "s"], names, axis=1), N("Concat", names[::-1], ["y"], axis=1)]
    assert_same(model_of(nodes, {"x": (2, 5)}, {"s": i(*parts)}), tmp_path)


def as_reference(model: onnx.ModelProto, folder: Path) -> None:
    """Import and compare with ONNX's reference, where onnxruntime has no such operator."""
    graph = imported(model, folder)
    feeds = random_feeds(graph)
    assert_executed(graph, feeds, ReferenceEvaluator(model).run(None, feeds))


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("shape", [(2, 5), (2, 8)])
def test_cumulative_product(shape, exclusive, reverse, tmp_path):
    node = N("CumProd", ["x", "a"], ["y"], exclusive=exclusive, reverse=reverse)
    as_reference(model_of([node], {"x": shape}, {"a": np.array(1)}, opset=26), tmp_path)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_gates(alpha, tmp_path):
    as_reference(
        model_of([N("Swish", ["x"], ["y"], alpha=alpha)], {"x": (2, 9)}, opset=24), tmp_path
    )
    node = N("SwiGLU", ["x", "z"], ["y"], alpha=alpha)
    as_reference(model_of([node], {"x": (2, 9), "z": (2, 9)}, opset=28), tmp_path)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_space_to_depth_in_both_orders(mode, tmp_path):
    node = N("SpaceToDepth", ["x"], ["y"], blocksize=2, mode=mode)
    as_reference(model_of([node], {"x": (1, 3, 4, 6)}, opset=28), tmp_path)


WINDOWS = [{"is_causal": 1}, {"left_window_size": 1}, {"is_causal": 1, "left_window_size": 2}, {"left_window_size": 1, "right_window_size": 0}, {"right_window_size": 1}]  # fmt: skip


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("lengths", ["none", "constant", "run"])
def test_keys_that_attention_sees_by_their_place(window, lengths, tmp_path):
    shapes = {"q": (2, 2, 3, 4), "k": (2, 2, 5, 4), "v": (2, 2, 5, 4)}
    names = [*shapes] if lengths == "none" else [*shapes, "", "", "", "n"]
    count = np.array([3, 5], np.int64)
    constants = {"n": count} if lengths == "constant" else {}
    inputs = shapes | ({"n": (2,)} if lengths == "run" else {})
    model = model_of([N("Attention", names, ["y"], **window)], inputs, constants, opset=25)
    for info in model.graph.input:
        if info.name == "n":
            info.type.tensor_type.elem_type = INT64
    graph = imported(model, tmp_path)
    feeds = {name: f(*shape) for name, shape in shapes.items()}
    wanted = ReferenceEvaluator(model).run(None, feeds | ({"n": count} if lengths == "run" else {}))
    own = feeds | ({"n": count.astype(np.int32)} if lengths == "run" else {})
    assert_executed(graph, own, wanted)


@pytest.mark.parametrize("upper", [0, 1])
def test_a_triangle_of_a_mask(upper, tmp_path):
    model = model_of([N("Trilu", ["x"], ["y"], upper=upper)], {"x": (1, 4, 4)}, opset=14, input_type=BOOL, output_type=BOOL)  # fmt: skip
    graph = imported(model, tmp_path)
    x = RNG.integers(0, 2, (1, 4, 4))
    (y,) = Executor(graph, graph.outputs).run({"x": x[None].astype(np.int32)}).values()
    np.testing.assert_array_equal(y[0], np.triu(x) if upper else np.tril(x))


REFUSED = {
    "many factors": (N("ReduceProd", ["x"], ["y"]), {"x": (3, 4)}, {}, 13),
    "computed exponent": (N("Pow", ["x", "z"], ["y"]), {"x": (3,), "z": (3,)}, {}, 13),
    "negative base": (N("Pow", ["b", "x"], ["y"]), {"x": (3,)}, {"b": np.float32(-2)}, 13),
    "many exponents": (N("Pow", ["x", "e"], ["y"]), {"x": (20,)}, {"e": f(20)}, 13),
    "computed grid": (N("GridSample", ["x", "g"], ["y"]), {"x": (1, 1, 3, 3), "g": (1, 2, 2, 2)}, {}, 16),
    "cubic border": (N("GridSample", ["x", "g"], ["y"], mode="bicubic", padding_mode="border"), {"x": (1, 1, 3, 3)}, {"g": 2 * np.ones((1, 1, 1, 2), np.float32)}, 16),
    "even window": (N("LRN", ["x"], ["y"], size=4), {"x": (1, 5, 3, 3)}, {}, 13),
    "two grids": (N("GridSample", ["x", "g"], ["y"]), {"x": (2, 1, 3, 3)}, {"g": grid(2, 2, 2, 2)}, 16),
    "far index": (N("ScatterND", ["x", "i", "u"], ["y"]), {"x": (3,), "u": (1,)}, {"i": i(3).reshape(1, 1)}, 16),
    "far element": (N("ScatterElements", ["x", "i", "u"], ["y"]), {"x": (3,), "u": (1,)}, {"i": i(-4)}, 16),
    "many updates": (N("ScatterND", ["x", "i", "u"], ["y"], reduction="add"), {"x": (3,), "u": (9,)}, {"i": np.zeros((9, 1), np.int64)}, 16),
    "real numbers": (N("OneHot", ["x", "d", "v"], ["y"]), {"x": (3,)}, {"d": i(4), "v": f(2)}, 13),
    "long sequence": (N("ReverseSequence", ["x", "n"], ["y"]), {"x": (2, 3)}, {"n": i(1, 2, 3)}, 10),
    "odd features": (N("RotaryEmbedding", ["x", "c", "s"], ["y"]), {"x": (1, 1, 2, 5)}, {"c": f(1, 2, 2), "s": f(1, 2, 2)}, 23),
    "far positions": (N("RotaryEmbedding", ["x", "c", "s", "p"], ["y"]), {"x": (1, 1, 2, 4)}, {"c": f(3, 2), "s": f(3, 2), "p": i(0, 3).reshape(1, 2)}, 23),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, tmp_path):
    node, inputs, constants, opset = REFUSED[name]
    with pytest.raises(UnsupportedModelError, match=node.op_type):
        imported(model_of([node], inputs, constants, opset=opset), tmp_path)


TESTED = {case[0] for case in CASES.values()} | {
    "CumProd",
    "GridSample",
    "OneHot",
    "SwiGLU",
    "Swish",
}
"""The operators that this module tests."""


def test_blocks_that_would_need_gigabytes_of_ones(tmp_path):
    """A file of 127 bytes: no memory is taken before its size is judged."""
    sizes = {"i": np.array([513, 128], np.int64), "b": np.array([512, 128], np.int64)}
    model = model_of([N("Col2Im", ["x", "i", "b"], ["y"])], {"x": (1, 65536, 2)}, sizes, opset=18)
    with pytest.raises(UnsupportedModelError, match="65,536 cells overlap in 1 channels"):
        imported(model, tmp_path)
