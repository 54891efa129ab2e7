"""Open and fixed dimensions of graph inputs."""

from __future__ import annotations

import numpy as np
import pytest
from import_models import N, imported, model_of, run, save
from onnx import numpy_helper

from edgec.base.errors import ConfigError, ImportModelError
from edgec.base.options import MaxLength
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.executor import Executor
from edgec.floatrun.float_model import FloatModel
from edgec.importers.formats import batch_notes_of, shapes_at
from edgec.importers.formats import import_model as import_any

RELU = [N("Relu", ["x"], ["y"])]


@pytest.mark.parametrize("batch", ["N", None])
def test_open_batch_becomes_one(batch, tmp_path):
    graph = imported(model_of(RELU, {"x": (batch, 3, 4)}), tmp_path, {})
    assert graph.values["x"].shape == (1, 3, 4)


def test_open_batch_flows_through_shape_arithmetic(tmp_path):
    nodes = [
        N("Shape", ["x"], ["s"]),
        N("Slice", ["s", "zero", "one"], ["n"]),
        N("Concat", ["n", "minus"], ["t"], axis=0),
        N("Reshape", ["x", "t"], ["y"]),
    ]
    constants = {k: np.array([v], np.int64) for k, v in (("zero", 0), ("one", 1), ("minus", -1))}
    model = model_of(nodes, {"x": ("N", 3, 4)}, constants)
    graph = imported(model, tmp_path, {})
    x = np.arange(12, dtype=np.float32).reshape(1, 3, 4)
    np.testing.assert_array_equal(run(export_real(graph), {"x": x})[0], run(model, {"x": x})[0])


def test_all_open_inputs_are_named_in_one_error(tmp_path):
    model = model_of([N("Add", ["x", "z"], ["y"])], {"x": ("N", "H", 3), "z": ("N", 5, "W")})
    with pytest.raises(ImportModelError) as caught:
        imported(model, tmp_path, {})
    assert "--shape x=1,32,3" in caught.value.hint
    assert "--shape z=1,5,32" in caught.value.hint
    graph = imported(model, tmp_path, {"x": (1, 5, 3), "z": (1, 5, 3)})
    assert graph.values["y"].shape == (1, 5, 3)


def test_input_without_a_shape_needs_one(tmp_path):
    model = model_of(RELU, {"x": (1, 3)})
    model.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(ImportModelError, match=r"inputs open: "):
        imported(model, tmp_path, {})
    assert imported(model, tmp_path, {"x": (1, 7)}).values["y"].shape == (1, 7)


def test_a_dimension_of_minus_one_is_open(tmp_path):
    model = model_of(RELU, {"x": (-1, 3, 4)})
    assert imported(model, tmp_path, {}).values["y"].shape == (1, 3, 4)
    assert imported(model, tmp_path, {"x": (1, 3, 4)}).values["y"].shape == (1, 3, 4)


def test_fixed_batch_needs_a_decision(tmp_path):
    model = model_of(RELU, {"x": (8, 3, 4)})
    with pytest.raises(ImportModelError, match="batch of 8") as caught:
        imported(model, tmp_path, {})
    assert "--shape x=1,3,4" in caught.value.hint
    assert imported(model, tmp_path, {"x": (1, 3, 4)}).values["y"].shape == (1, 3, 4)


@pytest.mark.parametrize("rest", [-1, 12])
@pytest.mark.parametrize("stored", [False, True])
def test_one_sample_of_a_fixed_batch_is_reshaped(stored, rest, tmp_path):
    """PyTorch's tracing writes the batch down where it reshapes."""
    nodes, constants = [N("Reshape", ["x", "s"], ["y"])], {"s": np.array([8, rest], np.int64)}
    if not stored:
        nodes.insert(0, N("Constant", [], ["s"], value=numpy_helper.from_array(constants.pop("s"))))
    model = model_of(nodes, {"x": (8, 3, 4)}, constants)
    graph = imported(model, tmp_path, {"x": (1, 3, 4)})
    assert graph.values["y"].shape == (1, 12)
    x = np.arange(96, dtype=np.float32).reshape(8, 3, 4)
    found = [run(export_real(graph), {"x": x[n : n + 1]})[0] for n in range(8)]
    np.testing.assert_array_equal(np.concatenate(found), run(model, {"x": x})[0])
    assert imported(model, tmp_path, {"x": (8, 3, 4)}).values["y"].shape == (8, 12)


@pytest.mark.parametrize("stated", [(4, -1), (4, 48), (4, 3, 16)])
@pytest.mark.parametrize("first", ["N", None])
def test_a_batch_that_tracing_wrote_down_though_it_is_open(first, stated, tmp_path):
    """Such a file runs with that batch alone; edgec reads one sample of it."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=(16 if len(stated) == 3 else 48, 5)).astype(np.float32)
    nodes = [N("Reshape", ["x", "s"], ["r"]), N("MatMul", ["r", "w"], ["y"])]
    model = model_of(nodes, {"x": (first, 3, 4, 4)}, {"s": np.array(stated, np.int64), "w": w})
    graph = imported(model, tmp_path, {})
    x = rng.normal(size=(4, 3, 4, 4)).astype(np.float32)
    found = [run(export_real(graph), {"x": x[n : n + 1]})[0] for n in range(4)]
    np.testing.assert_allclose(np.concatenate(found), run(model, {"x": x})[0], rtol=1e-4, atol=1e-5)


def test_rows_of_one_sample_are_no_batch(tmp_path):
    nodes = [N("Reshape", ["x", "s"], ["r"]), N("Relu", ["r"], ["y"])]
    model = model_of(nodes, {"x": ("N", 3, 4)}, {"s": np.array([4, -1], np.int64)})
    assert imported(model, tmp_path, {}).values["y"].shape == (4, 3)


def test_fixed_batch_inside_the_model_is_reported(tmp_path):
    shape = {"s": np.array([12, 8], np.int64)}
    model = model_of([N("Reshape", ["x", "s"], ["y"])], {"x": (8, 3, 4)}, shape)
    with pytest.raises(ImportModelError, match="batch of 1"):
        imported(model, tmp_path, {"x": (1, 3, 4)})


def test_no_dimension_of_minus_one_is_proposed(tmp_path):
    """Where the length of runs is open, as where shapes are."""
    path = save(model_of(RELU, {"x": (-1, "seq", -1)}), tmp_path)
    with pytest.raises(ConfigError) as caught:
        shapes_at(path, MaxLength(12, "seq"), {}, 12)
    assert "--shape x=1,12,32" in caught.value.hint
    found = shapes_at(path, MaxLength(12, "seq"), {"x": (1, 12, 4)}, 7)
    assert found == {"x": (1, 7, 4)}


@pytest.mark.parametrize(
    "shapes",
    [{"nobody": (1, 3)}, {"x": (1, 3)}, {"x": (1, 5, 4)}, {"x": (1, 3, 0)}, {"x": (-1, 3, 4)}],
)
def test_shapes_that_do_not_fit(shapes, tmp_path):
    with pytest.raises(ConfigError):
        imported(model_of(RELU, {"x": ("N", 3, 4)}), tmp_path, shapes)


def test_initializers_listed_as_inputs_are_no_inputs(tmp_path):
    model = model_of([N("Add", ["x", "c"], ["y"])], {"x": (1, 3), "c": (3,)},
                     {"c": np.ones(3, np.float32)})  # fmt: skip
    graph = imported(model, tmp_path, {})
    assert graph.inputs == ("x",)
    assert "c" in graph.constants


def test_stale_shapes_of_outputs_and_values_are_dropped(tmp_path):
    model = model_of(RELU, {"x": (8, 3)})
    model.graph.output[0].type.tensor_type.shape.dim.add().dim_value = 8
    model.graph.value_info.append(model.graph.output[0])
    assert imported(model, tmp_path, {"x": (1, 3)}).values["y"].shape == (1, 3)


@pytest.mark.parametrize("dims", [(2, "batch", 8), (2, "N", 8), (2, "s0", 8)])
def test_batch_axis_is_found_by_name_and_by_use(dims, tmp_path):
    """The states of two layers: the batch is their second dimension, by its name or as in x."""
    nodes = [N("ReduceSum", ["h", "axes"], ["s"], keepdims=0), N("Add", ["x", "s"], ["y"])]
    model = model_of(nodes, {"x": ("s0", 8), "h": dims}, {"axes": np.array([0], np.int64)})
    assert imported(model, tmp_path, {}).values["h"].shape == (2, 1, 8)
    assert imported(model, tmp_path, {"h": (2, 1, 8)}).values["h"].shape == (2, 1, 8)
    with pytest.raises(ConfigError):
        imported(model, tmp_path, {"h": (1, 32, 8)})


def test_batch_after_an_open_sequence(tmp_path):
    model = model_of(RELU, {"x": ("time", "batch", 8)})
    with pytest.raises(ImportModelError) as caught:
        imported(model, tmp_path, {})
    assert "--shape x=32,1,8" in caught.value.hint
    assert imported(model, tmp_path, {"x": (5, 1, 8)}).values["y"].shape == (5, 1, 8)
    with pytest.raises(ConfigError, match="batch of 4"):
        imported(model, tmp_path, {"x": (5, 4, 8)})


def test_fixed_dimension_before_a_nameless_one_is_no_batch(tmp_path):
    model = model_of(RELU, {"h": (2, None, 8)})
    model.graph.node[0].input[0] = "h"
    with pytest.raises(ImportModelError) as caught:
        imported(model, tmp_path, {})
    assert "--shape h=2,1,8" in caught.value.hint
    assert imported(model, tmp_path, {"h": (2, 1, 8)}).values["y"].shape == (2, 1, 8)


def test_batch_above_one_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="batch of 4"):
        imported(model_of(RELU, {"x": ("N", 3, 4)}), tmp_path, {"x": (4, 3, 4)})


def test_input_without_a_batch_axis_gets_one(tmp_path):
    """An image on its own, as a file says it; samples are counted on an axis in front."""
    nodes = [N("Unsqueeze", ["x", "axes"], ["u"]), N("Conv", ["u", "w"], ["y"])]
    weight = np.ones((2, 3, 3, 3), np.float32)
    model = model_of(nodes, {"x": (3, 9, 8)}, {"w": weight, "axes": np.array([0], np.int64)})
    path = save(model, tmp_path)
    with pytest.raises(ImportModelError) as caught:
        import_any(path)
    assert "--shape x=1,9,8" in caught.value.hint
    assert "--shape x=3,9,8" in caught.value.hint
    for shape in ((3, 9, 8), (1, 3, 9, 8)):
        graph = import_any(path, {"x": shape})
        assert graph.shape("x") == (1, 3, 9, 8)
    samples = np.random.default_rng(0).normal(size=(4, 3, 9, 8)).astype(np.float32)
    found = Executor(graph, ["y"]).run({"x": samples})["y"]
    wanted = FloatModel(path).run({"x": samples})["y"]
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("dims", "note"),
    [
        (("batch", 3), "compiled for batch 1: the model leaves it open in x [batch, 3]"),
        ((None, 3), "compiled for batch 1: the model leaves it open in x [?, 3]"),
        ((1, 3), ""),
    ],
)
def test_one_line_says_that_the_batch_is_one(dims, note, tmp_path):
    assert "".join(batch_notes_of(save(model_of(RELU, {"x": dims}), tmp_path))) == note
