"""The stack of a run in report, header, readme and exports."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP
from exported_library import need

from edgec.base.compiler_level import CompilerLevel
from edgec.base.options import CompileOptions
from edgec.codegen.formats.registry import FORMATS
from edgec.commands.compile import compile_model
from edgec.commands.export import export_library
from edgec.report.model import Report

RESNET = MLP.with_name("digits_resnet.onnx")
OWN_BYTES = 256
"""More than main program and protocol take above a run."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("arm-none-eabi-gcc")
    folder = tmp_path_factory.mktemp("stack") / "out"
    return compile_model(RESNET, "nucleo", calibration=str(CALIBRATION), out=folder).folder


def words(folder: Path) -> str:
    found = Report.read(folder).memory.run_stack
    assert list(found) == list(CompilerLevel)
    return ", ".join(f"{size} at {level}" for level, size in found.items()) + " (GCC, cortex-m4)"


def test_firmware_uses_what_was_counted(built: Path) -> None:
    """The painted stack is that of the whole firmware, whose library has the level -O2."""
    report = Report.read(built)
    (used,) = (check.stack_bytes for check in report.checks if check.stack_bytes is not None)
    counted = report.memory.run_stack[CompilerLevel.SPEED]
    assert counted <= used <= counted + OWN_BYTES


def test_texts_of_the_library_say_it(built: Path) -> None:
    said = words(built)
    header = "include/edgec_digits_resnet.h"
    for library in (built / "library", *(built / "project" / "lib").iterdir()):
        assert said in (library / header).read_text()
    assert said in (built / "library" / "README.md").read_text()


@pytest.mark.parametrize("form", FORMATS)
def test_exports_say_it(built: Path, tmp_path: Path, form: str) -> None:
    found = export_library(built, form, out=tmp_path / "export")
    assert words(built) in (found.folder / "README.md").read_text()


def test_nothing_is_said_without_a_build(tmp_path: Path) -> None:
    options = CompileOptions(build=False, verify=False)
    made = compile_model(
        MLP, "nucleo", calibration=str(CALIBRATION), out=tmp_path / "out", options=options
    )
    assert made.report.memory.run_stack == {}
    found = export_library(made.folder, "c", out=tmp_path / "export")
    header = made.folder / "library" / "include" / "edgec_digits_mlp.h"
    for text in (header, header.parents[1] / "README.md", found.folder / "README.md"):
        assert "stack" not in text.read_text()
