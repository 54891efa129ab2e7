"""The unmodified firmware in emulators that edgec did not write: the same bits as everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bad_input_support import CALIBRATION, MLP, RESNET, TEST_DATA
from serial_lines import MACHINES, qemu_socket, rp2040_socket

from edgec.cli.app import run_app
from edgec.workflow.session import open_session

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("model", [MLP, RESNET], ids=lambda path: path.stem)
@pytest.mark.parametrize("board", MACHINES)
def test_qemu_returns_the_same_bits(tmp_path: Path, board: str, model: Path) -> None:
    folder = compiled(model, board, tmp_path)
    with qemu_socket(folder / "firmware.elf", board) as port:
        same_as_on_the_host(folder, port)


@pytest.mark.parametrize("model", [MLP, RESNET], ids=lambda path: path.stem)
def test_rp2040js_returns_the_same_bits(tmp_path: Path, model: Path) -> None:
    """The second-stage boot loader, crystal and PLL of the Pico are run as well."""
    folder = compiled(model, "rpi_pico", tmp_path)
    with rp2040_socket(folder / "firmware.bin") as port:
        same_as_on_the_host(folder, port)


def compiled(model: Path, board: str, tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    options = ["--board", board, "--calibration", str(CALIBRATION), "--out", str(folder)]
    assert run_app(["compile", str(model), *options, "--no-verify"]) == 0
    return folder


def same_as_on_the_host(folder: Path, port: str) -> None:
    samples = {"x": np.load(TEST_DATA)["x"][:3]}
    expected = open_session(folder, "host").run(samples)
    found = open_session(folder, "device", port=port).run(samples)
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name
