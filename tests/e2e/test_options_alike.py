"""Options that several commands have are spelled alike and taken at the same places."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP, edgec
from typer.main import get_command

from edgec.cli.app import app
from edgec.cli.options import OUT

COMMANDS = get_command(app).commands
Capsys = pytest.CaptureFixture[str]


def test_the_option_for_results_has_the_same_names_everywhere() -> None:
    found = {
        name: set(parameter.opts)
        for name, command in COMMANDS.items()
        for parameter in command.params
        if set(parameter.opts) & set(OUT)
    }
    assert set(found) == {"compile", "run", "quantize", "compress", "bundle", "export", "explore"}
    assert all(names == set(OUT) for names in found.values())


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_takes_verbose(name: str) -> None:
    (option,) = (each for each in COMMANDS[name].params if each.name == "verbose")
    assert set(option.opts) == {"-v", "--verbose"}


@pytest.mark.parametrize("option", OUT)
def test_names_of_the_option_for_results(capsys: Capsys, tmp_path: Path, option: str) -> None:
    path = tmp_path / "q.onnx"
    assert edgec(capsys, "quantize", MLP, "--calibration", CALIBRATION, option, path).code == 0
    assert path.is_file()


def test_verbose_before_and_after_the_command(capsys: Capsys, tmp_path: Path) -> None:
    words = ("quantize", MLP, "-o", tmp_path / "q.onnx")
    for verbose in (("-v", *words), (*words, "--verbose")):
        assert "info: " in edgec(capsys, *verbose).err
    assert "info: " not in edgec(capsys, *words).err


def test_compile_says_where_things_are(capsys: Capsys, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    words = ("compile", MLP, "--board", "nucleo", "--calibration", CALIBRATION, "-o", folder)
    done = edgec(capsys, *words, "--no-verify")
    assert done.code == 0
    assert "building firmware\n" in done.err  # stages, without a terminal too
    (line,) = (line for line in done.out.splitlines() if line.startswith("written: "))
    where, names = line.removeprefix("written: ").strip().split(": ")
    assert where == str(folder)
    assert names.split(", ") == ["report.txt", "firmware.elf", "library", "project"]
    assert all((folder / name).exists() for name in names.split(", "))
