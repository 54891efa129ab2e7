"""Fixtures of the end-to-end tests."""

import shutil
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP
from shared_quantization import shared_networks

from edgec.cli.app import run_app

__all__ = ["shared_networks"]


@pytest.fixture(scope="session")
def compiled_mlp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits MLP, compiled for the host without firmware; never to be written to."""
    folder = tmp_path_factory.mktemp("compiled") / "mlp"
    options = ["--board", "host", "--calibration", str(CALIBRATION), "--out", str(folder)]
    assert run_app(["compile", str(MLP), *options, "--no-build", "--no-verify"]) == 0
    return folder


@pytest.fixture
def earlier(compiled_mlp: Path, tmp_path: Path) -> Path:
    """An earlier result that a failing command must leave alone."""
    return Path(shutil.copytree(compiled_mlp, tmp_path / "results" / "earlier"))
