"""Pooled models from the command line: kernels, widths, run-time widths, the trade-off."""

import json
from pathlib import Path

import numpy as np
import pytest
from pooled_models import small_network, write_pooled

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions, PoolKernelOptions
from edgec.cli.app import run_app
from edgec.commands.compile import CompileResult, compile_model
from edgec.exporters.onnx.export import export_real
from edgec.interp import run_graph_batch
from edgec.ir.weight_pool_graph import limited_bits
from edgec.report.model import Report
from edgec.sim.emulator import EmulatedFirmware
from edgec.workflow.session import open_session

WIDTHS = "8,4,1"


@pytest.fixture(scope="module")
def samples() -> Array:
    return np.random.default_rng(4).normal(size=(24, 8, 8, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pooled(small_network(), tmp_path_factory.mktemp("pooled") / "small.onnx")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, samples: Array) -> Path:
    path = tmp_path_factory.mktemp("data") / "data.npz"
    np.savez(path, x=samples, y=np.arange(len(samples)) % 10)
    return path


@pytest.fixture(scope="module")
def build(model: Path, samples: Array, tmp_path_factory: pytest.TempPathFactory) -> CompileResult:
    """Firmware whose width can be set; layers are made for at most 6 bits."""
    options = CompileOptions(pool=PoolKernelOptions(6, runtime_bits=True))
    out = tmp_path_factory.mktemp("build") / "out"
    return compile_model(
        model, "nucleo_f446re", calibration={"x": samples}, out=out, options=options
    )


def _compile(model: Path, data: Path, out: Path, *more: str) -> list[str]:
    command = ["compile", str(model), "--board", "nucleo", "--calibration", str(data)]
    return [*command, "--out", str(out), "--no-build", "--no-verify", "--force", *more]


def test_every_width_is_checked(build: CompileResult) -> None:
    """`compile` itself compared the C with the reference at the widths 6 to 1."""
    assert build.report.runtime_bits
    assert [check.skipped for check in build.report.checks] == ["", ""]
    assert {layer.activation_bits for layer in build.report.pooled} == {6}
    assert build.program.max_activation_bits == 6
    header = (build.folder / "library/include/edgec_small.h").read_text()
    assert "int32_t edgec_small_set_activation_bits(edgec_context_t *" in header
    assert "EDGEC_SMALL_MAX_ACTIVATION_BITS 6" in header


@pytest.mark.parametrize("on", ["host", "emulator"])
def test_c_at_a_width_is_the_reference_at_that_width(
    build: CompileResult, samples: Array, on: str
) -> None:
    codes = build.model.integer.quant("x").quantize(samples[:3])
    seen = set()
    for bits in (8, 5, 2, 1):
        session = open_session(build.folder, on, bits)
        (found,) = session.model([codes])
        graph = limited_bits(build.model.integer, bits)
        (wanted,) = run_graph_batch(graph, {"x": codes}).values()
        assert np.array_equal(found.reshape(wanted.shape), wanted)
        seen.add(found.tobytes())
    assert len(seen) >= 3  # the width does something


def test_firmware_tells_and_clamps(build: CompileResult) -> None:
    with EmulatedFirmware(build.folder / "firmware.elf", build.report.board) as firmware:
        assert firmware.info().runtime_bits
        widths = [firmware.client.set_activation_bits(bits) for bits in (0, 3, 6, 7, 200)]
    assert widths == [1, 3, 6, 6, 6]


def test_python_api(build: CompileResult, samples: Array) -> None:
    assert np.array_equal(build.run(samples), build.run(samples, bits=8))
    assert not np.array_equal(build.run(samples), build.run(samples, bits=1))
    for wrong in (0, 9):
        with pytest.raises(ConfigError, match="no width"):
            build.run(samples, bits=wrong)


def test_trade_off(
    build: CompileResult, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "bits.html"
    command = ["evaluate", str(build.folder), "--data", str(data), "--bits", WIDTHS]
    assert run_app([*command, "--html", str(page), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    points = found["points"]
    assert [point["bits"] for point in points] == [8, 4, 1]
    assert all(point["cycles"] > 0 for point in points)
    assert points[0]["agreement"] >= points[-1]["agreement"]
    html = page.read_text()
    assert html.count('class="mark point dot"') == 3
    assert "4 bits" in html
    assert run_app([*command, "--limit", "5"]) == 0
    text = capsys.readouterr().out
    assert "width of activations" in text
    assert "float" in text


def test_a_build_with_fixed_widths_says_so(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "fixed"
    assert run_app(_compile(model, data, out)) == 0
    capsys.readouterr()
    assert run_app(["evaluate", str(out), "--data", str(data), "--bits", "4"]) == 2
    message = capsys.readouterr().err
    assert "fixed widths" in message
    assert "--runtime-bits" in message


@pytest.mark.parametrize("bits", ["", "9", "0", "4,x", "4,,2"])
def test_bad_widths(build: CompileResult, data: Path, bits: str) -> None:
    command = ["evaluate", str(build.folder), "--data", str(data), "--bits", bits]
    assert run_app(command) == 2


def test_without_widths_there_is_a_page_of_decisions(
    build: CompileResult, data: Path, tmp_path: Path
) -> None:
    html = tmp_path / "x.html"
    command = ["evaluate", str(build.folder), "--data", str(data), "--html", str(html)]
    assert run_app(command) == 0
    assert "confus" in html.read_text("utf-8").lower()


def test_choices_are_printed_and_kept(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    more = ("--pool-kernel", "responses", "--pool-kernel", "*wide*=decode", "--pool-table", "8K")
    assert run_app([*_compile(model, data, out, *more), "-v"]) == 0
    text = capsys.readouterr().out
    assert "Layers with pooled weights" in text
    assert "as asked" in text
    pooled = Report.read(out).pooled
    assert [layer.kernel for layer in pooled] == ["responses", "responses", "decode"]
    assert all(layer.scratch_bytes <= 8192 for layer in pooled)


def test_kernels_that_cannot_serve(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the layer as the report does, and says what would help."""
    more = ("--pool-kernel", "responses", "--pool-table", "100")
    assert run_app(_compile(model, data, tmp_path / "out", *more)) == 5
    message = capsys.readouterr().err
    assert "error: inner" in message
    assert "its smallest table takes" in message
    more = ("--pool-kernel", "expand", "--activation-bits", "4")
    assert run_app(_compile(model, data, tmp_path / "out", *more)) == 5
    assert "for 8 bits of activations only" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more",
    [
        ("--activation-bits", "auto"),
        ("--activation-bits", "4"),
        ("--runtime-bits",),
        ("--pool-kernel", "decode"),
        ("--pool-table", "8K"),
    ],
)
def test_models_without_pools(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    """Options for pooled layers are refused, and only the given ones are named."""
    plain = tmp_path / "plain.onnx"
    plain.write_bytes(export_real(small_network()).SerializeToString())
    assert run_app(_compile(plain, data, tmp_path / "out", *more)) == 2
    message = capsys.readouterr().err
    assert f"error: {more[0]}: no layer of the model has pooled weights" in message
    assert "edgec compress" in message


def test_auto_widths(model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    more = ("--pool-kernel", "direct", "--activation-bits", "auto", "--max-drop", "100")
    assert run_app(_compile(model, data, out, *more)) == 0
    report = Report.read(out)
    assert {layer.activation_bits for layer in report.pooled} == {1}
    assert any("points lost on 24 calibration samples" in note for note in report.notes)


def test_auto_widths_need_data(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["compile", str(model), "--board", "nucleo", "--out", str(out)]
    assert run_app([*command, "--no-build", "--activation-bits", "auto"]) == 2
    assert "--calibration" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more",
    [
        ("--activation-bits", "9"),
        ("--activation-bits", "four"),
        ("--activation-bits", "auto", "--max-drop", "-1"),
        ("--activation-bits", "4", "--max-drop", "1"),
        ("--pool-kernel", "fast"),
        ("--pool-kernel", "nothing=decode"),
        ("--pool-table", "lots"),
    ],
)
def test_bad_options(model: Path, data: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    assert run_app(_compile(model, data, tmp_path / "out", *more)) == 2
