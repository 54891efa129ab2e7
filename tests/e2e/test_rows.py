"""`--rows`: layers in turns of a few rows, from the command line to the emulated board."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, save
from row_networks import built, photographs, write_network

from edgec.base.errors import ConfigError
from edgec.base.options import Budget, Rows, StreamOptions
from edgec.cli.app import run_app
from edgec.commands.inspect import Activations, inspect
from edgec.report.answer import answer_lines
from edgec.report.model import Report
from edgec.workflow.rows import CONSOLE_VARIABLE_BYTES
from edgec.workflow.session import open_session
from edgec.workflow.validation import validate


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return write_network(tmp_path_factory.mktemp("rows"))


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


def test_groups_of_channels_are_reported(tmp_path):
    """The widest image is that of the last convolution, which is pooled at once."""
    model = write_network(tmp_path, last=192)
    whole = built(model, tmp_path / "whole", rows=Rows.NEVER, build=False)
    few = built(model, tmp_path / "few", rows=Rows.ALWAYS)
    assert few.report.rows is not None
    groups = few.report.rows.front[0].groups
    assert groups > 1
    assert few.report.rows.front[-1].groups == 1
    x = photographs(2)
    assert np.array_equal(few.run(x, on="emulator"), whole.run(x))
    pools = [layer for layer in few.report.layers if layer.first_channel and layer.op != "Conv"]
    (pool,) = (layer for layer in whole.report.layers if layer.name == pools[0].name)
    assert [layer.input_bytes for layer in pools] == [pool.input_bytes // groups] * (groups - 1)
    assert "groups of channels compute nothing again" in (few.folder / "report.txt").read_text()
    assert (
        f"a layer in {groups} groups of channels"
        in dict(answer_lines(few.report, tmp_path))["fits"]
    )


def test_auto_takes_rows_where_the_budget_asks_for_them(network, tmp_path):
    roomy = built(network, tmp_path / "roomy", build=False)
    assert roomy.report.rows is None
    front = built(network, tmp_path / "least", rows=Rows.ALWAYS, build=False).report.rows
    assert front is not None
    assert front.chosen == 0
    sizes = [each.arena_bytes for each in front.front]
    assert sizes == sorted(sizes)
    assert len(sizes) > 2
    limit = sizes[1] + 4096 + CONSOLE_VARIABLE_BYTES
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


def test_inspect_says_what_rows_save(network, tmp_path):
    found = inspect(network).activations
    assert found is not None
    # The depthwise layer: 16 x 16 of 48 channels in and out, beside the 8 channels that are added.
    assert found.whole == 16 * 16 * (48 + 48 + 8)
    assert found.input_rows is not None
    assert found.rows is not None
    assert found.input_rows < found.rows < found.whole / 3
    few = built(network, tmp_path / "few", rows=Rows.ALWAYS, build=False)
    assert found.rows < few.program.arena_bytes


def test_inspect_says_nothing_of_rows_where_there_are_none(tmp_path):
    node = helper.make_node("Relu", ["x"], ["y"])
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 8]) for n in "xy"]
    path = tmp_path / "flat.onnx"
    save(helper.make_model(helper.make_graph([node], "flat", ports[:1], ports[1:])), path)
    found = inspect(path).activations
    assert found == Activations(16, None, None)


def test_a_limit_that_no_patches_keep_is_named(tmp_path: Path, capsys) -> None:
    """The network begins with a change of axes, which runs in no turns."""
    examples = Path(__file__).resolve().parents[2] / "examples"
    command = ["compile", examples / "digits_resnet.onnx", "--board", "nucleo", "--no-verify"]
    given = ["--calibration", examples / "digits_calibration.npz", "--budget", "ram=1K"]
    assert run_app([str(word) for word in (*command, *given, "--out", tmp_path / "out")]) == 11
    assert "RAM" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
