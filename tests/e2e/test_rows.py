"""`--rows`: layers in turns of a few rows, from the command line to the emulated board."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from edgec.base.errors import ConfigError
from edgec.base.options import Budget, CompileOptions, Rows, StreamOptions
from edgec.commands.compile import compile_model
from edgec.report.model import Report
from edgec.workflow.session import open_session
from edgec.workflow.validation import validate

SIDE = 32
COUNT = 4


def photographs(count=COUNT):
    return np.random.default_rng(5).normal(0, 1, (count, 3, SIDE, SIDE)).astype(np.float32)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A convolution of stride 2, a block that widens sixfold and adds, and a pool."""
    rng, nodes, weights = np.random.default_rng(4), [], []

    def layer(x, y, inputs, outputs, size, **attributes):
        depth = inputs // attributes.get("group", 1)
        shape = (outputs, depth, size, size)
        array = rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape).astype(np.float32)
        weights.append(numpy_helper.from_array(array, f"w_{y}"))
        weights.append(numpy_helper.from_array(np.full(outputs, 0.2, np.float32), f"b_{y}"))
        pads = [size // 2] * 4
        inputs = [x, f"w_{y}", f"b_{y}"]
        nodes.append(helper.make_node("Conv", inputs, [f"{y}_sum"], pads=pads, **attributes))
        nodes.append(helper.make_node("Relu", [f"{y}_sum"], [y]))

    layer("x", "a", 3, 8, 3, strides=[2, 2])
    layer("a", "b", 8, 48, 1)
    layer("b", "c", 48, 48, 3, group=48)
    layer("c", "d", 48, 8, 1)
    nodes.append(helper.make_node("Add", ["a", "d"], ["e"]))
    layer("e", "f", 8, 16, 3, strides=[2, 2])
    nodes.append(helper.make_node("GlobalAveragePool", ["f"], ["g"]))
    nodes.append(helper.make_node("Flatten", ["g"], ["y"]))
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, SIDE, SIDE])
    found = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])
    graph = helper.make_graph(nodes, "photographs", [given], [found], weights)
    path = tmp_path_factory.mktemp("rows") / "photographs.onnx"
    opsets = [helper.make_opsetid("", 13)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def built(network, folder, board="nucleo_f446re", **options):
    calibration = {"x": photographs()}
    return compile_model(
        network, board, calibration=calibration, out=folder, options=CompileOptions(**options)
    )


@pytest.mark.parametrize("board", ["nucleo_f446re", "rpi_pico"])
def test_a_smaller_arena_and_the_same_numbers(network, board, tmp_path):
    whole = built(network, tmp_path / "whole", board, rows=Rows.NEVER, build=False)
    few = built(network, tmp_path / "few", board, rows=Rows.ALWAYS)
    assert few.program.arena_bytes < whole.program.arena_bytes / 2
    checks = {check.what: check.skipped for check in few.report.checks}
    assert checks == {"host": "", "emulator": ""}
    x = photographs(2)
    assert np.array_equal(few.run(x), whole.run(x))
    assert np.array_equal(few.run(x, on="emulator"), whole.run(x))
    assert not any(layer.differing for layer in validate(few.folder, on="emulator").layers)
    largest = max(layer.input_bytes for layer in whole.report.layers)
    assert all(layer.input_bytes * layer.turns <= largest for layer in few.report.layers)
    assert "Layers in turns of a few rows" in (few.folder / "report.txt").read_text()


def test_auto_takes_rows_where_the_budget_asks_for_them(network, tmp_path):
    roomy = built(network, tmp_path / "roomy", build=False)
    assert roomy.report.rows is None
    front = built(network, tmp_path / "least", rows=Rows.ALWAYS, build=False).report.rows
    assert front is not None
    assert front.chosen == 0
    sizes = [each.arena_bytes for each in front.front]
    assert sizes == sorted(sizes)
    assert len(sizes) > 2
    limit = sizes[1] + 4096 + 2048
    tight = built(network, tmp_path / "tight", verify=False, budget=Budget(ram_bytes=limit))
    assert tight.report.rows is not None
    assert tight.report.rows.chosen == 1
    assert Report.read(tmp_path / "tight").rows == tight.report.rows
    assert open_session(tmp_path / "tight", "host").run({"x": photographs(1)})


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"stream": StreamOptions.parse(["2"], None, allow_delay=False)}, "a stream takes"),
    ],
)
def test_models_that_run_as_a_whole_are_refused(network, options, why, tmp_path):
    with pytest.raises(ConfigError, match=why):
        built(network, tmp_path / "out", rows=Rows.ALWAYS, **options)
    assert not (tmp_path / "out").exists()
