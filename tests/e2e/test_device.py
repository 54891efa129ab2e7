"""`--on device`: the board is QEMU's model of one, on a terminal and on TCP, undisturbed or not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, TEST_DATA, check_one_message, edgec
from serial_lines import (
    RunningMachine,
    disturbed,
    ending,
    machine_on_socket,
    noise,
    qemu_terminal,
)

from edgec.cli.app import run_app
from edgec.sim import device
from edgec.sim.serial_port import open_serial
from edgec.workflow import session

Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("device") / "mlp"
    options = ["--board", "nucleo", "--calibration", str(CALIBRATION), "--out", str(folder)]
    assert run_app(["compile", str(MLP), *options, "--no-verify"]) == 0
    return folder


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("samples") / "two.npz"
    np.savez(path, x=np.load(TEST_DATA)["x"][:2], y=np.load(TEST_DATA)["y"][:2])
    return path


@pytest.fixture(scope="module")
def on_socket(build: Path) -> Iterator[RunningMachine]:
    with machine_on_socket(build / "firmware.elf") as found:
        yield found


@pytest.fixture
def url(on_socket: RunningMachine) -> Iterator[str]:
    with on_socket.awake() as found:
        yield found


@pytest.fixture
def terminal(build: Path) -> Iterator[str]:
    with qemu_terminal(build / "firmware.elf") as found:
        yield found


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_REPLY_TIMEOUT_S", 0.3)
    monkeypatch.setattr(session, "_LEAST_TIMEOUT_S", 1.0)


def outputs(capsys: Capsys, build: Path, samples: Path, *options: object) -> object:
    done = edgec(capsys, "run", build, "--input", samples, "--json", *options)
    assert done.code == 0, done.err + done.out
    return json.loads(done.out)


@pytest.mark.parametrize("line", ["url", "terminal"])
def test_run_on_the_device_equals_the_host(
    capsys: Capsys, build: Path, samples: Path, line: str, request: pytest.FixtureRequest
) -> None:
    port = request.getfixturevalue(line)
    found = outputs(capsys, build, samples, "--on", "device", "--port", port)
    assert found == outputs(capsys, build, samples)


def test_evaluate_on_the_device(capsys: Capsys, build: Path, samples: Path, url: str) -> None:
    done = edgec(capsys, "evaluate", build, "--data", samples, "--on", "device", "--port", url)
    assert done.code == 0
    assert "integer, on device" in done.out


def test_profile_on_the_device(capsys: Capsys, build: Path, url: str) -> None:
    done = edgec(capsys, "profile", build, "--on", "device", "--port", url, "--json")
    assert done.code == 0
    layers = json.loads(done.out)["layers"]
    assert all(layer["measured_cycles"] is not None for layer in layers)


def test_noise_is_repaired(capsys: Capsys, build: Path, samples: Path, url: str) -> None:
    expected = outputs(capsys, build, samples)
    with disturbed(url, noise(7, 0.001)) as port:
        assert outputs(capsys, build, samples, "--on", "device", "--port", port) == expected


def fails(
    capsys: Capsys, build: Path, samples: Path, port: object, *words: str, code: int = 10
) -> None:
    """One message with these words, and a hint."""
    done = edgec(capsys, "run", build, "--input", samples, "--on", "device", "--port", port)
    check_one_message(done, *words, code=code)
    assert "hint: " in done.err


def test_line_that_is_cut(capsys: Capsys, build: Path, samples: Path, url: str) -> None:
    with disturbed(url, ending(500, silent=False)) as port:
        fails(capsys, build, samples, port, "the line to the board was cut", "plugged in")


@pytest.mark.usefixtures("impatient")
def test_board_that_stops_answering(capsys: Capsys, build: Path, samples: Path, url: str) -> None:
    with disturbed(url, ending(500, silent=True)) as port:
        fails(capsys, build, samples, port, "answer", "press its reset button")


@pytest.mark.usefixtures("impatient")
def test_board_without_firmware(capsys: Capsys, build: Path, samples: Path, url: str) -> None:
    with disturbed(url, ending(0, silent=True)) as port:
        fails(capsys, build, samples, port, "nothing comes back", f"edgec flash {build}")


@pytest.mark.usefixtures("impatient")
def test_other_firmware(capsys: Capsys, build: Path, samples: Path, url: str) -> None:
    with disturbed(url, noise(1, 0.5)) as port:  # what another baud rate makes of it
        fails(capsys, build, samples, port, "not firmware of edgec", f"edgec flash {build}")


def test_another_model_and_another_board(
    capsys: Capsys, build: Path, samples: Path, url: str, tmp_path: Path
) -> None:
    report = json.loads((build / "report.json").read_text("utf-8"))
    for changed, words in (
        ({"digest": "0" * 64}, ("another model", "digits_mlp", "0000000000000000")),
        ({"board": {**report["board"], "name": "mine"}}, ("runs firmware for nucleo_f446re",)),
    ):
        (tmp_path / "report.json").write_text(json.dumps({**report, **changed}), "utf-8")
        fails(capsys, tmp_path, samples, url, *words, "edgec flash", code=2)


def test_ports_that_are_none(capsys: Capsys, build: Path, samples: Path) -> None:
    for port, words in (
        ("/dev/ttyNONE", ("there is no such port",)),
        (samples, ("not a serial port",)),
        ("/dev/null", ("not a serial port",)),
        ("socket://127.0.0.1:1", ("nothing listens there",)),
        ("socket://", ("cannot talk to the board", "--port takes")),
        ("nonsense://x", ("cannot talk to the board", "--port takes")),
    ):
        fails(capsys, build, samples, port, *words)


def test_port_in_use(capsys: Capsys, build: Path, samples: Path, terminal: str) -> None:
    hold = f"import time; f = open({terminal!r}); print('open', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            words = ("another program has the port open", f"process {other.pid}")
            fails(capsys, build, samples, terminal, *words)
        finally:
            other.kill()
    with open_serial(terminal, 115_200):
        fails(capsys, build, samples, terminal, "another program has the port open")


def test_options_without_effect(capsys: Capsys, build: Path, samples: Path) -> None:
    port = ("--port", "/dev/ttyACM0")
    for words in (
        ("run", build, "--input", samples, *port),
        ("evaluate", build, "--data", samples, "--on", "emulator", *port),
        ("profile", build, *port),
    ):
        check_one_message(edgec(capsys, *words), "--port", "no port is used", code=2)
    words = ("profile", build, "--on", "device", "--measured", "bench.log")
    check_one_message(edgec(capsys, *words), "--measured", code=2)
    check_one_message(edgec(capsys, "profile", build, "--on", "host"), "emulator or", code=2)


def test_linux_board_has_no_line(capsys: Capsys, samples: Path, tmp_path: Path) -> None:
    options = ("--board", "host", "--calibration", CALIBRATION, "--out", tmp_path / "out")
    assert edgec(capsys, "compile", MLP, *options, "--no-build", "--no-verify").code == 0
    fails(capsys, tmp_path / "out", samples, "/dev/ttyACM0", "no serial line", code=2)
