"""Networks that take sound: `compile --front-end`, from recordings to results."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import check_one_message, edgec
from c_programs import SANITIZE, Build
from emulated import need_emulator
from onnx import TensorProto, helper
from push_support import push_program, pushed
from sounds import speech_like
from stream_models import Net

from edgec.base.options import CompileOptions, FrontEndOptions, StreamOptions
from edgec.base.samples.resample import resampled
from edgec.commands.compile import CompileResult, compile_model
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import parameters_of
from edgec.interp import run_stream
from edgec.report.model import Report
from edgec.workflow.evaluation import evaluate
from edgec.workflow.listening import listening
from edgec.workflow.validation import validate

SWW = "mlperf-sww"
FEW = "mfcc:window=480,hop=320,filters=20,coefficients=8"
"""Frames that begin anew before the last one ends, at no multiple of their distance."""
MICRO = "micro:hop=320"
"""Features with a memory of the sound before."""
CLIPS = np.concatenate([speech_like(16_000, seed) for seed in range(12)])


def network(frames: int, features: int, shape: tuple[int, ...] | None = None) -> onnx.ModelProto:
    """A small network for frames of features."""
    net = Net(*(shape or (1, 1, frames, features)))
    x = "x" if shape is None else net.node("Reshape", "x", net.integers(1, 1, frames, features))
    y = net.conv(x, (1, 6), (3, 3))
    y = net.conv(y, (6, 8), (frames - 2, features - 2))
    return _ended(net, y)


def _ended(net: Net, y: str) -> onnx.ModelProto:
    return net.model(net.gemm(net.node("Flatten", y), 8, 3))


def saved(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "ear.onnx"
    onnx.save(model, path)
    return path


def built(folder: Path, text: str, board: str = "host", **options: object) -> CompileResult:
    p = parameters_of(FrontEndOptions.parse(text))
    path = saved(network(6, p.features), folder)
    chosen = CompileOptions(front_end=FrontEndOptions.parse(text), **options)
    return compile_model(path, board, calibration={"x": CLIPS}, out=folder / "out", options=chosen)


def write_wav(path: Path, pcm: np.ndarray, rate: int = 16_000, channels: int = 1, width: int = 2):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(pcm.tobytes())


@pytest.mark.parametrize("text", [SWW, FEW, MICRO])
@pytest.mark.parametrize("stream", [None, StreamOptions({"": 2})])
def test_push_samples_gives_the_results_of_the_reference(text, stream, tmp_path):
    """Any number of samples at a time, with sanitizers; the first result when sound is enough."""
    result = built(tmp_path, text, stream=stream, build=False)
    found, graph = result.report.front_end, result.model.integer
    assert found.window == parameters_of(FrontEndOptions.parse(text)).window + 5 * found.frames
    program = push_program(result, tmp_path, Build("gcc", SANITIZE))
    (tmp_path / "pcm").write_bytes(CLIPS[0].tobytes())
    line = np.pad(CLIPS[0], (found.lead, 0))
    runs = line[: len(line) // found.frames * found.frames].reshape(-1, 1, found.frames)
    name = graph.inputs[0]
    steps = list(run_stream(graph, [{name: run} for run in runs]))
    wanted = [step[graph.outputs[0]].ravel().tolist() for step in steps][found.warm_up :]
    first = -(-found.window // found.frames)
    assert len(wanted) == (len(line) - found.window - found.lead) // found.frames + 1
    assert first - 1 <= found.warm_up <= first
    for most in (1, 160, found.frames):
        assert pushed(program, tmp_path / "pcm", most) == wanted, most
    assert pushed(program, tmp_path / "pcm", 65_536) == wanted[-1:]


@pytest.mark.parametrize("text", [SWW, FEW, MICRO])
def test_recordings_one_after_the_other_do_not_mix(text, tmp_path):
    result = built(tmp_path, text, build=False)
    together = result.run(CLIPS[:4])
    alone = np.concatenate([result.run(each[None]) for each in CLIPS[:4]])
    assert np.array_equal(together, alone)
    shifted = CLIPS[:4] / 32768
    assert np.array_equal(together, result.run(shifted))


def test_axes_of_the_model_in_any_order(tmp_path):
    """Features before frames, flat, and one frame at the end."""
    wanted = None
    front = FrontEndOptions.parse(FEW)
    for number, shape in enumerate([(1, 1, 6, 8), (1, 48), (1, 6, 1, 8)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = saved(network(6, 8, shape), folder)
        options = CompileOptions(front_end=front, build=False)
        result = compile_model(
            path, "host", calibration={"x": CLIPS}, out=folder / "out", options=options
        )
        found = result.run(CLIPS[:3])
        assert wanted is None or np.array_equal(found, wanted)
        wanted = found


def test_features_before_frames(tmp_path):
    net = Net(1, 8, 6)
    y = net.node("Conv", "x", net.array(np.ones((8, 8, 6), np.float32) / 8), kernel_shape=[6])
    path = saved(_ended(net, y), tmp_path)
    front = FrontEndOptions.parse(FEW)
    options = CompileOptions(front_end=front, build=False)
    result = compile_model(
        path, "host", calibration={"x": CLIPS}, out=tmp_path / "out", options=options
    )
    features = FrontEnd("few", parameters_of(front)).features_of(CLIPS[:3, : 480 + 5 * 320])
    real = result.run(CLIPS[:3])
    plain = compile_model(
        path,
        "host",
        calibration={"x": features.transpose(0, 2, 1)},
        out=tmp_path / "plain",
        options=CompileOptions(build=False),
    ).run(features.transpose(0, 2, 1))
    assert np.allclose(real, plain, atol=0.1 * np.abs(plain).max())


def test_wav_files_on_a_board(tmp_path, capsys):
    need_emulator("nucleo_l4r5zi")
    for label, clips in enumerate(np.array_split(CLIPS, 3)):
        folder = tmp_path / "data" / f"word{label}"
        folder.mkdir(parents=True)
        for number, clip in enumerate(clips):
            write_wav(folder / f"{number}.wav", clip)
    path = saved(network(6, 40), tmp_path)
    words = ("--board", "nucleo_l4r5zi", "--front-end", SWW, "--out", tmp_path / "out")
    data = ("--calibration", tmp_path / "data")
    done = edgec(capsys, "compile", path, *words, *data)
    assert done.code == 0, done.err
    assert "512 samples a run (32 ms)" in " ".join(done.out.split())
    found = [evaluate(tmp_path / "out", tmp_path / "data", on, 6) for on in ("host", "emulator")]
    assert found[0].n > 0
    assert found[0].agreement >= 0.8
    assert found[0].accuracy == found[1].accuracy
    one = tmp_path / "data" / "word0" / "0.wav"
    assert edgec(capsys, "run", tmp_path / "out", "--input", one).code == 0
    assert validate(tmp_path / "out", on="emulator", limit=2).exact


def test_a_network_that_takes_integers(tmp_path):
    """A quantized file gets codes of the features, and decides as the build does."""
    features = FrontEnd("sww", parameters_of(FrontEndOptions.parse(SWW))).features_of(CLIPS)
    windows = features[:, :6].reshape(-1, 1, 6, 40)
    path = saved(network(6, 40), tmp_path)
    plain = compile_model(
        path,
        "host",
        calibration={"x": windows},
        out=tmp_path / "plain",
        options=CompileOptions(build=False),
    )
    (port,) = plain.report.inputs
    net = onnx.load(path)
    scale = onnx.numpy_helper.from_array(np.float32(port.scale), "s")
    zero = onnx.numpy_helper.from_array(np.int8(port.zero_point), "z")
    net.graph.initializer.extend([scale, zero])
    for node in net.graph.node:
        node.input[:] = ["real" if name == "x" else name for name in node.input]
    net.graph.node.insert(0, onnx.helper.make_node("DequantizeLinear", ["x", "s", "z"], ["real"]))
    net.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT8
    onnx.save(net, tmp_path / "codes.onnx")
    result = compile_model(
        tmp_path / "codes.onnx",
        "host",
        calibration={"x": CLIPS},
        out=tmp_path / "out",
        options=CompileOptions(front_end=FrontEndOptions.parse(SWW), build=False),
    )
    assert result.report.front_end.input.dtype == "int8"
    np.savez(tmp_path / "clips.npz", x=CLIPS, y=np.zeros(len(CLIPS), int))
    found = evaluate(tmp_path / "out", tmp_path / "clips.npz")
    assert found.agreement >= 0.9
    assert found.accuracy == pytest.approx(found.float_accuracy, abs=0.1)


@pytest.fixture(scope="module")
def ear(tmp_path_factory) -> Path:
    return built(tmp_path_factory.mktemp("ear"), SWW, build=False).folder


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rate": 8000}, "has 8000 samples a second, the front end takes 16000"),
        ({"channels": 2}, "has 2 channels, not one"),
        ({"width": 3}, "has 24 bits a sample, the front end takes 16"),
        ({"width": 1}, "has 8 bits a sample, the front end takes 16"),
    ],
)
def test_recordings_that_do_not_fit(change, words, ear, tmp_path, capsys):
    pcm = np.zeros(96_000, np.int8)
    write_wav(tmp_path / "bad.wav", pcm, **change)
    check_one_message(edgec(capsys, "run", ear, "--input", tmp_path / "bad.wav"), words)


def test_other_kinds_of_wav(ear, tmp_path, capsys):
    """Floats and extensible headers; a folder with one file of another kind names that one."""
    write_wav(tmp_path / "a.wav", CLIPS[0])
    data = (tmp_path / "a.wav").read_bytes()
    for number, words in ((3, "floating-point numbers"), (0xFFFE, "extensible header")):
        (tmp_path / "a.wav").write_bytes(data[:20] + number.to_bytes(2, "little") + data[22:])
        check_one_message(edgec(capsys, "run", ear, "--input", tmp_path / "a.wav"), words)
    (tmp_path / "a.wav").write_bytes(data[:2000])
    check_one_message(edgec(capsys, "run", ear, "--input", tmp_path / "a.wav"), "a.wav")


def test_recordings_of_another_rate_are_resampled_where_asked(ear, tmp_path, capsys):
    write_wav(tmp_path / "fast.wav", CLIPS[0], rate=44_100)
    words = ("run", ear, "--input", tmp_path / "fast.wav", "--output", tmp_path / "y.npz")
    check_one_message(edgec(capsys, *words), "add --resample")
    assert edgec(capsys, *words, "--resample").code == 0
    found = np.load(tmp_path / "y.npz")
    with listening(ear, "host") as listener:
        heard = listener.hear_all(resampled(CLIPS[0], 44_100, 16_000)).outputs
    for name, array in heard.items():
        assert np.array_equal(found[name], array)
    for command in ("evaluate", "validate"):
        folder = tmp_path / command / "word"
        folder.mkdir(parents=True)
        write_wav(folder / "a.wav", CLIPS[0], rate=44_100)
        data = (command, ear, "--data", folder.parent)
        assert edgec(capsys, *data).code != 0
        assert edgec(capsys, *data, "--resample").code == 0
    np.savez(tmp_path / "x.npz", x=CLIPS[:1])
    done = edgec(capsys, "run", ear, "--input", tmp_path / "x.npz", "--resample")
    check_one_message(done, "recordings (.wav) alone have a rate")
    write_wav(tmp_path / "slow.wav", CLIPS[0], rate=500)
    slow = edgec(capsys, "run", ear, "--input", tmp_path / "slow.wav", "--resample")
    check_one_message(slow, "1000 to 384000 can be resampled")


def test_calibration_on_recordings_that_say_little(tmp_path, capsys):
    """One that is silent, one clipped, one too short: warnings; all silent: an error."""
    folder = tmp_path / "sound"
    folder.mkdir()
    loud = np.clip(CLIPS[1].astype(np.int32) * 8, -32768, 32767).astype(np.int16)
    for name, clip in (("a", CLIPS[0]), ("b", 0 * CLIPS[0]), ("c", loud), ("d", CLIPS[2][:1500])):
        write_wav(folder / f"{name}.wav", clip[:3584])
    path = saved(network(6, 40), tmp_path)
    words = ("compile", path, "--board", "host", "--front-end", SWW, "--out", tmp_path / "out")
    done = edgec(capsys, *words, "--calibration", folder)
    assert done.code == 0, done.err
    said = " ".join(Report.read(tmp_path / "out").warnings)
    for text in ("1 are silent", "1 are clipped", "1 are shorter than the 0.22 s"):
        assert f"of 4 recordings {text}" in said
    for file in folder.iterdir():
        write_wav(file, np.zeros(3584, np.int16))
    silent = edgec(capsys, *words, "--force", "--calibration", folder)
    check_one_message(silent, "all recordings are silent")


def test_a_silent_recording_is_heard_with_a_warning(ear, tmp_path, capsys):
    write_wav(tmp_path / "still.wav", np.zeros(16_000, np.int16))
    done = edgec(capsys, "run", ear, "--input", tmp_path / "still.wav")
    assert done.code == 0
    assert "1 are silent" in done.err


def test_an_empty_recording_and_floats(ear, tmp_path, capsys):
    write_wav(tmp_path / "empty.wav", np.zeros(0, np.int16))
    done = edgec(capsys, "run", ear, "--input", tmp_path / "empty.wav")
    check_one_message(done, "holds no samples")
    np.savez(tmp_path / "loud.npz", x=np.full((1, 16_000), 3000.0))
    check_one_message(edgec(capsys, "run", ear, "--input", tmp_path / "loud.npz"), "floats")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mfcc", "its frames of 13 features are no part of input x"),
        ("mfc", "there is no front end 'mfc'"),
        ("log-mel:filters=128", "has no bin"),
    ],
)
def test_front_ends_that_do_not_fit(text, words, tmp_path, capsys):
    path = saved(network(6, 40), tmp_path)
    words_of = ("--board", "host", "--front-end", text, "--out", tmp_path / "out")
    check_one_message(edgec(capsys, "compile", path, *words_of), words)


def test_a_model_of_two_inputs(tmp_path, capsys):
    node = helper.make_node("Add", ["a", "b"], ["y"])
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 6, 40]) for n in "aby"]
    path = tmp_path / "two.onnx"
    onnx.save(helper.make_model(helper.make_graph([node], "two", ports[:2], ports[2:])), path)
    words_of = ("--board", "host", "--front-end", SWW, "--out", tmp_path / "out")
    check_one_message(edgec(capsys, "compile", path, *words_of), "one input")
