"""`edgec watch`: results as they come, of samples in turn and of noise, with time and energy."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from bad_input_support import CALIBRATION, MLP, TEST_DATA, check_one_message, edgec
from emulated import need_emulator
from import_models import N, model_of
from places import REPOSITORY
from screens import on_screen
from serial_lines import machine_on_socket
from test_front_end import CLIPS, SWW, built

from edgec.base.options import StreamOptions
from edgec.base.samples import SampleFile
from edgec.profile.run import profile
from edgec.report.model import Report
from edgec.sim.protocol import FirmwareClient, FirmwareRun
from edgec.workflow.session import run_file
from edgec.workflow.watching import watching

Capsys = pytest.CaptureFixture[str]
RNG = np.random.default_rng(9)
FAST = ("--rate", "1e6")


@pytest.fixture(scope="module")
def mlp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Firmware for a Nucleo, and three samples."""
    from edgec.cli.app import run_app

    folder = tmp_path_factory.mktemp("watch") / "mlp"
    words = ["compile", MLP, "--board", "nucleo", "--calibration", CALIBRATION, "-o", folder]
    assert run_app([str(word) for word in [*words, "--no-verify", "--effort", "fast"]]) == 0
    with np.load(TEST_DATA) as arrays:
        np.savez(folder.parent / "three.npz", x=arrays["x"][:3])
    return folder


def lines_of(out: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The results, and the summary."""
    *lines, last = (json.loads(line) for line in out.splitlines())
    return lines, last["summary"]


def check_in_turn(out: str, folder: Path, count: int) -> list[dict[str, Any]]:
    """The results are those of `run`, again and again."""
    found, summary = lines_of(out)
    (wanted,) = run_file(folder, folder.parent / "three.npz", "host").values()
    assert summary["results"] == len(found) == count
    for number, line in enumerate(found):
        assert (line["result"], line["sample"]) == (number, number % 3)
        (output,) = line["outputs"].values()
        assert np.array_equal(np.float32(output), wanted[number % 3])
    return found


@pytest.mark.parametrize("on", ["host", "emulator"])
def test_samples_come_in_turn(mlp: Path, capsys: Capsys, on: str) -> None:
    if on == "emulator":
        need_emulator("nucleo_f446re")
    words = ("--on", on, "--input", mlp.parent / "three.npz", "--limit", 7, "--json", *FAST)
    done = edgec(capsys, "watch", mlp, *words)
    assert done.code == 0, done.err
    cycles = profile(mlp).total_cycles
    milliseconds = 1e3 * cycles / Report.read(mlp).board.clock_hz
    for line in check_in_turn(done.out, mlp, 7):
        assert line["milliseconds"] == pytest.approx(milliseconds)
    assert lines_of(done.out)[1]["measured"] is False


def test_noise_is_always_the_same_and_never_ends(mlp: Path, capsys: Capsys) -> None:
    words = ("watch", mlp, "--on", "host", "--limit", 20, "--json", *FAST)
    first, again = edgec(capsys, *words), edgec(capsys, *words)
    assert first.out == again.out
    found, _ = lines_of(first.out)
    outputs = {json.dumps(line["outputs"]) for line in found}
    assert len(outputs) == 20
    assert all(line["sample"] is None for line in found)


def test_windows_of_a_stream_take_all_their_runs(tmp_path: Path) -> None:
    """Each window begins anew, so that the results are those of `run`."""
    built(tmp_path, SWW, "nucleo_f446re", stream=StreamOptions({"": 2}), verify=False)
    np.savez(tmp_path / "clips.npz", x=CLIPS[:2])
    data = SampleFile(tmp_path / "clips.npz")
    (wanted,) = run_file(tmp_path / "out", data, "host").values()
    with watching(tmp_path / "out", "host", data=data) as results:
        found = list(itertools.islice(results, 5))
    for number, each in enumerate(found):
        assert each.runs > 1
        (output,) = each.outputs.values()
        assert np.array_equal(output[0], wanted[number % 2])


@pytest.fixture(scope="module")
def line(mlp: Path) -> Iterator[str]:
    with machine_on_socket(mlp / "firmware.elf") as machine:
        yield machine.url


def test_a_board_that_counts_cycles(
    mlp: Path, line: str, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU's board counts none, so that the counter is ours; all else is the board's."""
    run = FirmwareClient.run
    counted = iter(range(84_000, 10**6, 8400))

    def with_cycles(client: FirmwareClient, inputs: Sequence[np.ndarray]) -> FirmwareRun:
        return replace(run(client, inputs), cycles=next(counted))

    monkeypatch.setattr(FirmwareClient, "run", with_cycles)
    words = ("--port", line, "--input", mlp.parent / "three.npz", "--limit", 4, *FAST)
    done = edgec(capsys, "watch", mlp, *words, "--json")
    assert done.code == 0, done.err
    found = check_in_turn(done.out, mlp, 4)
    clock = Report.read(mlp).board.clock_hz
    times = [1e3 * (84_000 + 8400 * number) / clock for number in range(4)]
    assert [each["milliseconds"] for each in found] == pytest.approx(times)
    summary = lines_of(done.out)[1]
    assert summary["measured"] is True
    assert (summary["least"], summary["most"]) == pytest.approx((times[0], times[-1]))
    assert summary["microjoules"] == pytest.approx(np.mean([each["microjoules"] for each in found]))
    shown = edgec(capsys, "watch", mlp, *words)
    assert "ms a result (" in shown.out
    assert "measured by the board" in shown.out


def test_a_board_that_counts_none_has_an_estimate(mlp: Path, line: str, capsys: Capsys) -> None:
    words = ("--port", line, "--input", mlp.parent / "three.npz", "--limit", 2, *FAST)
    done = edgec(capsys, "watch", mlp, *words)
    assert done.code == 0, done.err
    assert "estimated from the firmware" in done.out
    assert "2 results, on device" in done.out


@pytest.mark.parametrize("columns", [24, 40, 60, 80])
def test_no_line_is_wider_than_the_terminal(mlp: Path, columns: int) -> None:
    words = ("watch", str(mlp), "--on", "host", "--limit", "6", *FAST)
    found = on_screen(words, REPOSITORY, columns=columns, rows=40)
    assert found.code == 0, found.text
    results = [text for text in found.lines if text[:6].strip().isdigit()]
    assert len(results) == 6, found.text
    assert ("ms" in results[0]) == (columns >= 60)
    assert ("█" in found.text) == (columns >= 80)


@pytest.mark.usefixtures("terminal_signals")
def test_ctrl_c_ends_with_the_summary(mlp: Path) -> None:
    command = [sys.executable, "-m", "edgec", "watch", str(mlp), "--on", "host", "--rate", "50"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        assert child.stdout is not None
        for _ in range(3):
            assert child.stdout.readline()
        os.killpg(child.pid, signal.SIGINT)  # a terminal sends it to all of its programs
        out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert "results, on host" in out
    assert "Traceback" not in err
    assert "interrupted" not in err


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (("--rate", "0"), "above 0", 2),
        (("--rate", "nan"), "above 0", 2),
        (("--rate", "1e-11"), "above 0", 2),
        (("--on", "host", "--resample"), "no recordings to resample", 2),
        (("--on", "moon"), "--on takes host or emulator or device", 2),
        (("--input", "nothing.npz"), "nothing.npz", 2),
        (("--threshold", "0.5"), "detections", 2),
        (("--input", "-"), "takes no sound", 2),
        (("--port", "/dev/null"), "/dev/null", 10),
        (("--on", "host", "--port", "/dev/null"), "--port", 2),
    ],
)
def test_bad_words(
    mlp: Path, capsys: Capsys, words: tuple[str, ...], message: str, code: int
) -> None:
    check_one_message(edgec(capsys, "watch", mlp, *words), message, code=code)


def test_without_a_board(mlp: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serial.tools.list_ports.comports", list)
    on_device = edgec(capsys, "watch", mlp)
    check_one_message(on_device, "no board is plugged in", code=10)
    run = edgec(capsys, "run", mlp, "--input", TEST_DATA, "--on", "device")
    assert run.err == f"running\n{on_device.err}"


def test_builds_that_decide_nothing_and_have_no_time(tmp_path: Path, capsys: Capsys) -> None:
    nodes = [N("Add", ["a", "b"], ["sum"]), N("Sub", ["a", "b"], ["gap"])]
    model = model_of(nodes, {"a": (1, 6), "b": (1, 6)}, outputs=("sum", "gap"))
    onnx.save(model, tmp_path / "two.onnx")
    samples = {name: RNG.random((8, 6), np.float32) for name in "ab"}
    np.savez(tmp_path / "data.npz", **samples)
    words = ("--board", "host", "--calibration", tmp_path / "data.npz", "-o", tmp_path / "two")
    assert edgec(capsys, "compile", tmp_path / "two.onnx", *words, "--no-verify").code == 0
    watched = ("watch", tmp_path / "two", "--on", "host", "--input", tmp_path / "data.npz")
    done = edgec(capsys, *watched, "--limit", 3, *FAST)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    first = [float(word) for word in lines[0].split()[2:-1]]
    assert first[:6] == pytest.approx(samples["a"][0] + samples["b"][0], abs=0.02)
    assert lines[0].endswith("…")
    assert "not known: it was built for the host, which has no cycle model" in done.out
