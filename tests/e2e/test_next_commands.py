"""What commands say at their end: a command that works, the file that was written, all values."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, TEST_DATA, check_one_message, edgec
from typer.main import get_command

from edgec.cli.app import app

Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build for the host in a folder whose name the shell must not see bare."""
    return tmp_path_factory.mktemp("next") / "my build; (x)"


def next_command(text: str) -> list[str]:
    """The words of the command after `next:`, as a shell reads them."""
    (line,) = re.findall(r"^next: (.*)$", text, re.M)
    return shlex.split(line)


def test_commands_on_the_host_lead_to_commands_that_work(capsys: Capsys, build: Path) -> None:
    options = ("--board", "host", "--calibration", CALIBRATION, "--out", build)
    words = next_command(edgec(capsys, "compile", MLP, *options).out)
    assert words == ["edgec", "evaluate", str(build), "--data", "LABELLED.npz", "--on", "host"]
    words[words.index("LABELLED.npz")] = str(TEST_DATA)
    done = edgec(capsys, *words[1:], "--limit", 3)
    assert done.code == 0
    assert "next:" not in done.out  # the host has no emulator
    done = edgec(capsys, "compare", build)
    assert done.code == 0
    assert "next:" not in done.out  # nor cycles
    output = build.parent / "o"
    data = build.parent / "three.npz"
    np.savez(data, x=np.load(TEST_DATA)["x"][:3])
    words = next_command(edgec(capsys, "run", build, "--input", data).out)
    words[-1] = str(output)
    done = edgec(capsys, *words[1:])
    assert done.code == 0
    assert f"written to {output}.npz" in done.out
    (scores,) = np.load(f"{output}.npz").values()
    for score in scores[0]:
        assert f"{score:.4g}" in done.out


def test_a_bundle_is_named_for_what_it_is(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_text("{}")
    for command in (
        ("run", tmp_path, "--input", TEST_DATA),
        ("evaluate", tmp_path, "--data", TEST_DATA),
        ("profile", tmp_path),
        ("compare", tmp_path),
        ("bundle", tmp_path, tmp_path, "-o", tmp_path / "both"),
        ("export", tmp_path, "--as", "c", "-o", tmp_path / "library"),
    ):
        check_one_message(edgec(capsys, *command), "is a bundle of several models", code=2)


@pytest.mark.parametrize("name", sorted(get_command(app).commands))
def test_help_shows_metavars_and_defaults(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    parameters = get_command(app).commands[name].params
    text = edgec(capsys, name, "--help" if name == "boards" else "--help-all").out
    for parameter in parameters:
        if parameter.metavar:
            assert parameter.metavar in text
        default = parameter.default
        if isinstance(default, str | int | float) and not isinstance(default, bool):
            assert f"[default: {default}" in text
