"""`compile --app mlperf`: MLPerf Tiny's runner drives the firmware; its results are edgec's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import MLP, check_one_message, edgec
from data_folder import data_folder
from mlperf_runner import DeviceUnderTest, dense_network, image_network
from serial_lines import qemu_socket, qemu_terminal

from edgec.cli.app import run_app
from edgec.sim.emulator import emulated_stream
from edgec.sim.runner import RunnerClient
from edgec.target.board import load_board
from edgec.workflow.session import open_session

Capsys = pytest.CaptureFixture[str]
PROFILE = "ULPMark for tinyML Firmware V0.0.1"


def compiled(
    folder: Path, model: onnx.ModelProto, samples: np.ndarray, *options: str, app: str = "mlperf"
) -> Path:
    """The build folder of a model, checked in the board's emulator by the runner's commands."""
    onnx.save(model, folder / "model.onnx")
    np.savez(folder / "samples.npz", x=samples)
    words = ["compile", folder / "model.onnx", "--calibration", folder / "samples.npz"]
    words += ["--app", app, "--out", folder / "out", *options]
    assert run_app([str(word) for word in words]) == 0
    return folder / "out"


def printed(values: np.ndarray) -> list[float]:
    """Numbers as the firmware says them."""
    return [float(f"{value:.3f}") for value in values.reshape(-1).tolist()]


def pixels(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def test_image_classification_over_a_terminal(tmp_path: Path) -> None:
    images = pixels(1, 1, 32, 32, 3)
    normalize = ("--normalize", "scale=1/255,mean=0:0.25:0.5,std=1:1:0.5")
    scaled = (images / 255 - [0, 0.25, 0.5]) / [1, 1, 0.5]
    for_model = scaled.transpose(0, 3, 1, 2)
    build = compiled(
        tmp_path,
        image_network(32, 10),
        for_model.astype(np.float32),
        *("--board", "nucleo_f446re", *normalize),
    )
    expected = open_session(build, "host").run({"x": for_model.astype(np.float32)})["y"]
    with (
        qemu_terminal(build / "firmware.elf") as port,
        DeviceUnderTest(port) as device,
    ):
        assert device.name() == "edgec nucleo_f446re"
        assert (device.profile(), device.model()) == (PROFILE, "ic01")
        for image, scores in zip(images, expected, strict=True):
            assert "m-load-done" in device.load(image.tobytes())
            assert device.infer(1, 0).results == printed(scores)
        again = device.infer(3, 2)  # of the same input, which a run uses up
        assert again.results == printed(expected[-1])


@pytest.mark.slow
def test_anomaly_detection_over_tcp(tmp_path: Path) -> None:
    windows = np.random.default_rng(2).normal(-3, 2, (1, 640)).astype(np.float32)
    build = compiled(
        tmp_path, dense_network((640,), 640), windows, "--board", "nucleo_f446re", "--no-verify"
    )
    assert "#define PORT_BAUD 921600U" in board_config(build)
    expected = open_session(build, "host").run({"x": windows})["y"].astype(np.float64)
    errors = ((expected - windows) ** 2).mean(axis=1).astype(np.float32)
    with (
        qemu_socket(build / "firmware.elf") as port,
        DeviceUnderTest(port, 921_600) as device,
    ):
        assert device.model() == "ad01"
        for window, error in zip(windows, errors, strict=True):
            device.load(window.astype("<f4").tobytes())
            assert device.infer(1, 0).results == printed(error)


def board_config(build: Path) -> str:
    return (build / "project" / "include" / "board_config.h").read_text("utf-8")


@pytest.fixture(scope="module")
def keywords(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keyword spotting as a program of this computer."""
    samples = np.random.default_rng(3).normal(0, 40, (4, 49, 10, 1)).astype(np.float32)
    folder = tmp_path_factory.mktemp("keywords")
    return compiled(folder, dense_network((49, 10, 1), 12), samples, "--board", "host")


def test_transcript(keywords: Path, golden: Callable[[str, str], None]) -> None:
    """Every command and every error, as the runner's source has them."""
    commands = """
        name|profile|help||nonsense 1|timestamp|db|db load|db load x|db load 0|db load 491|db 00
        db load 3|db 0|db zz|db 01FE|db 80ff|db print|infer 1|db load 490|infer 0|infer 1 x
        infer -1|results
    """
    lines: list[str] = []
    with emulated_stream(keywords / "firmware.elf", load_board("host")) as stream:
        client = RunnerClient(stream)
        lines += client.greeting
        sent = [word.strip() for row in commands.split("\n") for word in row.split("|")][1:-1]
        sent += [f"db {bytes(range(i, i + 10)).hex()}" for i in range(0, 245, 5)]
        sent += ["infer 2", "infer 1 0\r\n", "results", "x" * 81]
        for command in sent:
            stream.write(f"{command}%".encode())
            lines += [f"> {command.strip()}", *client._answer(command), "m-ready"]
    text = "".join(f"{re.sub('m-lap-us-[0-9]+', 'm-lap-us-N', line)}\n" for line in lines)
    golden("mlperf/transcript.txt", text)


def test_codes_of_the_reference_become_those_of_a_float_network(keywords: Path) -> None:
    numbers = np.random.default_rng(4).integers(-128, 128, 490).astype(np.int8)
    real = (numbers.reshape(1, 49, 10, 1) - np.float64(83)) * 0.5847029089927673
    expected = open_session(keywords, "host").run({"x": real.astype(np.float32)})["y"]
    with emulated_stream(keywords / "firmware.elf", load_board("host")) as stream:
        client = RunnerClient(stream)
        client.load(numbers.tobytes())
        assert list(map(float, client.infer(1, 0).split(","))) == printed(expected)


@pytest.mark.parametrize(
    "network",
    [
        "dscnn_kws_int8.tflite",
        pytest.param("resnet8_cifar10_int8_qdq.onnx", marks=pytest.mark.slow),
    ],
)
def test_networks_of_the_benchmark(tmp_path: Path, network: str) -> None:
    """Networks of integers take the runner's bytes as the reference firmware does."""
    folder = data_folder()
    if folder is None:
        pytest.skip("EDGEC_DATA_DIR is not set")
    model = folder / "models" / f"mlperf_{network}"
    words = ["compile", model, "--board", "host", "--app", "mlperf", "--out", tmp_path / "out"]
    words += ["--no-verify"]
    assert run_app([str(word) for word in words]) == 0
    session = open_session(tmp_path / "out", "host")
    tensor, output = session.report.inputs[0], session.report.outputs[0]
    sent = np.random.default_rng(8).integers(0, 256, tensor.shape).astype(np.uint8)
    codes = sent.view(np.int8) if "kws" in network else (sent.astype(int) - 128).astype(np.int8)
    given = session.run({tensor.name: codes})[output.name]
    real = output.quant.dequantize(given) if given.dtype.kind in "iu" else given
    with emulated_stream(tmp_path / "out" / "firmware.elf", load_board("host")) as stream:
        client = RunnerClient(stream)
        client.load(sent.tobytes())
        assert list(map(float, client.infer(1, 0).split(","))) == printed(real)


def test_what_edgec_cannot_ask_it(capsys: Capsys, keywords: Path) -> None:
    samples = keywords.parent / "samples.npz"
    for words in (
        ("run", keywords, "--input", samples, "--on", "emulator"),
        ("run", keywords, "--input", samples, "--on", "device", "--port", "socket://127.0.0.1:1"),
        ("validate", keywords, "--on", "emulator"),
    ):
        done = edgec(capsys, *words)
        check_one_message(done, "compiled with --app mlperf", "--on host runs its C", code=2)
    assert edgec(capsys, "run", keywords, "--input", samples).code == 0
    assert edgec(capsys, "validate", keywords).code == 0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (image_network(32, 10), ("pixels", "--normalize scale=1/255")),
        (dense_network((491,), 12), ("input is 1 x 491", "49 x 10 (kws01)")),
        (dense_network((640,), 10), ("output has 10 numbers", "640")),
        (dense_network((3, 32, 32), 10), ("3 x 32 x 32", "channels last")),
    ],
    ids=["pixels", "size", "anomaly", "channels"],
)
def test_models_that_are_no_benchmark(
    capsys: Capsys, tmp_path: Path, model: onnx.ModelProto, words: tuple[str, ...]
) -> None:
    onnx.save(model, tmp_path / "model.onnx")
    options = ("--board", "nucleo", "--app", "mlperf", "--out", tmp_path / "out")
    done = edgec(capsys, "compile", tmp_path / "model.onnx", *options)
    check_one_message(done, "--app", *words, code=2)
    assert not (tmp_path / "out").exists()


def test_budget_of_time_needs_the_console(capsys: Capsys, tmp_path: Path) -> None:
    options = ("--app", "mlperf", "--budget", "ms=5", "--out", tmp_path / "out")
    done = edgec(capsys, "compile", MLP, "--board", "nucleo", *options)
    check_one_message(done, "--budget ms=", "leave out --app", code=2)


@pytest.mark.slow
@pytest.mark.parametrize("board", ["nucleo_l4r5zi", "nucleo_f103rb", "microbit"])
def test_energy_mode(tmp_path: Path, board: str) -> None:
    """It says so, at 9,600 baud; the stamps are pulses where the board file names a pin."""
    samples = np.random.default_rng(3).normal(0, 40, (4, 490)).astype(np.float32)
    options = ("--board", board)
    build = compiled(tmp_path, dense_network((490,), 12), samples, *options, app="mlperf-energy")
    assert "#define PORT_BAUD 9600U" in board_config(build)
    with emulated_stream(build / "firmware.elf", load_board(board)) as stream:
        client = RunnerClient(stream)
        assert client.greeting[0] == "m-timestamp-mode-energy"
        client.load(bytes(490))
        lines = client.command("infer 1 0")
    stamps = [line for line in lines if line.startswith("m-lap-us-")]
    assert len(stamps) == (0 if board == "nucleo_l4r5zi" else 2)


@pytest.mark.slow
def test_visual_wake_words(tmp_path: Path) -> None:
    images = pixels(7, 1, 96, 96, 3)
    samples = images.transpose(0, 3, 1, 2)
    options = ("--board", "mps2_an386", "--normalize", "scale=1", "--no-verify")
    build = compiled(tmp_path, image_network(96, 2), samples, *options)
    expected = open_session(build, "host").run({"x": samples.astype(np.float32)})["y"]
    with emulated_stream(build / "firmware.elf", load_board("mps2_an386")) as stream:
        client = RunnerClient(stream)
        client.load(images.tobytes())
        assert list(map(float, client.infer(1, 1).split(","))) == printed(expected)
