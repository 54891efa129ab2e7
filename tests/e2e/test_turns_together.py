"""Layers in turns together with pooled weights, rounding, placement, bundles and exports."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from pooled_models import pooled_file
from row_networks import built, photographs, write_network
from stream_models import tcn
from tflite_models import Op, T, const, write_tflite

from edgec.base.errors import ConfigError
from edgec.base.options import (
    CompileOptions,
    MaxLength,
    Placement,
    PoolKernelOptions,
    PoolKernelRule,
    Rows,
    StreamOptions,
)
from edgec.base.rounding import Rounding
from edgec.commands.bundle import bundle_models
from edgec.commands.compile import compile_model
from edgec.commands.export import export_library
from edgec.target.board import load_board
from edgec.workflow.validation import validate

BOARD = "nucleo_l4r5zi"
WAYS = ({"rows": Rows.ALWAYS}, {"rows": Rows.ALWAYS, "input_rows": True})


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return write_network(tmp_path_factory.mktemp("turns"))


def in_turns(made) -> bool:
    """Whether some layers of a build take a few rows at a time."""
    return made.report.rows is not None and made.report.rows.front[0].layers > 1


@pytest.mark.parametrize("options", WAYS, ids=["rows", "input rows"])
def test_neighbours_of_pooled_layers_run_in_turns(network, options, tmp_path):
    path = pooled_file(network, tmp_path / "pooled.onnx", 16)
    whole = built(path, tmp_path / "whole", BOARD, rows=Rows.NEVER, build=False)
    few = built(path, tmp_path / "few", BOARD, **options)
    assert any(layer.kernel.startswith("pooled") for layer in few.report.layers)
    assert in_turns(few)
    assert few.program.arena_bytes < whole.program.arena_bytes
    assert {check.what: check.skipped for check in few.report.checks} == {
        "host": "",
        "emulator": "",
    }
    assert np.array_equal(few.run(photographs(3)), whole.run(photographs(3)))


def test_input_rows_of_a_pooled_first_layer_are_refused(tmp_path):
    rng = np.random.default_rng(3)
    weights = [
        onnx.numpy_helper.from_array(
            rng.normal(0, 0.1, (outputs, inputs, 3, 3)).astype(np.float32), name
        )
        for name, outputs, inputs in (("w1", 16, 16), ("w2", 8, 16))
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1] * 4),
        helper.make_node("Conv", ["a", "w2"], ["y"], pads=[1] * 4),
    ]
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, depth, 8, 8])
        for name, depth in (("x", 16), ("y", 8))
    ]
    graph = helper.make_graph(nodes, "two", ports[:1], ports[1:], weights)
    opsets = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "two.onnx")
    path = pooled_file(tmp_path / "two.onnx", tmp_path / "pooled.onnx", 16)
    samples = {"x": rng.normal(0, 1, (4, 16, 8, 8)).astype(np.float32)}
    options = CompileOptions(input_rows=True)
    with pytest.raises(ConfigError, match="a few rows of this"):
        compile_model(path, BOARD, calibration=samples, out=tmp_path / "out", options=options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kernel", ["responses", "decode"])
def test_pooled_layers_of_a_stream_by_the_kernel_of_the_window_give_its_bits(kernel, tmp_path):
    onnx.save(tcn(), tmp_path / "tcn.onnx")
    path = pooled_file(tmp_path / "tcn.onnx", tmp_path / "pooled.onnx", 16)
    line = np.random.default_rng(2).normal(0, 0.5, (80, 6)).astype(np.float32)
    windows = np.stack([line[start : start + 40].T for start in range(41)])
    pool = PoolKernelOptions(rules=(PoolKernelRule.parse(kernel),))
    whole, stream = (
        compile_model(
            path,
            BOARD,
            calibration={"x": windows[::4]},
            out=tmp_path / name,
            options=CompileOptions(stream=frames, build=False, pool=pool),
        )
        for name, frames in (("whole", None), ("stream", StreamOptions({"": 2})))
    )
    assert sum(layer.kernel.startswith("pooled") for layer in stream.report.layers) == 6
    assert stream.report.stream.equals_window
    found = stream.run(line[:, :, None])
    assert np.array_equal(found[39 - stream.report.stream.warm_up :], whole.run(windows))


@pytest.mark.parametrize("options", WAYS, ids=["rows", "input rows"])
def test_weights_in_ram(network, options, tmp_path):
    whole = built(network, tmp_path / "whole", BOARD, rows=Rows.NEVER, build=False)
    few = built(network, tmp_path / "few", BOARD, placement=Placement.SRAM, **options)
    assert in_turns(few)
    assert not any(check.skipped for check in few.report.checks)
    assert np.array_equal(few.run(photographs(3)), whole.run(photographs(3)))


def integer_file(path: Path) -> Path:
    """Two int8 convolutions over 32 x 32, the second of stride 2, in a .tflite file."""
    rng = np.random.default_rng(6)

    def weights(*shape: int) -> T:
        return const(rng.integers(-127, 128, shape).astype(np.int8), [0.013] * shape[0])

    def bias(count: int, scale: float) -> T:
        return const(rng.integers(-900, 900, count).astype(np.int32), [scale] * count)

    tensors = {
        "x": T((1, 32, 32, 3), dtype="int8", scale=[0.031], zero=[-3]),
        "w1": weights(8, 3, 3, 3),
        "b1": bias(8, 0.031 * 0.013),
        "a": T((1, 32, 32, 8), dtype="int8", scale=[0.17], zero=[-128]),
        "w2": weights(8, 3, 3, 8),
        "b2": bias(8, 0.17 * 0.013),
        "y": T((1, 16, 16, 8), dtype="int8", scale=[0.9], zero=[4]),
    }
    ops = [
        Op("CONV_2D", ["x", "w1", "b1"], ["a"], "Conv2DOptions", {"StrideH": 1, "StrideW": 1}),
        Op("CONV_2D", ["a", "w2", "b2"], ["y"], "Conv2DOptions", {"StrideH": 2, "StrideW": 2}),
    ]
    return write_tflite(path, tensors, ops)


@pytest.mark.parametrize("options", WAYS, ids=["rows", "input rows"])
@pytest.mark.parametrize("rounding", list(Rounding), ids=str)
def test_each_rounding_of_integer_files(options, rounding, tmp_path):
    path = integer_file(tmp_path / "net.tflite")
    whole, few = (
        compile_model(
            path,
            BOARD,
            out=tmp_path / name,
            options=CompileOptions(build=name == "few", rounding=rounding, **own),
        )
        for name, own in (("whole", {"rows": Rows.NEVER}), ("few", options))
    )
    assert in_turns(few)
    assert not any(check.skipped for check in few.report.checks)
    x = np.random.default_rng(1).integers(-128, 128, (2, 32, 32, 3)).astype(np.int8)
    assert np.array_equal(few.run(x), whole.run(x))


def test_a_bundle_and_exports_of_layers_in_turns(network, tmp_path):
    few = built(network, tmp_path / "few", BOARD, rows=Rows.ALWAYS)
    second = tmp_path / "second.onnx"
    second.write_bytes(network.read_bytes())
    other = built(second, tmp_path / "other", BOARD, rows=Rows.NEVER)
    bundle = bundle_models([few.folder, other.folder], tmp_path / "bundle")
    assert [check.checked for check in bundle.models] == [True, True]
    for form in ("c", "cmake", "arduino", "zephyr", "idf", "platformio"):
        export_library(few.folder, form, out=tmp_path / form)
        assert any((tmp_path / form).rglob("*.c"))


@pytest.mark.parametrize(
    "options", [{}, {"input_rows": True, "input_passes": 4}], ids=["rows", "input rows"]
)
def test_patches_with_weights_in_ram_bundled_and_exported(network, options, tmp_path):
    """A board with a small region for the arena, and another one for weights."""
    board = load_board("disco_f407vg")
    assert board.memory is not None
    ram = tuple(
        replace(region, size_bytes=4760) if region.name == board.memory.arena_in else region
        for region in board.memory.ram
    )
    board = replace(board, memory=replace(board.memory, ram=ram))
    few = built(network, tmp_path / "few", board, placement=Placement.AUTO, **options)
    assert few.report.rows is not None
    assert few.report.rows.front[few.report.rows.chosen].patches > 1
    assert few.report.placement is not None
    assert few.report.placement.weights
    assert {check.what: check.skipped for check in few.report.checks} == {
        "host": "",
        "emulator": "",
    }
    whole = built(network, tmp_path / "whole", rows=Rows.NEVER, build=False)
    x = photographs(2)
    assert np.array_equal(few.run(x, on="emulator"), whole.run(x))
    for place in ("host", "emulator"):
        assert not any(layer.differing for layer in validate(few.folder, on=place).layers)
    for form in ("c", "cmake", "arduino", "zephyr", "idf", "platformio"):
        export_library(few.folder, form, out=tmp_path / form)
        (source,) = (tmp_path / form).rglob("edgec_photographs.c")
        assert "patch 2" in source.read_text()
    second = tmp_path / "second.onnx"
    second.write_bytes(network.read_bytes())
    other = built(second, tmp_path / "other", board, **options)
    bundle = bundle_models([few.folder, other.folder], tmp_path / "bundle")
    assert [check.checked for check in bundle.models] == [True, True]


@pytest.mark.parametrize("options", WAYS, ids=["rows", "input rows"])
def test_runs_of_several_lengths_are_refused(options, tmp_path):
    node = helper.make_node("Relu", ["x"], ["y"])
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 3, "length", 8]) for n in "xy"]
    graph = helper.make_graph([node], "lengths", ports[:1], ports[1:])
    path = tmp_path / "lengths.onnx"
    onnx.save(helper.make_model(graph), path)
    chosen = CompileOptions(max_length=MaxLength(16), **options)
    with pytest.raises(ConfigError, match="runs of several lengths"):
        compile_model(path, BOARD, out=tmp_path / "out", options=chosen)
    assert not (tmp_path / "out").exists()
