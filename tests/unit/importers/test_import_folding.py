"""Constants, what is computed at import, local functions, scikit-learn's operators."""

from __future__ import annotations

import numpy as np
import pytest
from import_models import N, assert_same, imported, model_of
from onnx import TensorProto, helper

from edgec.base.errors import ImportModelError
from edgec.ir import ops

RNG = np.random.default_rng(2)


def f(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def i(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    "attribute",
    [
        {"value": helper.make_tensor("t", TensorProto.FLOAT, [3], [1, 2, 3])},
        {"value_float": 2.5},
        {"value_floats": [1.0, 2.0, 3.0]},
    ],
)
def test_constant_nodes(attribute, tmp_path):
    nodes = [N("Constant", [], ["c"], **attribute), N("Add", ["x", "c"], ["y"])]
    assert_same(model_of(nodes, {"x": (2, 3)}), tmp_path)


@pytest.mark.parametrize("attribute", [{"value_ints": [3, 2]}, {"value_int": 6}])
def test_constant_shapes(attribute, tmp_path):
    shape = N("Constant", [], ["s0"], **attribute)
    flat = N("Reshape", ["s0", "minus"], ["s"])
    model = model_of(
        [shape, flat, N("Reshape", ["x", "s"], ["y"])], {"x": (2, 3)}, {"minus": i(-1)}
    )
    assert_same(model, tmp_path)


def test_shape_arithmetic_is_folded(tmp_path):
    nodes = [
        N("Shape", ["x"], ["shape"]),
        N("Gather", ["shape", "zero"], ["batch"]),
        N("Unsqueeze", ["batch", "axes"], ["batch1"]),
        N("Concat", ["batch1", "minus"], ["target"], axis=0),
        N("Cast", ["target"], ["target64"], to=TensorProto.INT64),
        N("Reshape", ["x", "target64"], ["y"]),
    ]
    constants = {"zero": np.array(0, np.int64), "axes": i(0), "minus": i(-1)}
    graph = assert_same(model_of(nodes, {"x": (1, 3, 4)}, constants), tmp_path)
    assert [n.op for n in graph.nodes] == ["Reshape"]


def test_weights_computed_in_the_model_are_folded(tmp_path):
    nodes = [
        N("Transpose", ["w"], ["wt"], perm=[1, 0]),
        N("Mul", ["wt", "k"], ["ws"]),
        N("MatMul", ["x", "ws"], ["y"]),
    ]
    constants = {"w": f(5, 4), "k": np.array([2.0], np.float32)}
    graph = assert_same(model_of(nodes, {"x": (1, 4)}, constants), tmp_path)
    assert [n.op for n in graph.nodes] == ["Gemm"]


def test_slices_of_slices_become_one(tmp_path):
    nodes = [
        N("Slice", ["x", "one", "end", "two", "two"], ["a"]),
        N("Slice", ["a", "zero", "end", "three", "two"], ["y"]),
    ]
    constants = {"zero": i(0), "one": i(1), "two": i(2), "three": i(3), "end": i(2**62)}
    graph = assert_same(model_of(nodes, {"x": (1, 2, 9, 8)}, constants), tmp_path)
    (node,) = graph.nodes
    assert node.attrs == ops.Slice((0, 0, 1, 0), (1, 1, 2, 2), (1, 2, 4, 4))


def test_local_functions_are_inlined(tmp_path):
    body = helper.make_function(
        "local", "Twice", ["a"], ["b"], [N("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 13)]
    )
    model = model_of([N("Twice", ["x"], ["y"], domain="local")], {"x": (2, 3)})
    model.functions.append(body)
    model.opset_import.append(helper.make_opsetid("local", 1))
    assert_same(model, tmp_path)


def test_half_and_double_precision_become_float32(tmp_path):
    half = helper.make_tensor("h", TensorProto.FLOAT16, [2], np.float16([1.5, 2]).view(np.uint16))
    nodes = [
        N("Constant", [], ["h16"], value=half),
        N("Cast", ["h16"], ["h"], to=TensorProto.FLOAT),
        N("Mul", ["x", "h"], ["y"]),
    ]
    assert_same(model_of(nodes, {"x": (3, 2)}), tmp_path)
    model = model_of(
        [N("Mul", ["x", "c"], ["y"])], {"x": (3, 2)}, {"c": np.array([1.0, 2.0])},
        input_type=TensorProto.DOUBLE, output_type=TensorProto.DOUBLE,
    )  # fmt: skip
    graph = imported(model, tmp_path)
    assert graph.values["x"].dtype.value == "float32"
    assert graph.constants["c"].array.dtype == np.float32


def test_shared_weights_are_stored_once(tmp_path):
    nodes = [
        N("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        N("Relu", ["a"], ["r"]),
        N("Conv", ["r", "w"], ["y"], pads=[1, 1, 1, 1]),
    ]
    graph = assert_same(model_of(nodes, {"x": (1, 3, 5, 5)}, {"w": f(3, 3, 3, 3)}), tmp_path)
    assert list(graph.constants) == ["w"]


def test_output_of_a_vanished_operator_keeps_its_name(tmp_path):
    nodes = [N("Relu", ["x"], ["a"]), N("Dropout", ["a"], ["y"])]
    graph = assert_same(model_of(nodes, {"x": (2, 3)}, outputs=["a", "y"], opset=7), tmp_path)
    assert graph.outputs == ("a", "y")


def test_two_outputs_that_are_one_tensor(tmp_path):
    same = [N("Relu", ["x"], ["y"]), N("Identity", ["y"], ["z"])]
    twins = [N("Relu", ["x"], ["y"]), N("Relu", ["x"], ["z"])]
    for nodes in (same, twins):
        graph = assert_same(model_of(nodes, {"x": (2, 3)}, outputs=["y", "z"]), tmp_path)
        assert graph.outputs == ("y", "z")


def test_scikit_learn_classifier(tmp_path):
    """The operators that skl2onnx writes behind a multi-layer perceptron."""
    nodes = [
        N("Cast", ["x"], ["xc"], to=TensorProto.FLOAT),
        N("MatMul", ["xc", "w"], ["h"]),
        N("Add", ["h", "b"], ["s"]),
        N("Softmax", ["s"], ["p"], axis=1),
        N("ArgMax", ["p"], ["i"], axis=1),
        N("ArrayFeatureExtractor", ["classes", "i"], ["l"], domain="ai.onnx.ml"),
        N("Cast", ["l"], ["lf"], to=TensorProto.FLOAT),
        N("Reshape", ["lf", "flat"], ["lr"]),
        N("Cast", ["lr"], ["y"], to=TensorProto.INT64),
    ]
    constants = {"w": f(4, 3), "b": f(3), "classes": i(0, 1, 2), "flat": i(-1)}
    model = model_of(nodes, {"x": (1, 4)}, constants, output_type=TensorProto.INT64)
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    graph = assert_same(model, tmp_path)
    assert graph.values["y"].shape == (1,)


def test_scikit_learn_standard_scaler(tmp_path):
    for offset, scale in (([1.0, 2.0, 3.0], [0.5, 2.0, -1.0]), ([0.25], [4.0])):
        scaler = N("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=offset, scale=scale)
        model = model_of([scaler], {"x": (1, 3)})
        model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
        assert_same(model, tmp_path)


def test_labels_that_are_computed_with_are_refused_with_a_remedy(tmp_path):
    nodes = [
        N("ArgMax", ["x"], ["i"], axis=1),
        N("ArrayFeatureExtractor", ["classes", "i"], ["l"], domain="ai.onnx.ml"),
        N("Cast", ["l"], ["f"], to=TensorProto.FLOAT),
        N("Neg", ["f"], ["y"]),
    ]
    model = model_of(nodes, {"x": (1, 3)}, {"classes": i(3, 5, 7)})
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    with pytest.raises(ImportModelError) as caught:
        imported(model, tmp_path)
    assert "extract_model" in str(caught.value)


def test_libraries_say_nothing_of_what_they_cannot_compute(tmp_path, caplog):
    nodes = [N("Gather", ["c", "i"], ["r"]), N("Add", ["x", "r"], ["y"])]
    model = model_of(nodes, {"x": (1, 3)}, {"c": f(4, 3), "i": i(9)})
    with pytest.raises(ImportModelError):
        imported(model, tmp_path)
    assert not caplog.records


def test_a_batch_norm_standardizes_weights(tmp_path):
    """PyTorch's older exporter writes `batch_norm(weight, training=True)` as it stands."""
    nodes = [
        N("Reshape", ["w", "flat"], ["rows"]),
        N(
            "BatchNormalization",
            ["rows", "g", "b", "m", "v"],
            ["n", "mean1", "variance1"],
            training_mode=1,
        ),
        N("Reshape", ["n", "whole"], ["kernel"]),
        N("Conv", ["x", "kernel"], ["y"]),
    ]
    constants = {
        "w": f(4, 3, 2, 2), "flat": i(1, 4, 12), "g": f(4), "b": f(4), "m": f(4),
        "v": np.abs(f(4)), "whole": i(4, 3, 2, 2),
    }  # fmt: skip
    graph = assert_same(model_of(nodes, {"x": (1, 3, 5, 5)}, constants, opset=17), tmp_path)
    assert [node.op for node in graph.nodes if node.op != "Transpose"] == ["Conv"]


def test_a_batch_norm_in_training_is_refused(tmp_path):
    norm = N("BatchNormalization", ["x", "g", "b", "m", "v"], ["y"], training_mode=1)
    constants = {name: np.abs(f(3)) for name in "gbmv"}
    with pytest.raises(ImportModelError, match="training mode"):
        imported(model_of([norm], {"x": (1, 3, 4)}, constants, opset=17), tmp_path)


COMPARISONS = {"Equal": 7, "Greater": 7, "GreaterOrEqual": 12, "Less": 7, "LessOrEqual": 12}
"""The first opset of each, from 7 on."""


@pytest.mark.parametrize(
    ("op", "opset"),
    [(op, opset) for op, first in COMPARISONS.items() for opset in range(first, 24)],
)
def test_comparisons_of_constants_at_every_opset(op, opset, tmp_path):
    nodes = [
        N(op, ["a", "b"], ["c"]),
        N("Cast", ["c"], ["d"], to=TensorProto.FLOAT),
        N("Mul", ["x", "d"], ["y"]),
    ]
    # Until opset 9 only Equal knew integers, and Equal nothing else until 11.
    dtype = np.int32 if op == "Equal" or opset >= 9 else np.float32
    numbers = {"a": np.arange(4, dtype=dtype), "b": np.array([2], dtype)}
    assert_same(model_of(nodes, {"x": (1, 4)}, numbers, opset=opset), tmp_path)


@pytest.mark.parametrize("op", ["And", "Or", "Xor"])
def test_truth_values_of_compared_constants(op, tmp_path):
    nodes = [
        N("GreaterOrEqual", ["a", "b"], ["c"]),
        N("LessOrEqual", ["a", "one"], ["e"]),
        N(op, ["c", "e"], ["s"]),
        N("Not", ["s"], ["t"]),
        N("Cast", ["t"], ["d"], to=TensorProto.FLOAT),
        N("Mul", ["x", "d"], ["y"]),
    ]
    numbers = {"a": i(0, 1, 2, 3), "b": i(2), "one": i(1)}
    assert_same(model_of(nodes, {"x": (1, 4)}, numbers, opset=14), tmp_path)


@pytest.mark.parametrize(
    ("op", "opset"), [("Gelu", 20), ("HardSwish", 14), ("Mish", 18), ("Erf", 13)]
)
def test_functions_of_constants_are_computed(op, opset, tmp_path):
    """Operators that ONNX defines by others, too."""
    nodes = [N(op, ["c"], ["d"]), N("Add", ["x", "d"], ["y"])]
    graph = assert_same(model_of(nodes, {"x": (2, 3)}, {"c": f(2, 3)}, opset=opset), tmp_path)
    assert [n.op for n in graph.nodes] == ["Add"]


def test_shapes_after_a_branch_that_is_chosen_at_import(tmp_path):
    """PyTorch's squeeze is an If that asks for the length of an axis."""
    info = [helper.make_tensor_value_info("q", TensorProto.FLOAT, None)]
    branches = {
        "then_branch": helper.make_graph([N("Squeeze", ["x", "one"], ["q"])], "a", [], info),
        "else_branch": helper.make_graph([N("Identity", ["x"], ["q"])], "b", [], info),
    }
    nodes = [
        N("Shape", ["x"], ["s"]),
        N("Gather", ["s", "one"], ["d"]),
        N("Equal", ["d", "one"], ["c"]),
        N("If", ["c"], ["z"], **branches),
        N("Shape", ["z"], ["t"]),
        N("Slice", ["t", "zero", "one"], ["first"]),
        N("Concat", ["first", "minus"], ["u"], axis=0),
        N("Reshape", ["z", "u"], ["y"]),
    ]
    constants = {"one": i(1), "zero": i(0), "minus": i(-1)}
    graph = assert_same(model_of(nodes, {"x": (2, 1, 3, 4)}, constants), tmp_path)
    assert graph.values["y"].shape == (2, 12)
