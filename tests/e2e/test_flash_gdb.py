"""`edgec flash` through a GDB server: into a QEMU that waits, and what can go wrong."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, TEST_DATA
from serial_lines import waiting_qemu

from edgec.base.errors import BuildError, ConfigError
from edgec.cli.app import run_app
from edgec.target.board import load_board
from edgec.toolchain.flash import upload
from edgec.toolchain.flash_gdb import _check
from edgec.workflow.session import open_session


@pytest.mark.slow
def test_a_waiting_machine_gets_the_program_and_runs_it(tmp_path: Path) -> None:
    if shutil.which("gdb-multiarch") is None:
        pytest.skip("gdb-multiarch is not installed")
    folder = tmp_path / "out"
    options = ["--board", "nucleo_f446re", "--calibration", str(CALIBRATION), "--out", str(folder)]
    assert run_app(["compile", str(MLP), *options, "--no-verify"]) == 0
    samples = {"x": np.load(TEST_DATA)["x"][:2]}
    with waiting_qemu("nucleo_f446re") as (debugger, line):
        assert run_app(["flash", str(folder), "--port", debugger]) == 0
        found = open_session(folder, "device", port=line).run(samples)
    expected = open_session(folder, "host").run(samples)
    assert np.array_equal(found["logits"], expected["logits"])

    with socket.socket() as nobody:  # bound and not listening: what connects is refused
        nobody.bind(("127.0.0.1", 0))
        url = f"gdb://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(BuildError, match="no GDB server answers there"):
            upload(folder / "project", load_board("nucleo_f446re"), port=url)


@pytest.mark.parametrize(
    "port", ["gdb://", "gdb://a b:1", "gdb://host", "gdb://h:99999", 'gdb://h:1" -ex "shell']
)
def test_addresses_that_are_none(tmp_path: Path, port: str) -> None:
    with pytest.raises(ConfigError, match="not the address of a GDB server"):
        upload(tmp_path, load_board("nucleo"), port=port)


def test_boards_without_flash(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no flash"):
        upload(tmp_path, load_board("raspberry_pi_4"), port="gdb://localhost:3333")


def test_no_gdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="gdb-multiarch or arm-none-eabi-gdb is not on PATH"):
        upload(tmp_path, load_board("nucleo"), port="gdb://localhost:3333")


@pytest.mark.parametrize(
    ("output", "what"),
    [
        ("Section .text, range 0x8000040 -- 0x80013f8: MIS-MATCHED!", "reads back differently"),
        ("Loading section .text\nLoad failed", "could not write the flash"),
        ("Error finishing flash operation", "could not write the flash"),
        ("something new", "the upload failed: something new"),
        ("", "it printed nothing"),
    ],
)
def test_what_gdb_says(output: str, what: str) -> None:
    with pytest.raises(BuildError, match=what):
        _check(output, "gdb://localhost:3333")
