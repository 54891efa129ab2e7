"""`edgec profile`, `edgec compare` and `edgec compile --budget` on real firmware."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP

import edgec
from edgec.cli.app import run_app
from edgec.profile import profile
from edgec.report.model import Report
from edgec.sim.emulator_image import load_image
from edgec.sim.unicorn_machine import UnicornMachine
from edgec.target.board import load_board

TEST_DATA = MLP.with_name("digits_test.npz")


@pytest.fixture(scope="session")
def firmware_mlp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits MLP as firmware for a Nucleo; never to be written to."""
    folder = tmp_path_factory.mktemp("compiled") / "mlp"
    assert compiled(folder) == 0
    return folder


def compiled(folder: Path, *more: str, board: str = "nucleo") -> int:
    options = ["--board", board, "--calibration", str(CALIBRATION), "--out", str(folder)]
    return run_app(["compile", str(MLP), *options, *more])


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    capsys.readouterr()
    assert run_app([str(argument) for argument in arguments]) == 0
    return json.loads(capsys.readouterr().out)


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_json_is_complete_and_consistent(firmware_mlp: Path, capsys) -> None:
    data = run_json(capsys, "profile", firmware_mlp, "--json")
    report = Report.read(firmware_mlp)
    assert [layer["name"] for layer in data["layers"]] == [layer.name for layer in report.layers]
    assert [layer["macs"] for layer in data["layers"]] == [layer.macs for layer in report.layers]
    for key in ("cycles", "ideal_cycles", "instructions", "loads", "stores", "branches"):
        assert data[key] == sum(layer[key] for layer in data["layers"]) + data["outside"][key]
        for layer in data["layers"]:
            assert layer[key] == sum(function[key] for function in layer["functions"])
    for part in (data, *data["layers"], data["outside"]):
        if "flash_stalls" in part:
            assert part["cycles"] == part["ideal_cycles"] + part["flash_stalls"]
    assert data["total_cycles"] == data["cycles"] > data["ideal_cycles"] > data["instructions"]
    assert data["clock_hz"] == 180_000_000
    assert data["time_ms"] == pytest.approx(data["total_cycles"] / 180_000)
    assert 0 < data["stack_bytes"] < data["stack_limit_bytes"]
    assert 0 < data["arena_touched_bytes"] <= data["arena_bytes"]
    assert data["energy"]["estimate"] is True
    assert data["energy"]["source"]
    assert data["energy"]["microjoules"] == pytest.approx(36.0 * 3.3 * data["time_ms"])
    assert data["model"]["known_error"]
    assert "pseudo-random" in data["input"]


def test_two_runs_give_the_same_bytes(firmware_mlp: Path, capsys) -> None:
    runs = [run_json(capsys, "profile", firmware_mlp, "--json") for _ in range(2)]
    assert runs[0] == runs[1]


def test_memory_without_wait_states_is_quicker(firmware_mlp: Path) -> None:
    flash, sram, ideal = (profile(firmware_mlp, memory=m) for m in ("flash", "sram", "ideal"))
    assert flash.total_cycles > sram.total_cycles >= ideal.total_cycles
    assert flash.ideal_cycles == ideal.total_cycles == ideal.ideal_cycles
    assert flash.total.instructions == ideal.total.instructions
    assert ideal.total.flash_stalls == 0


def test_given_input_is_run(firmware_mlp: Path, capsys) -> None:
    data = run_json(capsys, "profile", firmware_mlp, "--input", TEST_DATA, "--json")
    assert data["input"] == f"first sample of {TEST_DATA.name}"
    with np.load(TEST_DATA) as samples:
        from_python = profile(firmware_mlp, {"x": samples["x"]})
    assert from_python.total_cycles == data["total_cycles"]


def test_power_and_days_of_a_battery(firmware_mlp: Path, capsys) -> None:
    data = run_json(
        *(capsys, "profile", firmware_mlp, "--rate", "2", "--battery", "220mAh@3V", "--json")
    )
    duty = data["duty"]
    assert duty["share"] == pytest.approx(2e-3 * data["time_ms"])
    assert duty["milliwatts"] == pytest.approx(2e-3 * data["energy"]["microjoules"])
    assert duty["days"] == pytest.approx(220 * 3 / duty["milliwatts"] / 24)
    assert run_app(["profile", str(firmware_mlp), "--rate", "2", "--battery", "1000mAh"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "power: 2 runs a second take" in out
    assert "1000 mAh at 3.7 V last at most" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--battery", "1000mAh"), "add --rate"),
        (("--rate", "1", "--battery", "big"), "--battery takes a capacity"),
        (("--rate", "0"), "--rate takes runs a second"),
        (("--rate", "1e9"), "of the time"),
    ],
)
def test_rates_and_batteries_that_cannot_be(firmware_mlp: Path, capsys, options, message) -> None:
    assert run_app(["profile", str(firmware_mlp), *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_table_names_layers_totals_and_next_step(firmware_mlp: Path, capsys) -> None:
    assert run_app(["profile", str(firmware_mlp)]) == 0
    out = capsys.readouterr().out
    for text in ("speed: ", "energy: ", "stack: ", "slowest layers", "next: edgec profile"):
        assert text in out
    assert run_app(["profile", str(firmware_mlp), "-v"]) == 0
    out = capsys.readouterr().out
    for text in ("cycles/MAC", "share", "total", "stack used", "energy (estimate)"):
        assert text in out
    for text in ("known error:", "pseudo-random", "next: edgec profile"):
        assert text in out


def test_html_is_written(firmware_mlp: Path, tmp_path: Path, capsys) -> None:
    page = tmp_path / "new" / "page.html"
    assert run_app(["profile", str(firmware_mlp), "--html", str(page)]) == 0
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert "written to" in capsys.readouterr().out


def bench_log(folder: Path) -> str:
    """What a terminal would show of a session with the firmware: `info`, inputs, `bench`."""
    report = Report.read(folder)
    board = load_board("nucleo")
    machine = UnicornMachine(load_image(folder / "firmware.elf", board), board)
    requests = ["info"]
    for index, tensor in enumerate(report.inputs):
        requests.append(f"write {index} 0 {'05' * tensor.size_bytes}")
    log = b""
    for request in [*requests, "bench"]:
        machine.write(request.encode() + b"\n")
        while (part := machine.read(20.0)) != b"":
            log += part
    return log.decode("ascii")


def test_measured_cycles_stand_beside_the_estimate(
    firmware_mlp: Path, tmp_path: Path, capsys
) -> None:
    log = tmp_path / "log.txt"
    text = bench_log(firmware_mlp)
    assert text.count("step=") == len(Report.read(firmware_mlp).layers)
    log.write_text(text)
    data = run_json(capsys, "profile", firmware_mlp, "--measured", log, "--json")
    cycles = [layer["measured_cycles"] for layer in data["layers"]]
    # The emulator's counter does not show cycles; the log's form is the real one all the same.
    assert all(isinstance(each, int) for each in cycles)
    assert data["measured_cycles"] == sum(cycles)
    log.write_text(text.replace("digest=", "digest=0000"))
    assert run_app(["profile", str(firmware_mlp), "--measured", str(log), "--json"]) == 0
    log.write_text("nothing")
    assert run_app(["profile", str(firmware_mlp), "--measured", str(log)]) == 2
    assert "no complete run" in capsys.readouterr().err


def test_measured_columns_in_the_table(firmware_mlp: Path, tmp_path: Path, capsys) -> None:
    found = profile(firmware_mlp)
    layers = Report.read(firmware_mlp).layers
    log = tmp_path / "log.txt"
    log.write_text(
        "".join(
            f"step={index} bytes={layer.output_bytes} cycles={2 * estimate.counts.cycles}\n"
            for index, (layer, estimate) in enumerate(zip(layers, found.layers, strict=True))
        )
    )
    assert run_app(["profile", str(firmware_mlp), "--measured", str(log)]) == 0
    out = capsys.readouterr().out
    assert "measured" in out
    assert out.count("-50.0%") == len(layers) + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--memory", "tape"], "unknown memory"),
        (["--input", "{missing}"], "no such file"),
        (["--measured", "{missing}"], "cannot read the log"),
        (["--html", "{folder}"], "is a folder"),
    ],
)
def test_bad_options_exit_2(
    firmware_mlp: Path, tmp_path: Path, capsys, arguments: Sequence[str], message: str
) -> None:
    texts = [a.format(missing=tmp_path / "missing", folder=tmp_path) for a in arguments]
    assert run_app(["profile", str(firmware_mlp), *texts]) == 2
    assert message in capsys.readouterr().err


def test_folders_without_firmware_exit_2(compiled_mlp: Path, tmp_path: Path, capsys) -> None:
    assert run_app(["profile", str(tmp_path)]) == 2
    assert run_app(["profile", str(compiled_mlp)]) == 2
    assert "built for the host" in capsys.readouterr().err


def test_firmware_of_another_model_is_refused(firmware_mlp: Path, tmp_path: Path, capsys) -> None:
    folder = Path(shutil.copytree(firmware_mlp, tmp_path / "copy"))
    report = folder / "report.json"
    digest = Report.read(folder).digest
    report.write_text(report.read_text().replace(digest, digest[::-1]))
    assert run_app(["profile", str(folder)]) == 2
    assert "different models" in capsys.readouterr().err


def test_compare_puts_builds_side_by_side(
    firmware_mlp: Path, compiled_mlp: Path, tmp_path: Path, capsys
) -> None:
    folder = Path(shutil.copytree(firmware_mlp, tmp_path / "copy"))
    edgec.evaluate(folder, TEST_DATA, limit=50)
    data = run_json(capsys, "compare", firmware_mlp, folder, compiled_mlp, "--json")
    report = Report.read(firmware_mlp)
    for each in data[:2]:
        assert each["flash_bytes"] == report.memory.flash_bytes
        assert each["ram_bytes"] == report.memory.ram_bytes
        assert each["cycles"] == profile(firmware_mlp).total_cycles
    assert [each["accuracy_samples"] for each in data] == [0, 50, 0]
    assert data[0]["accuracy"] is None
    assert data[1]["accuracy"] > 0.9
    assert data[2]["cycles"] is None
    assert run_app(["compare", str(firmware_mlp), str(folder)]) == 0
    out = capsys.readouterr().out
    assert "(+0.0%)" in out
    assert "of 50" in out


def test_accuracy_of_an_earlier_build_is_forgotten(firmware_mlp: Path, tmp_path: Path) -> None:
    from edgec.workflow.evaluation import last_evaluation

    folder = Path(shutil.copytree(firmware_mlp, tmp_path / "copy"))
    edgec.evaluate(folder, TEST_DATA, limit=20)
    report = Report.read(folder)
    assert last_evaluation(folder, report) is not None
    record = folder / "evaluation.json"
    record.write_text(record.read_text().replace(report.digest, "0" * 64))
    assert last_evaluation(folder, report) is None
    for damaged in ("", "[]", "{}", "\x00", '{"digest": 1}'):
        record.write_text(damaged)
        assert last_evaluation(folder, report) is None
    # A compilation into the folder minds neither the record nor its age.
    assert compiled(folder, "--no-verify") == 0


def test_budget_that_holds_lets_the_build_through(tmp_path: Path) -> None:
    budget = ("--budget", "flash=256K,ram=64K,ms=50")
    assert compiled(tmp_path / "mlp", "--no-verify", *budget) == 0
    assert (tmp_path / "mlp" / "firmware.elf").is_file()


def test_budget_names_every_excess_and_leaves_earlier_results(
    firmware_mlp: Path, tmp_path: Path, capsys
) -> None:
    folder = Path(shutil.copytree(firmware_mlp, tmp_path / "earlier"))
    before = digests(tmp_path)
    assert compiled(folder, "--no-verify", "--budget", "flash=1K,ram=100,ms=0.001") == 11
    error = " ".join(capsys.readouterr().err.split())
    for text in ("flash", "exceeds 1,024 by", "RAM", "exceeds 100 by", "exceeds 0.001 ms by"):
        assert text in error
    assert digests(tmp_path) == before


@pytest.mark.parametrize("more", [["--no-build"], []])
def test_budget_without_firmware_is_refused_at_once(tmp_path: Path, capsys, more) -> None:
    board = "nucleo" if more else "host"
    assert compiled(tmp_path / "x", "--budget", "ms=1", *more, board=board) == 2
    assert "budget" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("library", ["unicorn", "capstone"])
def test_a_missing_library_is_named(firmware_mlp: Path, library: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; from edgec.__main__ import main; main()"
    command = [sys.executable, "-c", code, "profile", str(firmware_mlp)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"needs {library}" in done.stderr.lower()
    assert "pip install unicorn capstone" in done.stderr
