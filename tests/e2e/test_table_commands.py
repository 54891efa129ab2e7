"""Every command that prints a table, in terminals of 40, 60, 80 and 120 characters."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, RESNET, TEST_DATA
from places import PACKAGE
from pooled_models import small_network, write_pooled
from rich.console import Console
from table_widths import check_table

from edgec.cli.app import run_app
from edgec.report import console
from edgec.report.tables import Table

WIDTHS = (40, 60, 80, 120)
DATA = ("--calibration", CALIBRATION)


class Recorder(Console):
    """A console that keeps the tables that are printed on it."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.tables: list[Table] = []

    def print(self, *objects: object, **options: object) -> None:
        self.tables += [each for each in objects if isinstance(each, Table)]


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch):
    """Run a command with `-v`; the titles of its tables, each checked at all widths."""

    def run(*arguments: object) -> set[str]:
        recorder = Recorder()
        monkeypatch.setattr(console, "out", recorder)
        assert run_app([*(str(argument) for argument in arguments), "-v"]) == 0
        assert recorder.tables
        for table in recorder.tables:
            for width in WIDTHS:
                check_table(table, width)
        return {table.title for table in recorder.tables}

    return run


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits ResNet for a Nucleo, in a folder with a name of its own."""
    folder = tmp_path_factory.mktemp("tables") / "the-build-of-a-residual-network-for-nucleo"
    words = ["compile", RESNET, "--board", "nucleo", *DATA, "--out", folder, "--no-verify"]
    assert run_app([str(word) for word in words]) == 0
    return folder


def test_compile(tables, tmp_path: Path) -> None:
    options = ("--board", "nucleo", *DATA, "--out", tmp_path / "o", "--no-build", "--no-verify")
    assert {"Inputs", "Outputs", "Memory"} < tables("compile", RESNET, *options)


def test_profile_compare_and_run(tables, firmware: Path) -> None:
    assert "Totals of one inference" in tables("profile", firmware)
    assert tables("compare", firmware, firmware, firmware) == {"Builds side by side"}
    assert tables("run", firmware, "--input", TEST_DATA) == {"Outputs"}
    assert tables("evaluate", firmware, "--data", TEST_DATA, "--limit", 5) == {"Accuracy"}
    assert len(tables("validate", firmware)) == 2


def test_models(tables, tmp_path: Path) -> None:
    assert tables("inspect", RESNET)
    assert "Quantization" in tables("quantize", RESNET, "-o", tmp_path / "q.onnx", *DATA)
    few = tmp_path / "few.npz"
    with np.load(TEST_DATA) as data:
        np.savez(few, x=data["x"][:20], y=data["y"][:20])
    command = ("compress", MLP, "-o", tmp_path / "p.onnx", "--calibration", few, "--eval", few)
    assert {"Stored bytes", "Accuracy on 20 samples"} < tables(*command)


def test_boards_and_doctor(tables) -> None:
    assert tables("boards") == {"Boards"}
    assert tables("boards", "show", "nucleo") == {"ST Nucleo-64 F446RE", "Sources"}
    assert tables("doctor") == {"edgec doctor"}


def test_bundle(tables, compiled_mlp: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    options = ("--board", "host", *DATA, "--out", other, "--no-build", "--no-verify")
    assert run_app(["compile", str(RESNET), *map(str, options)]) == 0
    assert tables("bundle", compiled_mlp, other, "-o", tmp_path / "both")


def test_pooled_layers_and_widths(tables, tmp_path: Path) -> None:
    model = write_pooled(small_network(), tmp_path / "small.onnx")
    x = np.random.default_rng(4).normal(size=(8, 8, 8, 3)).astype(np.float32)
    data, out = tmp_path / "data.npz", tmp_path / "out"
    np.savez(data, x=x, y=np.arange(8))
    options = ("--calibration", data, "--runtime-bits", "--out", out, "--no-build", "--no-verify")
    found = tables("compile", model, "--board", "nucleo", *options)
    assert any("pooled weights" in title for title in found)
    assert tables("evaluate", out, "--data", data, "--bits", "8,2")


def test_instructions_of_linux_boards(tables, tmp_path: Path) -> None:
    for program in ("aarch64-linux-gnu-gcc", "qemu-aarch64"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    out = tmp_path / "pi"
    options = ("--board", "raspberry_pi_3", *DATA, "--out", out, "--no-verify")
    tables("compile", MLP, *options)
    assert "By function" in tables("profile", out)


def test_tables_are_made_in_one_place() -> None:
    """Nothing else draws tables, so nothing else can cut a cell."""
    users = [path for path in PACKAGE.rglob("*.py") if re.search(r"rich\.table", path.read_text())]
    assert [path.name for path in users] == ["tables.py"]
