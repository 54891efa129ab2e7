"""Models that nobody should send: each ends in one clear EdgecError."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from import_models import N, imported, model_of, save
from onnx import TensorProto, helper

from edgec.base.errors import EdgecError, ImportModelError, UnsupportedModelError
from edgec.importers.onnx import load
from edgec.importers.onnx import load as external
from edgec.importers.onnx.importer import import_model, inspect_model

RELU = [N("Relu", ["x"], ["y"])]
W = np.ones((4, 3), np.float32)


def gemm_model() -> onnx.ModelProto:
    nodes = [N("MatMul", ["x", "w"], ["h"]), N("Relu", ["h"], ["y"])]
    return model_of(nodes, {"x": (1, 4)}, {"w": W})


def rich_model() -> bytes:
    rng = np.random.default_rng(0)
    constants = {
        "w": rng.normal(size=(4, 3, 3, 3)).astype(np.float32),
        "s": np.array([1, -1], np.int64),
        "m": rng.normal(size=(64, 5)).astype(np.float32),
        "q": np.float32(0.1),
        "z": np.int8(0),
    }
    nodes = [
        N("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], name="conv"),
        N("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        N("QuantizeLinear", ["p", "q", "z"], ["pq"]),
        N("DequantizeLinear", ["pq", "q", "z"], ["pd"]),
        N("Reshape", ["pd", "s"], ["r"]),
        N("MatMul", ["r", "m"], ["g"]),
        N("Softmax", ["g"], ["y"], axis=-1),
    ]
    return model_of(nodes, {"x": (1, 3, 8, 8)}, constants).SerializeToString()


RICH = rich_model()


def try_bytes(data: bytes, folder: Path) -> None:
    """Import and inspect; any exception that is no EdgecError escapes."""
    path = folder / "fuzzed.onnx"
    path.write_bytes(data)
    for function in (import_model, inspect_model):
        try:
            function(path)
        except EdgecError as error:
            assert error.exit_code in (2, 3)
            assert error.what


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)  # fmt: skip
@given(cut=st.integers(0, len(RICH) - 1))
def test_truncated_files(cut, tmp_path):
    try_bytes(RICH[:cut], tmp_path)


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)  # fmt: skip
@given(changes=st.lists(st.tuples(st.integers(0, len(RICH) - 1), st.integers(0, 255)), max_size=4))
def test_corrupted_files(changes, tmp_path):
    data = bytearray(RICH)
    for position, byte in changes:
        data[position] = byte
    try_bytes(bytes(data), tmp_path)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)  # fmt: skip
@given(data=st.binary(max_size=300))
def test_random_files(data, tmp_path):
    try_bytes(data, tmp_path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(ImportModelError, match="no such model file"):
        import_model(tmp_path / "absent.onnx")
    with pytest.raises(ImportModelError, match="no such model file"):
        import_model(tmp_path)


def test_file_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(load, "MAX_MODEL_BYTES", 10)
    with pytest.raises(ImportModelError, match="larger than"):
        imported(gemm_model(), tmp_path)


@pytest.mark.parametrize("opset", [6, 29, 99])
def test_opset_out_of_range(opset, tmp_path):
    model = gemm_model()
    model.opset_import[0].version = opset
    with pytest.raises(ImportModelError, match=f"opset {opset}"):
        imported(model, tmp_path)


def test_no_opset(tmp_path):
    model = gemm_model()
    del model.opset_import[:]
    with pytest.raises(ImportModelError, match="which version"):
        imported(model, tmp_path)


def test_empty_graph(tmp_path):
    with pytest.raises(ImportModelError, match="no nodes"):
        imported(model_of([], {"x": (1, 3)}, outputs=["x"]), tmp_path)


def test_cycle(tmp_path):
    nodes = [N("Add", ["x", "b"], ["a"], name="first"), N("Relu", ["a"], ["b"], name="second")]
    with pytest.raises(ImportModelError, match=r"cycle.*first"):
        imported(model_of(nodes, {"x": (1, 3)}, outputs=["b"]), tmp_path)


def test_unsorted_nodes_are_sorted(tmp_path):
    nodes = [N("Relu", ["a"], ["y"]), N("Neg", ["x"], ["a"])]
    graph = imported(model_of(nodes, {"x": (1, 3)}), tmp_path)
    assert [n.op for n in graph.nodes] == ["Unary", "Clip"]


def test_undefined_tensor(tmp_path):
    with pytest.raises(ImportModelError, match="nothing computes"):
        imported(model_of([N("Add", ["x", "ghost"], ["y"])], {"x": (1, 3)}), tmp_path)


def test_two_nodes_of_one_name(tmp_path):
    nodes = [N("Relu", ["x"], ["a"], name="n"), N("Relu", ["a"], ["y"], name="n")]
    with pytest.raises(ImportModelError, match="two nodes are named 'n'"):
        imported(model_of(nodes, {"x": (1, 3)}), tmp_path)


def test_two_nodes_of_one_output(tmp_path):
    nodes = [N("Relu", ["x"], ["y"]), N("Neg", ["x"], ["y"])]
    with pytest.raises(ImportModelError, match="two nodes compute 'y'"):
        imported(model_of(nodes, {"x": (1, 3)}), tmp_path)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers(bad, tmp_path):
    model = gemm_model()
    weight = W.copy()
    weight[1, 1] = bad
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weight, "w"))
    with pytest.raises(ImportModelError, match="NaN or infinite") as caught:
        imported(model, tmp_path)
    assert caught.value.where == "w"


def test_infinite_bounds_are_no_weights(tmp_path):
    node = N("Clip", ["x", "lo", "hi"], ["y"])
    bounds = {"lo": np.float32(0), "hi": np.float32(np.inf)}
    imported(model_of([node], {"x": (1, 3)}, bounds), tmp_path)


def test_double_weights_beyond_float32(tmp_path):
    model = model_of(
        [N("Mul", ["x", "huge"], ["y"])], {"x": (1, 3)}, {"huge": np.array([1e300])},
        input_type=TensorProto.DOUBLE,
    )  # fmt: skip
    with pytest.raises(ImportModelError, match="NaN or infinite"):
        imported(model, tmp_path)


def test_attribute_that_is_no_number(tmp_path):
    node = N("LeakyRelu", ["x"], ["y"], alpha=float("nan"))
    with pytest.raises(ImportModelError, match="not a finite number"):
        imported(model_of([node], {"x": (1, 3)}), tmp_path)


@pytest.mark.parametrize(
    ("dims", "message"),
    [([2**16, 2**15], "2147483648 elements"), ([2**62, 2**62], "elements"), ([5, 3], "needs 60"),
     ([-4, -3], "negative")],
)  # fmt: skip
def test_claimed_shapes(dims, message, tmp_path):
    model = gemm_model()
    model.graph.initializer[0].dims[:] = dims
    with pytest.raises(ImportModelError, match=message):
        imported(model, tmp_path)


def test_input_of_impossible_size(tmp_path):
    with pytest.raises(ImportModelError, match="impossible shape"):
        imported(model_of(RELU, {"x": (1, 2**20, 2**20)}), tmp_path, {})


def test_value_of_impossible_size(tmp_path):
    shape = {"s": np.array([2**16, 2**16], np.int64)}
    pads = {"p": np.array([0, 2**31], np.int64)}
    for node, constants in (
        (N("Expand", ["x", "s"], ["y"]), shape),
        (N("Pad", ["x", "p"], ["y"]), pads),
    ):
        with pytest.raises(EdgecError):
            imported(model_of([node], {"x": (1,)}, constants), tmp_path)


def test_huge_constants_are_not_computed(tmp_path):
    shape = {"s": np.array([2**15, 2**15], np.int64)}
    nodes = [N("ConstantOfShape", ["s"], ["c"]), N("Add", ["x", "c"], ["y"])]
    with pytest.raises(UnsupportedModelError, match="ConstantOfShape"):
        imported(model_of(nodes, {"x": (1, 1)}, shape), tmp_path)


def test_too_many_dimensions(tmp_path):
    shape = {"s": np.ones(100, np.int64), "w": np.ones((1, 1), np.float32)}
    for nodes in (
        [N("Reshape", ["x", "s"], ["y"])],
        [N("DequantizeLinear", ["q", "w1"], ["d"]), N("Reshape", ["d", "s"], ["r"]),
         N("Add", ["x", "r"], ["y"])],
    ):  # fmt: skip
        constants = {**shape, "q": np.ones(1, np.int8), "w1": np.float32(1)}
        with pytest.raises(UnsupportedModelError, match="100 dimensions"):
            imported(model_of(nodes, {"x": (1, 1)}, constants), tmp_path)


def test_resize_to_an_endless_image(tmp_path):
    sizes = {"s": np.array([1, 1, 2**24, 1], np.int64)}
    node = N("Resize", ["x", "", "", "s"], ["y"])
    with pytest.raises(UnsupportedModelError, match="rows or columns"):
        imported(model_of([node], {"x": (1, 1, 2, 1)}, sizes), tmp_path)


def test_sparse_initializers(tmp_path):
    model = gemm_model()
    values = helper.make_tensor("sp", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [2])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    with pytest.raises(ImportModelError, match="sparse"):
        imported(model, tmp_path)


NASTY = ['quo"te', "new\nline", "../../etc/passwd", "int", "x" * 10_000, "\x00\x1b[31m", "a b;c"]


@pytest.mark.parametrize("name", NASTY, ids=range(len(NASTY)))
def test_strange_names_work_and_errors_show_them_on_one_line(name, tmp_path):
    nodes = [N("MatMul", ["x", "w"], [name], name=name), N("Relu", [name], ["y"])]
    graph = imported(model_of(nodes, {"x": (1, 4)}, {"w": W}), tmp_path)
    assert name in graph.values
    bad = model_of([N("Bernoulli", ["x"], ["y"], name=name)], {"x": (1, 4)}, opset=15)
    with pytest.raises(UnsupportedModelError) as caught:
        imported(bad, tmp_path)
    (problem,) = caught.value.nodes
    assert problem.name.isprintable()
    assert len(problem.name) <= 100


def test_all_unsupported_nodes_at_once(tmp_path):
    nodes = [
        N("Bernoulli", ["x"], ["a"]),
        N("Einsum", ["a", "c", "c"], ["m"], name="outer", equation="ij,ij,ij->ij"),
        N("Relu", ["m"], ["r"]),
        N("FusedThing", ["r"], ["f"], domain="com.example", name="fused"),
        N("Relu", ["f"], ["y"]),
    ]
    constants = {"c": np.ones((4, 4), np.float32)}
    model = model_of(nodes, {"x": (4, 4)}, constants, opset=17)
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    with pytest.raises(UnsupportedModelError) as caught:
        imported(model, tmp_path)
    problems = caught.value.nodes
    assert [(p.name, p.op, p.shape) for p in problems] == [
        ("Bernoulli:a", "Bernoulli", "4x4"),
        ("outer", "Einsum", "4x4"),
        ("fused", "FusedThing", "shape unknown"),
    ]
    assert all(p.reason and p.remedy for p in problems)


def test_repeats_beyond_any_memory_are_refused_before_they_are_made(tmp_path):
    model = model_of([N("Tile", ["x", "r"], ["y"])], {"x": (4, 4)}, {"r": np.array([1, 2**40])})
    with pytest.raises(UnsupportedModelError, match="elements"):
        imported(model, tmp_path)


def test_pads_beyond_any_memory_are_refused_before_they_are_made(tmp_path):
    pads = {"p": np.array([0, 0, 0, 2**40])}
    model = model_of([N("Pad", ["x", "p"], ["y"], mode="wrap")], {"x": (4, 4)}, pads)
    with pytest.raises(UnsupportedModelError, match="rows or columns"):
        imported(model, tmp_path)


@pytest.mark.parametrize(
    "equation", ["i.j->ij", "i..j", "i....", "i. ..j", "i-j", "i->->j", "i1", "µ", ">"]
)
def test_equations_that_are_none(equation, tmp_path):
    """Of some of them onnx's shape inference never comes back."""
    model = model_of([N("Einsum", ["x"], ["y"], equation=equation)], {"x": (3, 3)})
    with pytest.raises(ImportModelError, match="equation"):
        imported(model, tmp_path)


def test_subgraphs(tmp_path):
    body = helper.make_graph(
        [N("Neg", ["x"], ["b"])], "body", [], [helper.make_tensor_value_info("b", 1, None)]
    )
    nodes = [
        N("ReduceMax", ["x"], ["m"], keepdims=0),
        N("Cast", ["m"], ["flag"], to=TensorProto.BOOL),
        N("If", ["flag"], ["y"], then_branch=body, else_branch=body),
    ]
    with pytest.raises(UnsupportedModelError, match="condition is computed at run time"):
        imported(model_of(nodes, {"x": (1, 4)}), tmp_path)


@pytest.mark.parametrize(
    "node",
    [
        N("Relu", ["x", "x"], ["y"]),
        N("Relu", ["x"], ["y"], unknown=1),
        N("LeakyRelu", ["x"], ["y"], alpha="text"),
        N("Concat", ["x", "x"], ["y"]),
    ],
)
def test_nodes_against_the_schema(node, tmp_path):
    with pytest.raises(ImportModelError, match="rules of ONNX|ValueError|Error"):
        imported(model_of([node], {"x": (1, 4)}), tmp_path)


def test_shapes_that_do_not_fit_name_the_node(tmp_path):
    node = N("MatMul", ["x", "w"], ["y"], name="wrong")
    with pytest.raises(ImportModelError, match="wrong"):
        imported(model_of([node], {"x": (1, 5)}, {"w": W}), tmp_path)


def test_output_that_is_constant(tmp_path):
    nodes = [N("Relu", ["x"], ["y"]), N("Neg", ["w"], ["z"])]
    with pytest.raises(ImportModelError, match="does not depend"):
        imported(model_of(nodes, {"x": (1, 4)}, {"w": W}, outputs=["y", "z"]), tmp_path)


def external_model(location: str, folder: Path, **entries: str) -> Path:
    model = gemm_model()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return save(model, folder)


def test_external_data_in_the_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.bin").write_bytes(b"skip" + W.tobytes())
    path = external_model("sub/w.bin", tmp_path, offset="4", length="48")
    np.testing.assert_array_equal(import_model(path).constants["w"].array, W.T)


@pytest.mark.parametrize(
    "location",
    [
        "../w.bin",
        "sub/../../w.bin",
        "{absolute}",
        "C:\\w.bin",
        "\\\\server\\w.bin",
        "",
        ".",
        "absent.bin",
        "link.bin",
        "linked/w.bin",
        "w\x00.bin",
        "f" * 5000,
    ],
)
def test_external_data_outside_the_folder(location, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    outside = tmp_path / "w.bin"
    outside.write_bytes(W.tobytes())
    (folder / "link.bin").symlink_to(outside)
    (folder / "linked").symlink_to(tmp_path)
    path = external_model(location.replace("{absolute}", str(outside)), folder)
    with pytest.raises(ImportModelError, match="tensor w"):
        import_model(path)


@pytest.mark.parametrize(
    "entries",
    [
        {"offset": "8"},
        {"length": "1000"},
        {"offset": "-4"},
        {"length": "many"},
        {"offset": "9" * 30},
        {"offset": "1000"},
    ],
)
def test_external_data_too_short(entries, tmp_path):
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    with pytest.raises(ImportModelError):
        import_model(external_model("w.bin", tmp_path, **entries))


def test_external_data_budget(tmp_path, monkeypatch):
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    monkeypatch.setattr(external, "MAX_EXTERNAL_BYTES", 10)
    with pytest.raises(ImportModelError, match="exceed"):
        import_model(external_model("w.bin", tmp_path))


def test_a_model_saved_by_pytorch_is_named(tmp_path: Path):
    path = tmp_path / "net.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/data.pkl", b"")
    with pytest.raises(ImportModelError, match="as PyTorch and Keras save models") as caught:
        load.load_model(path)
    assert "torch.onnx.export" in str(caught.value.hint)
