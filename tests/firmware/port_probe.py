"""Builds port_probe.c for a board and talks to it in QEMU."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from toy_firmware import compile_project

from edgec.codegen.project import FirmwareModel, emit_project
from edgec.target.board import Board, load_board
from edgec.toolchain import process

_PROBE = Path(__file__).parent / "fixtures" / "port_probe.c"
_DEADLINE_S = 10.0


def dummy_library(folder: Path) -> FirmwareModel:
    """A model library without a model, for projects whose main program asks for none."""
    (folder / "include").mkdir(parents=True, exist_ok=True)
    (folder / "library.json").write_text(json.dumps({"name": "nothing", "version": "0.0.0"}))
    (folder / "include" / "nothing.h").write_text("/* nothing */\n")
    return FirmwareModel(folder, "nothing", "nothing.h", "nothing_model", 64, 1)


def emit_probe(folder: Path, board: Board, probe: Path = _PROBE) -> Path:
    """The project of a board with the probe as its main program."""
    project = folder / "project"
    emit_project([dummy_library(folder / "library")], board, project)
    shutil.rmtree(project / "src" / "app")
    (project / "src" / "app").mkdir()
    shutil.copy(probe, project / "src" / "app" / "main.c")
    return project


def build_probe(folder: Path, name: str) -> Path:
    """firmware.elf with the probe for a board."""
    board = load_board(name)
    return compile_project(emit_probe(folder, board), board, folder / "firmware.elf")


class Probe:
    """The probe's console."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child

    def ask(self, letter: str, until: str = "done\n") -> str:
        """Send a letter and read until some text appears."""
        assert self._child.stdin is not None
        self._child.stdin.write(letter.encode())
        self._child.stdin.flush()
        return self.read(until)

    def read(self, until: str) -> str:
        """Read until some text appears."""
        assert self._child.stdout is not None
        text = ""
        deadline = time.monotonic() + _DEADLINE_S
        while until not in text:
            ready, _, _ = select.select([self._child.stdout], [], [], 0.2)
            if ready:
                text += os.read(self._child.stdout.fileno(), 4096).decode(errors="replace")
            assert time.monotonic() < deadline, f"no {until!r} in {text!r}"
        return text


@contextmanager
def run_probe(elf: Path, name: str) -> Iterator[Probe]:
    """The probe, running in QEMU."""
    if shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm is not installed")
    argv = ["qemu-system-arm", "-M", load_board(name).emulator.machine, "-kernel", elf]
    quiet = ["-display", "none", "-monitor", "none", "-serial", "stdio"]
    with process.start([*argv, *quiet]) as child:
        probe = Probe(child)
        probe.read("probe\n")
        yield probe
