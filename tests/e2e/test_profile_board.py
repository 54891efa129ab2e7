"""`--measured PORT`: the serial line of a board, played by emulated firmware behind a terminal."""

from __future__ import annotations

import os
import pty
import select
import threading
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP

from edgec.base.errors import ConfigError, SimulationError
from edgec.cli.app import run_app
from edgec.profile.inputs import profile_input
from edgec.profile.measured import is_port, measure_on_board
from edgec.report.model import Report
from edgec.sim.emulator_image import load_image
from edgec.sim.unicorn_machine import UnicornMachine
from edgec.target.board import load_board


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board") / "mlp"
    options = ["--board", "nucleo", "--calibration", str(CALIBRATION), "--out", str(folder)]
    assert run_app(["compile", str(MLP), *options, "--no-verify"]) == 0
    return folder


@pytest.fixture
def port(build: Path) -> Iterator[str]:
    """The name of a terminal behind which the firmware runs."""
    board = load_board("nucleo")
    machine = UnicornMachine(load_image(build / "firmware.elf", board), board)
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    stop = threading.Event()

    def play() -> None:
        while not stop.is_set():
            ready, _, _ = select.select([ours], [], [], 0.01)
            if ready:
                machine.write(os.read(ours, 4096))
            os.write(ours, machine.read(0.01))

    thread = threading.Thread(target=play)
    thread.start()
    yield os.ttyname(theirs)
    stop.set()
    thread.join()
    os.close(ours)
    os.close(theirs)


def test_bench_runs_on_the_board(build: Path, port: str) -> None:
    report = Report.read(build)
    assert is_port(Path(port))
    found = measure_on_board(port, build, report, profile_input(report, None).arrays)
    assert found.runs == 3
    assert len(found.cycles) == len(report.layers)


def test_command_shows_both_columns(
    build: Path, port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["profile", str(build), "--measured", port]) == 0
    assert "measured" in capsys.readouterr().out


def test_board_with_another_model_is_refused(build: Path, port: str) -> None:
    import dataclasses

    other = dataclasses.replace(Report.read(build), digest="0" * 64)
    with pytest.raises(ConfigError, match="another model"):
        measure_on_board(port, build, other, profile_input(other, None).arrays)


def test_what_is_no_board_is_one_clear_error(build: Path) -> None:
    report = Report.read(build)
    with pytest.raises(SimulationError, match="cannot talk to the board"):
        measure_on_board("/dev/null", build, report, profile_input(report, None).arrays)
    assert is_port(Path("COM7"))
    assert not is_port(build / "report.json")
