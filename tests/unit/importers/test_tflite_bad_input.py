"""TensorFlow Lite files that are no good end in one clear message."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite
from tflite_cases import CASES, RESIZE, built, f, i, model_of, resized
from tflite_damage import lying_model, mutated
from tflite_models import Op, Sparsity, T, const, tflite_bytes, write_tflite

from edgec.base.errors import ConfigError, EdgecError, ImportModelError, UnsupportedModelError
from edgec.base.options import CompileOptions
from edgec.importers.formats import import_model, inspect_model, standalone_copy
from edgec.importers.tflite import load, load_tensor
from edgec.workflow.integer import integer_model

X = {"x": T((1, 4)), "y": T((1, 4))}


def refused(folder: Path, match: str, tensors: Mapping[str, T], ops: list[Op], **more: Any) -> None:
    path = write_tflite(folder / "m.tflite", tensors, ops, **more)
    with pytest.raises(ImportModelError, match=match):
        import_model(path)


def test_all_operators_that_cannot_be_compiled_are_named_at_once(tmp_path: Path):
    tensors = {name: T((1, 4)) for name in ("x", "a", "b", "c", "d", "y")}
    ops = [
        Op("UNIDIRECTIONAL_SEQUENCE_LSTM", ["x"], ["a"]),
        Op("RELU", ["a"], ["b"]),
        Op("CUSTOM", ["b"], ["c"], custom="FlexErf"),
        Op("MATRIX_DIAG", ["c"], ["d"]),
        Op("RANK", ["d"], ["y"]),
    ]
    path = write_tflite(tmp_path / "m.tflite", tensors, ops)
    with pytest.raises(UnsupportedModelError) as found:
        import_model(path)
    nodes = found.value.nodes
    assert [(node.name, node.op) for node in nodes] == [
        ("a", "UNIDIRECTIONAL_SEQUENCE_LSTM"),
        ("c", "CUSTOM FlexErf"),
        ("d", "MATRIX_DIAG"),
        ("y", "RANK"),
    ]
    assert all(node.shape == "1x4" and node.reason and node.remedy for node in nodes)
    summary = inspect_model(path)
    assert [node.supported for node in summary.nodes] == [False, True, False, False, False]
    assert summary.outputs[0].shape == (1, 4)


@pytest.mark.parametrize("name", ["x", "y"])
def test_int16_codes_have_the_zero_point_that_the_format_says(tmp_path: Path, name: str):
    codes = T((1, 4), dtype="int16", scale=[0.02], zero=[0])
    tensors = {"x": codes, "y": codes, name: replace(codes, zero=[3])}
    path = write_tflite(tmp_path / "m.tflite", tensors, [Op("RELU", ["x"], ["y"])])
    with pytest.raises(ImportModelError, match="zero point, 3, is not 0"):
        integer_model(path, None, CompileOptions())


def test_state_is_refused(tmp_path: Path):
    tensors = {**X, "s": T((1, 4), variable=True)}
    refused(tmp_path, "state that lives between runs", tensors, [Op("ADD", ["x", "s"], ["y"])])


BAD_TREES = {
    "no order": Sparsity(),
    "order": Sparsity([0, 0], [], [3, 4]),
    "many": Sparsity([0, 1], [], [3, 9]),
    "few": Sparsity([0, 1], [], [3, 1]),
    "negative": Sparsity([0, 1], [], [-3, -4]),
    "huge": Sparsity([0, 1], [], [2**31 - 1, 2**31 - 1]),
    "segments": Sparsity([0, 1], [], [3, ([0, 4, 12], range(12))]),
    "indices": Sparsity([0, 1], [], [3, ([0, 4, 8, 12], range(12))]),
    "backwards": Sparsity([0, 1], [], [3, ([0, 8, 4, 12], [0] * 12)]),
    "block": Sparsity([0, 1, 2], [7], [3, 2, 2]),
    "blocks": Sparsity([0, 1, 2, 3], [1, 1], [3, 1, 2, 2]),
}


@pytest.mark.parametrize("name", BAD_TREES)
def test_sparse_weights_that_do_not_fit_are_refused(name: str, tmp_path: Path):
    w = replace(const(np.ones((3, 4), np.float32)), sparse=BAD_TREES[name])
    tensors = {**X, "w": w, "y": T((1, 3))}
    path = write_tflite(
        tmp_path / "m.tflite", tensors, [Op("FULLY_CONNECTED", ["x", "w", ""], ["y"])]
    )
    with pytest.raises(ImportModelError, match="stored as a sparse tensor"):
        import_model(path)


def test_a_sparse_tensor_that_claims_to_be_huge_is_refused(tmp_path: Path):
    tree = Sparsity([0, 1], [], [1, ([0, 1], [5])])
    w = replace(const(np.ones((1, 1), np.float32)), shape=(1 << 14, 1 << 14), sparse=tree)
    tensors = {**X, "w": w, "y": T((1, 3))}
    path = write_tflite(
        tmp_path / "m.tflite", tensors, [Op("FULLY_CONNECTED", ["x", "w", ""], ["y"])]
    )
    with pytest.raises(ImportModelError, match="sparse tensor of 268,435,456 elements"):
        import_model(path)


def test_weights_outside_the_flatbuffer_are_refused(tmp_path: Path):
    w = replace(const(np.ones((3, 4), np.float32)), offset=2**31 + 16)
    op = Op("FULLY_CONNECTED", ["x", "w", ""], ["y"])
    refused(tmp_path, "outside the first 2 GB", {**X, "w": w, "y": T((1, 3))}, [op])


@pytest.mark.parametrize("size", [5, 7, 12])
def test_codes_of_four_bits_that_do_not_fill_their_bytes_are_refused(size: int, tmp_path: Path):
    """One byte too few, one too many, and a byte for each code."""
    w = replace(const(np.zeros(size, np.int8), [0.5]), shape=(3, 4), dtype="int4")
    op = Op("FULLY_CONNECTED", ["x", "w", ""], ["y"])
    tensors = {**X, "w": w, "y": T((1, 3))}
    refused(tmp_path, rf"shape \[3, 4\] needs 6 bytes of data, has {size}", tensors, [op])


def test_several_networks_are_refused(tmp_path: Path):
    refused(tmp_path, r"2 networks \(subgraphs\)", X, [Op("RELU", ["x"], ["y"])], subgraphs=2)


def test_other_versions_are_refused(tmp_path: Path):
    refused(tmp_path, "version 4 of the file format", X, [Op("RELU", ["x"], ["y"])], version=4)


@pytest.mark.parametrize(
    ("ops", "match"),
    [
        ([Op("RELU", ["z"], ["y"])], "before anything computes it"),
        ([Op("RELU", ["y"], ["z"]), Op("RELU", ["z"], ["y"])], "before anything computes it"),
        ([Op("RELU", ["x"], ["y"]), Op("RELU", ["x"], ["y"])], "computed twice"),
        ([Op("RELU", ["x"], ["x"])], "computed twice"),
        ([Op("RELU", ["x"], ["c"])], "computed twice"),
        ([Op("RELU", ["x"], ["z"])], "nothing computes this output"),
        ([], "holds no network"),
        ([Op("RELU", ["x"], [])], "no outputs"),
    ],
)
def test_operators_that_form_no_graph(tmp_path: Path, ops: list[Op], match: str):
    refused(tmp_path, match, {**X, "z": T((1, 4)), "c": f(1, 4)}, ops)


def test_attributes_of_another_operator(tmp_path: Path):
    op = Op("SOFTMAX", ["x"], ["y"], "Conv2DOptions", {"StrideH": 1})
    refused(tmp_path, "its attributes are Conv2DOptions", X, [op])


@pytest.mark.parametrize(
    ("scale", "zero", "match"),
    [
        ([0.0], [0], "positive, finite"),
        ([float("nan")], [0], "positive, finite"),
        ([0.5], [200], "zero_point"),
        ([0.5, 0.5], [0, 0], "per channel"),
        ([0.5, 0.5], [0, 0, 0], "differ in number"),
        ([], [], "unknown meaning|without a scale"),
    ],
)
def test_quantization_that_is_impossible(
    tmp_path: Path, scale: list[float], zero: list[int], match: str
):
    x = T((1, 4), dtype="int8", scale=scale, zero=zero)
    refused(tmp_path, match, {**X, "x": x}, [Op("RELU", ["x"], ["y"])])


def test_a_weight_of_another_size_than_its_shape(tmp_path: Path):
    w = T((5, 4), np.zeros(19, np.float32))
    ops = [Op("FULLY_CONNECTED", ["x", "w"], ["y"], "FullyConnectedOptions")]
    refused(tmp_path, "needs 80 bytes of data, has 76", {**X, "w": w}, ops)


def test_a_weight_that_is_not_finite(tmp_path: Path):
    w = const(np.full((4, 4), np.nan, np.float32))
    ops = [Op("FULLY_CONNECTED", ["x", "w"], ["y"], "FullyConnectedOptions")]
    refused(tmp_path, "NaN or infinite", {**X, "w": w}, ops)


@pytest.mark.parametrize("shape", [(2**20, 2**20), (2**31 - 1, 2), (-5, 1), (1,) * 9])
def test_absurd_shapes(tmp_path: Path, shape: tuple[int, ...]):
    refused(tmp_path, "the shape|dimensions", {**X, "x": T(shape)}, [Op("RELU", ["x"], ["y"])])


def test_a_resize_to_billions_of_cells(tmp_path: Path):
    tensors = {"x": T((1, 4, 4, 1)), "s": i(2**31 - 1, 2**31 - 1), "y": T((1,))}
    op = Op("RESIZE_BILINEAR", ["x", "s"], ["y"], "ResizeBilinearOptions")
    refused(tmp_path, "rows or columns", tensors, [op])


@pytest.mark.parametrize(
    ("module", "limit"),
    [
        (load, "MAX_TENSORS"),
        (load, "MAX_OPERATORS"),
        (load, "MAX_OPERANDS"),
        (load_tensor, "MAX_SCALES"),
    ],
)
def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, limit: str):
    x = T((1, 4), dtype="int8", scale=[1.0], zero=[0])
    path = write_tflite(tmp_path / "m.tflite", {**X, "x": x}, [Op("RELU", ["x"], ["y"])])
    import_model(path)
    monkeypatch.setattr(module, limit, 0)
    with pytest.raises(ImportModelError, match="the file claims"):
        import_model(path)


def test_shapes_of_the_user(tmp_path: Path):
    tensors = {"x": T((1, 1, 3), signature=(-1, -1, 3)), "y": T((1, 1, 3))}
    path = write_tflite(tmp_path / "m.tflite", tensors, [Op("RELU", ["x"], ["y"])])
    with pytest.raises(ImportModelError, match="leaves dimensions of its inputs open"):
        import_model(path)
    assert import_model(path, {"x": (1, 7, 3)}).shape("y") == (1, 7, 3)
    with pytest.raises(ConfigError, match="does not fit the input"):
        import_model(path, {"x": (1, 7, 4)})
    with pytest.raises(ConfigError, match="has no input"):
        import_model(path, {"z": (1, 7, 4)})


def test_names_of_the_signature(tmp_path: Path):
    tensors = {"serving_default_x:0": T((1, 4)), "StatefulPartitionedCall:0": T((1, 4))}
    first, last = tensors
    path = write_tflite(
        tmp_path / "m.tflite", tensors, [Op("RELU", [first], [last])], [first], [last],
        signature={"image": first, "scores": last},
    )  # fmt: skip
    graph = import_model(path)
    assert (graph.inputs, graph.outputs) == (("image",), ("scores",))


def test_names_that_are_no_text_or_equal(tmp_path: Path):
    data = tflite_bytes(
        {"in1": T((1, 4)), "in2": T((1, 4))}, [Op("RELU", ["in1"], ["in2"])], ["in1"], ["in2"]
    )
    path = tmp_path / "m.tflite"
    path.write_bytes(data.replace(b"in1", b"in2"))
    graph = import_model(path)
    assert (graph.inputs, graph.outputs) == (("in2",), ("in2_1",))
    path.write_bytes(data.replace(b"in1", b"\xff\xfe1"))
    with pytest.raises(ImportModelError, match="damaged"):
        import_model(path)


def test_a_file_is_known_by_its_content(tmp_path: Path):
    data = tflite_bytes(X, [Op("RELU", ["x"], ["y"])])
    path = tmp_path / "network.bin"
    path.write_bytes(data)
    assert [node.op for node in import_model(path).nodes] == ["Clip"]
    assert standalone_copy(path) == (".tflite", data)
    wrong = tmp_path / "m.tflite"
    wrong.write_bytes(b"no flatbuffer at all")
    with pytest.raises(ImportModelError, match="no TensorFlow Lite model"):
        import_model(wrong)
    with pytest.raises(ImportModelError, match="no such model file"):
        import_model(tmp_path / "absent.tflite")
    other = tmp_path / "m.onnx"
    other.write_bytes(b"no flatbuffer at all")
    with pytest.raises(ImportModelError, match="not an ONNX model"):
        import_model(other)


def accepted(path: Path, data: bytes, number: int = 0) -> bool:
    """Whether a file is read; where not, by one message of the right kind.

    To inspect is the first half of an import, and a summary: of four files by number, one is.
    """
    path.write_bytes(data)
    good = True
    for function in (import_model, inspect_model)[: 1 + (number % 4 == 0)]:
        try:
            function(path)
        except EdgecError as error:
            assert error.exit_code in (2, 3), error
            good = False
    return good


def check_mutants(name: str, count: int, folder: Path) -> None:
    path = resized(folder, name) if name in RESIZE else built(folder, name)
    data, rng = path.read_bytes(), random.Random(name)
    results = [accepted(path, mutated(rng, data), number) for number in range(count)]
    assert accepted(path, data)
    assert not all(results)
    accepted(path, data[: rng.randrange(len(data))])


@pytest.mark.few_cases(40)
@pytest.mark.parametrize("name", [*CASES, *RESIZE])
def test_mutants_end_in_one_clear_error(name: str, tmp_path: Path):
    check_mutants(name, 60, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CASES, *RESIZE])
def test_many_mutants(name: str, tmp_path: Path):
    check_mutants(name, 500, tmp_path)


def check_lies(name: str, count: int, folder: Path) -> None:
    tensors, operator = model_of(name)
    rng = random.Random(f"lies {name}")
    results = []
    for number in range(count):
        data = lying_model(rng, tensors, operator)
        results.append(accepted(folder / "m.tflite", data, number))
    assert not all(results) or count < 20


@pytest.mark.parametrize("name", CASES)
def test_lies_end_in_one_clear_error(name: str, tmp_path: Path):
    check_lies(name, 25, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_many_lies(name: str, tmp_path: Path):
    check_lies(name, 250, tmp_path)


def test_files_cut_short(tmp_path: Path):
    data = built(tmp_path, "conv_relu").read_bytes()
    read = [accepted(tmp_path / "cut.tflite", data[:length]) for length in range(0, len(data), 7)]
    # Bytes at the very end may be padding.
    assert not any(read[:-2])


def test_every_kind_of_tensor_has_a_name():
    assert set(load_tensor._NUMPY) <= set(vars(tflite.TensorType))


SCALAR = T((), dtype="int8", scale=[0.1], zero=[0])


@pytest.mark.parametrize("op", ["SOFTMAX", "LOG_SOFTMAX"])
def test_functions_over_the_last_axis_of_a_number_are_refused(tmp_path: Path, op: str):
    tensors = {"x": SCALAR, "y": SCALAR}
    refused(tmp_path, "its input is a single number", tensors, [Op(op, ["x"], ["y"])])


@pytest.mark.parametrize("tensor", [SCALAR, T(())])
def test_a_single_number_has_no_channels_to_remove(tmp_path: Path, tensor: T):
    tensors = {"x": tensor, "y": tensor}
    path = write_tflite(tmp_path / "m.tflite", tensors, [Op("RELU6", ["x"], ["y"])])
    assert integer_model(path, None, CompileOptions()).integer.shape("y") == ()


def test_slopes_of_other_channels_are_refused(tmp_path: Path):
    tensors = {"x": T((1, 4, 5)), "a": const(np.ones((4, 3), np.float32)), "y": T((1, 4, 5))}
    refused(tmp_path, r"the slope \[4, 3\] does not fit", tensors, [Op("PRELU", ["x", "a"], ["y"])])
