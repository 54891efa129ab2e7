"""A network with a window of time that is compiled to take a few frames a run: `--stream`."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import check_one_message, edgec
from emulated import need_emulator
from exported_library import export, run
from loop_models import moving_average
from stream_models import NETWORKS, TIME, Net, matchbox, tenet, valid

from edgec.base.options import CompileOptions, Placement, StreamOptions
from edgec.commands.bundle import bundle_models
from edgec.commands.compile import CompileResult, compile_model
from edgec.interp import run_stream
from edgec.report.model import Report
from edgec.sim.emulator import EmulatedFirmware
from edgec.sim.host import HostModel
from edgec.sim.native import STATUS_NAMES
from edgec.toolchain.platformio import FirmwareFiles
from edgec.workflow.codes import encode
from edgec.workflow.session import LIBRARY_DIR
from edgec.workflow.validation import validate

BOARDS = ("nucleo_f446re", "nucleo_g0b1re")
WINDOW, CHANNELS = 17, 6
Capsys = pytest.CaptureFixture[str]


def saved(model: onnx.ModelProto, folder: Path, name: str = "net") -> Path:
    """The file of a network."""
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    return path


def frames(count: int, channels: int = CHANNELS, seed: int = 1) -> np.ndarray:
    """Frames of a stream, [count, channels]."""
    return np.random.default_rng(seed).normal(0, 0.5, (count, channels)).astype(np.float32)


def windows(line: np.ndarray, size: int, step: int = 1) -> np.ndarray:
    """Windows [N, channels, size] of frames."""
    starts = range(0, len(line) - size + 1, step)
    return np.stack([line[start : start + size].T for start in starts])


def built(
    model: onnx.ModelProto, folder: Path, board: str, stream: StreamOptions | None, **options
) -> CompileResult:
    """A build, calibrated on windows."""
    _, channels, size = (each.dim_value for each in model.graph.input[0].type.tensor_type.shape.dim)
    data = {"x": windows(frames(80, channels, 5), size, 4)}
    path = saved(model, folder)
    chosen = CompileOptions(stream=stream, **options)
    return compile_model(path, board, calibration=data, out=folder / board, options=chosen)


@pytest.fixture(scope="module", params=BOARDS)
def both(request, tmp_path_factory) -> tuple[CompileResult, CompileResult]:
    """The network of the whole window, and that of the stream, for a board."""
    need_emulator(request.param)
    folders = [tmp_path_factory.mktemp(name) for name in ("window", "stream")]
    return tuple(
        built(valid(), folder, request.param, stream)
        for folder, stream in zip(folders, (None, StreamOptions({"": 2})), strict=True)
    )


@pytest.mark.parametrize("on", ["host", "emulator"])
def test_outputs_are_those_of_the_window(both, on):
    whole, stream = both
    line = frames(60)
    wanted = whole.run(windows(line, WINDOW), "host")
    assert len(np.unique(wanted, axis=0)) > 10
    assert np.array_equal(stream.run(line[:, :, None], on), wanted)
    assert np.array_equal(stream.run(windows(line, WINDOW, 6), on), wanted[::6])


@pytest.mark.parametrize("on", ["host", "emulator"])
def test_every_tensor_of_every_run_is_validated(both, on, tmp_path):
    _, stream = both
    assert validate(stream.folder, on=on).exact
    np.savez(tmp_path / "frames.npz", x=frames(40)[:, :, None])
    found = validate(stream.folder, tmp_path / "frames.npz", on, limit=4)
    assert found.exact
    assert found.samples == WINDOW - 1 + 4
    (output,) = found.outputs
    assert output.agreement == 1.0


def test_reports_tell_of_the_stream(both):
    whole, stream = (each.report for each in both)
    found = stream.stream
    assert whole.stream is None
    assert (found.window, found.frames, found.warm_up, found.delay) == (WINDOW, 1, 16, 0)
    assert found.equals_window
    assert found.axes == {"x": 2}
    assert found.window_macs == whole.macs
    assert found.window_cycles == whole.speed.cycles
    assert 3 * stream.macs < whole.macs
    assert stream.memory.state_bytes == 3 * 8 + 56 + 88
    assert Report.read(both[1].folder) == stream
    text = (both[1].folder / "report.txt").read_text("utf-8")
    assert "the first 16 runs of a stream give no output yet" in text
    assert not any(check.skipped for check in stream.checks)
    assert "WARM_UP_RUNS 16" in header_of(both[1])


def header_of(build: CompileResult) -> str:
    return next((build.folder / LIBRARY_DIR / "include").glob("edgec_net.h")).read_text("utf-8")


def test_the_first_runs_say_not_yet(both, tmp_path):
    """In C: 16 runs after init and after each reset, then every run has an output."""
    _, stream = both
    host = HostModel(stream.folder / LIBRARY_DIR, tmp_path)
    context = host.stream()._context
    run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(host._model.run)
    for _ in range(2):
        found = [STATUS_NAMES[run(ctypes.addressof(context))] for _ in range(20)]
        assert found == ["EDGEC_NOT_YET"] * 16 + ["EDGEC_OK"] * 4
        host._model.reset(ctypes.byref(context))


def test_10_000_frames_in_c(both, tmp_path):
    whole, stream = both
    line = frames(10_000)
    wanted = whole.run(windows(line, WINDOW), "host")
    assert np.array_equal(stream.run(line[:, :, None], "host"), wanted)


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_c_equals_the_reference(name, tmp_path):
    model, axis = NETWORKS[name](), TIME[name]
    axes = StreamOptions({"x": axis}, allow_delay=True)
    path = saved(model, tmp_path)
    options = CompileOptions(stream=axes, build=False)
    found = compile_model(path, "host", out=tmp_path / "out", options=options)
    (host,) = found.report.checks
    assert host.samples >= min(found.model.integer.warm_up, 100) + 3
    x = found.model.integer.shape("x")
    assert found.report.inputs[0].library_shape == x
    shape = list(found.report.inputs[0].shape)
    shape[axis] = found.report.stream.frames
    count = found.report.stream.runs + 5
    samples = np.random.default_rng(3).normal(0, 1, (count, *shape[1:])).astype(np.float32)
    codes = encode(samples, found.report.inputs[0])
    steps = ({"x": codes[i].reshape(x)} for i in range(count))
    *_, last = run_stream(found.model.integer, steps)
    (output,) = found.report.outputs
    real = output.quant.dequantize(last[found.model.integer.outputs[0]])
    given = found.run(samples)
    assert len(given) == 6
    own = real if not output.layout else real.transpose(np.argsort(output.layout))
    assert np.array_equal(given[-1], own.reshape(given[-1].shape))


def test_evaluation_takes_windows(both, tmp_path, capsys):
    whole, stream = both
    x = windows(frames(80), WINDOW, 3)
    np.savez(tmp_path / "labelled.npz", x=x, y=np.arange(len(x)) % 3)
    found = []
    for build in (whole, stream):
        words = ("evaluate", build.folder, "--data", tmp_path / "labelled.npz", "--json")
        found.append(json.loads(edgec(capsys, *words).out))
    assert found[0] == found[1]


def test_too_few_frames(both, tmp_path, capsys):
    _, stream = both
    np.savez(tmp_path / "few.npz", x=frames(12)[:, :, None])
    done = edgec(capsys, "run", stream.folder, "--input", tmp_path / "few.npz")
    assert done.code == 2
    assert "the first output comes after 17 runs" in done.err
    np.savez(tmp_path / "odd.npz", x=frames(12)[:, :5, None])
    done = edgec(capsys, "run", stream.folder, "--input", tmp_path / "odd.npz")
    assert done.code == 2
    assert "frames of runs: x [N, 6, 1]" in done.err


def two_inputs() -> onnx.ModelProto:
    n = Net(1, 4, 12)
    y = n.node("GlobalAveragePool", n.conv("x", (4, 4), [3]))
    model = n.model(n.node("Add", y, "bias"))
    info = onnx.helper.make_tensor_value_info("bias", onnx.TensorProto.FLOAT, [1, 4, 1])
    model.graph.input.append(info)
    return model


@pytest.mark.parametrize(
    ("make", "options", "why"),
    [
        (valid, ("--stream", "0"), "axis 0 of x is no axis of time"),
        (valid, ("--stream", "3"), "axis 3 of x is no axis of time"),
        (valid, ("--stream", "y=2"), "there is no input y"),
        (valid, ("--stream", "time"), "cannot read 'time'"),
        (valid, ("--stream", "2", "--stream", "x=2"), "cannot read 'x=2'"),
        (valid, ("--stream", "2", "--stream-frames", "0"), "cannot bring 0 frames"),
        (valid, ("--stream", "2", "--stream-frames", "17"), "would keep none"),
        (tenet, ("--stream", "2", "--stream-frames", "3"), "do not fill the strides"),
        (valid, ("--stream-frames", "2"), "add --stream AXIS"),
        (valid, ("--allow-delay",), "add --stream AXIS"),
        (valid, ("--stream", "2", "--max-length", "8"), "leave out --stream or --max-length"),
        (valid, ("--stream", "2", "--app", "mlperf"), "leave out --stream or --app"),
        (moving_average, ("--stream", "1"), "keeps frames by itself"),
        (two_inputs, ("--stream", "2"), "which input brings frames is not said: x, bias"),
        (matchbox, ("--stream", "2"), "add --allow-delay"),
    ],
)
def test_bad_input(make, options, why, tmp_path, capsys):
    path = saved(make(), tmp_path)
    out = tmp_path / "out"
    done = edgec(capsys, "compile", path, "--board", "host", "--out", out, "--no-build", *options)
    check_one_message(done)
    assert why in done.err
    assert not out.exists()


def test_one_of_several_inputs(tmp_path, capsys):
    path = saved(two_inputs(), tmp_path)
    words = ("--board", "host", "--out", tmp_path / "out", "--no-build", "--stream", "x=2")
    assert edgec(capsys, "compile", path, *words).code == 0
    report = Report.read(tmp_path / "out")
    assert report.stream.axes == {"x": 2}


def test_a_project_file_says_it(tmp_path, capsys, monkeypatch):
    saved(valid(), tmp_path)
    (tmp_path / "edgec.toml").write_text(
        'model = "net.onnx"\nboard = "host"\nbuild = false\nstream = [2]\nstream-frames = 2\n'
    )
    monkeypatch.chdir(tmp_path)
    done = edgec(capsys, "compile")
    assert done.code == 0, done.err
    assert Report.read(tmp_path / "build" / "net-host").stream.frames == 2


def test_weights_in_ram_and_exports(tmp_path, capsys):
    """Other options work together with a stream, and an export waits for the first output."""
    need_emulator(BOARDS[0])
    stream = StreamOptions({"": 2}, frames=2)
    placed = built(valid(), tmp_path, BOARDS[0], stream, placement=Placement.SRAM)
    assert not any(check.skipped for check in placed.report.checks)
    line = frames(60)
    steps = line.reshape(30, 2, CHANNELS).swapaxes(1, 2)
    wanted = built(valid(), tmp_path, "host", None).run(windows(line, WINDOW, 1), "host")
    assert np.array_equal(placed.run(steps, "emulator"), wanted[1::2])
    library = export(placed.folder, "c", tmp_path / "exported")
    assert "output 0: element" in run("make", cwd=library)
    assert "first 8 runs return `EDGEC_NOT_YET`" in (library / "README.md").read_text("utf-8")


def test_two_streams_in_one_program(both, tmp_path):
    """Contexts with a state each share nothing."""
    _, stream = both
    host = HostModel(stream.folder / LIBRARY_DIR, tmp_path)
    lines = [frames(40, seed=seed)[:, :, None] for seed in (1, 2)]
    tensor = stream.report.inputs[0]
    codes = [encode(each, tensor) for each in lines]
    streams = [host.stream() for _ in lines]
    found = [[], []]
    for run_number in range(40):
        for each, given, kept in zip(streams, codes, found, strict=True):
            (output,) = each.run([given[run_number : run_number + 1]])
            kept.append(output[0])
    for line, kept in zip(lines, found, strict=True):
        wanted = host.stream().run([encode(line, tensor)])[0]
        assert np.array_equal(np.stack(kept), wanted)


def test_a_bundle_begins_streams_anew(both, tmp_path):
    _, stream = both
    path = saved(valid(), tmp_path, "other")
    board = stream.report.board
    other = compile_model(path, board, out=tmp_path / "other", options=CompileOptions())
    bundle = bundle_models([other.folder, stream.folder], tmp_path / "bundle")
    assert all(model.checked for model in bundle.models)
    codes = [encode(frames(40)[:, :, None], stream.report.inputs[0])]
    with EmulatedFirmware(tmp_path / "bundle" / FirmwareFiles.ELF, board) as firmware:
        client = firmware.client
        for _ in range(2):
            client.select(1)
            ready = [client.run([each[index] for each in codes]).ready for index in range(19)]
            assert ready == [False] * 16 + [True] * 3
            client.select(0)
