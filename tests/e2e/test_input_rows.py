"""`--input-rows`: images that come by rows, from the command line to the emulated board."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from c_programs import BUILDS
from onnx import TensorProto, helper
from row_networks import SIDE, built, photographs, write_network

from edgec.base.errors import BudgetError, ConfigError
from edgec.base.options import App, Budget, CompileOptions, FrontEndOptions, Rows, StreamOptions
from edgec.commands.bundle import bundle_models
from edgec.commands.compile import compile_model
from edgec.commands.export import export_library
from edgec.profile.instructions import count_instructions
from edgec.profile.run import profile
from edgec.report.answer import answer_lines
from edgec.sim.host import HostModel
from edgec.target.board import load_board
from edgec.toolchain import process
from edgec.workflow.evaluation import evaluate
from edgec.workflow.rows import CONSOLE_VARIABLE_BYTES
from edgec.workflow.validation import validate

BOARD = "nucleo_l4r5zi"
USER = Path(__file__).parents[1] / "helpers" / "rows_user.c"


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return write_network(tmp_path_factory.mktemp("by_rows"))


@pytest.fixture(scope="module")
def few(network, tmp_path_factory):
    folder = tmp_path_factory.mktemp("by_rows") / "few"
    return built(network, folder, BOARD, rows=Rows.ALWAYS, input_rows=True)


@pytest.fixture(scope="module")
def whole(network, tmp_path_factory):
    folder = tmp_path_factory.mktemp("by_rows") / "whole"
    return built(network, folder, BOARD, rows=Rows.ALWAYS)


def test_no_image_in_memory_and_the_same_numbers(few, whole):
    assert few.program.arena_bytes < whole.program.arena_bytes
    checks = {check.what: check.skipped for check in few.report.checks}
    assert checks == {"host": "", "emulator": ""}
    x = photographs(3)
    assert np.array_equal(few.run(x), whole.run(x))
    assert np.array_equal(few.run(x, on="emulator"), whole.run(x))
    for place in ("host", "emulator"):
        assert not any(layer.differing for layer in validate(few.folder, on=place).layers)
    (given,) = few.report.inputs
    assert given.library_shape == (1, SIDE, SIDE, 3)
    assert given.runs * given.size_bytes == SIDE * SIDE * 3
    assert "a run" in (few.folder / "report.txt").read_text()


def test_profile_counts_all_runs_of_an_image(few, whole):
    found, beside = profile(few.folder), profile(whole.folder)
    assert 0.8 < found.total_cycles / beside.total_cycles < 1.5
    assert found.arena_bytes < beside.arena_bytes


def test_a_computer_with_linux(network, whole, tmp_path):
    few = built(network, tmp_path / "a53", "raspberry_pi_3", input_rows=True)
    x = photographs(2)
    assert np.array_equal(few.run(x, on="emulator"), whole.run(x))
    beside = built(network, tmp_path / "a53_whole", "raspberry_pi_3", build=True)
    counts = [count_instructions(each.folder).total.instructions for each in (few, beside)]
    assert 0.8 < counts[0] / counts[1] < 1.5


def test_evaluate_takes_whole_images(few, whole, tmp_path):
    np.savez(tmp_path / "few.npz", x=photographs(4), y=np.arange(4))
    on = [evaluate(each.folder, tmp_path / "few.npz") for each in (few, whole)]
    assert on[0].accuracy == on[1].accuracy


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_push_rows(few, build, tmp_path):
    library = few.folder / "library"
    sources = [USER, *sorted((library / "src").glob("*.c"))]
    program = build.compile(sources, [library / "include"], tmp_path / "rows_user")
    done = process.run([program], timeout_s=60)
    assert done.returncode == 0, done.stdout
    codes = (np.arange(SIDE * SIDE * 3) * 7 % 251).astype(np.uint8).view(np.int8)
    host = HostModel(library, tmp_path)
    (scores,) = host.run([codes.reshape(1, -1)])
    assert [int(each) for each in done.stdout.split()] == scores[0].tolist()


def test_bundle_and_exports(few, whole, tmp_path):
    for form in ("c", "cmake", "arduino"):
        export_library(few.folder, form, out=tmp_path / form)
        readme = next((tmp_path / form).rglob("README.md")).read_text("utf-8")
        assert "EDGEC_NOT_YET" in readme
    other = written(tmp_path / "other.onnx", [1, 8])
    second = compile_model(other, BOARD, out=tmp_path / "second")
    bundle = bundle_models([few.folder, second.folder], tmp_path / "bundle")
    assert {check.checked for check in bundle.models} == {True}


def written(path, shape):
    """A file of a network that has one element-wise layer."""
    node = helper.make_node("Relu", ["x"], ["y"])
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "xy"]
    onnx.save(helper.make_model(helper.make_graph([node], path.stem, ports[:1], ports[1:])), path)
    return path


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"stream": StreamOptions.parse(["2"], None, allow_delay=False)}, "a stream takes"),
        ({"front_end": FrontEndOptions.parse("log-mel")}, "the model's own image"),
        ({"rows": Rows.NEVER}, "a few rows at a time"),
        ({"app": App.MLPERF}, "whole inputs"),
    ],
)
def test_options_that_do_not_go_together(network, options, why, tmp_path):
    with pytest.raises(ConfigError, match=why):
        built(network, tmp_path / "out", BOARD, input_rows=True, **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("shape", "why"),
    [([1, 8], "is 1x8"), ([1, 2, 3, 8, 8], "is 1x2x3x8x8"), ([1, 3, 8, 7], "a few rows of this")],
)
def test_inputs_that_are_no_rows(shape, why, tmp_path):
    model, options = written(tmp_path / "one.onnx", shape), CompileOptions(input_rows=True)
    with pytest.raises(ConfigError, match=why):
        compile_model(model, BOARD, out=tmp_path / "out", options=options)
    assert not (tmp_path / "out").exists()


def test_patches_within_a_budget(network, tmp_path):
    """An image that is handed over several times takes less memory than any rows of it."""
    rows = built(network, tmp_path / "rows", BOARD, input_rows=True, rows=Rows.ALWAYS, build=False)
    least = rows.report.rows.front[0].arena_bytes
    memory = load_board(BOARD).memory
    budget = Budget(ram_bytes=least * 3 // 5 + memory.stack_bytes + CONSOLE_VARIABLE_BYTES)
    options = {"input_rows": True, "budget": budget}
    with pytest.raises(BudgetError, match="RAM") as over:
        built(network, tmp_path / "over", BOARD, **options)
    assert "with more --input-passes" in over.value.hint
    patched = built(network, tmp_path / "few", BOARD, input_passes=4, **options)
    chosen = patched.report.rows.front[patched.report.rows.chosen]
    assert chosen.patches > 1
    assert chosen.macs == patched.report.macs > rows.report.macs
    assert patched.report.rows.input_passes == chosen.patches
    assert {check.what: check.skipped for check in patched.report.checks} == {
        "host": "",
        "emulator": "",
    }
    x = photographs(2)
    assert np.array_equal(patched.run(x), rows.run(x))
    assert np.array_equal(patched.run(x, on="emulator"), rows.run(x))
    assert not any(layer.differing for layer in validate(patched.folder, on="emulator").layers)
    assert "patches" in (patched.folder / "report.txt").read_text()
    assert f" in {chosen.patches} patches, " in dict(answer_lines(patched.report, tmp_path))["fits"]
    assert profile(patched.folder).total_cycles > 0


@pytest.mark.parametrize(
    "options", [{}, {"input_rows": True, "rows": Rows.ALWAYS}], ids=["whole image", "always"]
)
def test_passes_without_effect_are_refused(options):
    with pytest.raises(ConfigError, match="--input-passes"):
        CompileOptions(input_passes=2, **options)
