"""Builds the real firmware program around hand-written models, without generated code.

The project is what `emit_project` writes for a board; its files are compiled by calling the
compiler directly, which takes a second where PlatformIO takes five.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from c_programs import build_program

from edgec.codegen.files import write_tree
from edgec.codegen.includes import in_library, library_folder, runtime_headers
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.target.board import Board, load_board
from edgec.toolchain.cc import WARNING_FLAGS

FIXTURES = Path(__file__).parent / "fixtures"
TOYS = (
    "toy",
    "toy_pair",
    "toy_crash",
    "toy_failing",
    "toy_wide",
    "toy_greedy",
    "toy_endless",
)
ARENA_BYTES = 2048


def put_runtime(folder: Path) -> None:
    """Write the runtime headers into the folder `include` of a library."""
    headers = {f"{library_folder()}/{name}": text for name, text in runtime_headers().items()}
    write_tree(folder / "include", {name: in_library(text) for name, text in headers.items()})


def toy_library(folder: Path, name: str, *, with_source: bool) -> Path:
    """A model library as `emit_library` lays it out; one of them holds the code of all models."""
    put_runtime(folder)
    shutil.copy(FIXTURES / "toy_model.h", folder / "include" / "toy_model.h")
    if with_source:
        (folder / "src").mkdir(parents=True)
        shutil.copy(FIXTURES / "toy_model.c", folder / "src" / "toy_model.c")
    (folder / "library.json").write_text(json.dumps({"name": name, "version": "0.0.0"}))
    return folder


def build_toy_firmware(
    folder: Path, board: Board, toys: tuple[str, ...] = TOYS, flags: tuple[str, ...] = ()
) -> Path:
    """`firmware.elf` that serves the named models of toy_model.c."""
    project = emit_toy_project(folder, board, toys)
    return compile_project(project, board, folder / "firmware.elf", flags)


def emit_toy_project(folder: Path, board: Board, toys: tuple[str, ...]) -> Path:
    """The project of a firmware that serves the named models of toy_model.c."""
    models = [
        FirmwareModel(
            library_dir=toy_library(folder / "libraries" / name, name, with_source=index == 0),
            name=name,
            header="toy_model.h",
            symbol=f"{name}_model",
            arena_bytes=ARENA_BYTES,
            num_inputs=2,
        )
        for index, name in enumerate(toys)
    ]
    project = folder / "project"
    emit_project(models, board, project)
    return project


def compile_project(
    project: Path, board: Board, elf: Path, extra_flags: tuple[str, ...] = ()
) -> Path:
    """Compile and link all C of an emitted project; skips when the compiler is not installed."""
    compiler = shutil.which(f"{board.core.gcc_prefix}gcc")
    if compiler is None:
        pytest.skip(f"the compiler for {board.name} is not installed")
    sources = sorted(
        path.relative_to(project)
        for path in [*project.rglob("*.c"), *project.rglob("*.S")]
        if ".pio" not in path.parts
    )
    places = ["include", *sorted(project.glob("lib/*/include")), "src/app"]
    places += [path for path in sorted(project.glob("src/port/*")) if path.is_dir()]
    folders = [(project / place).relative_to(project) for place in places]
    flags = ["-std=c11", "-Os", "-g", "-ffunction-sections", "-fdata-sections", *WARNING_FLAGS]
    flags += [f"-ffile-prefix-map={project.absolute()}=.", *extra_flags, *board.gcc_flags]
    link = ["-lgcc"]
    if board.linux is not None:
        link += ["-static"]
    if not board.is_hosted:
        flags += ["-fno-tree-loop-distribute-patterns"]
        link += ["-nostartfiles", "-nostdlib", f"-T{project / 'linker.ld'}"]
        link += ["-Wl,--gc-sections,--fatal-warnings"]
    command = [compiler, *flags, *(f"-I{folder}" for folder in folders)]
    return build_program(command, sources, elf, link, project)


def toy_board(name: str) -> Board:
    """The board; skips where its emulator is not installed."""
    board = load_board(name)
    if board.emulator.kind == "qemu" and shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm is not installed")
    if board.emulator.kind == "qemu-user" and shutil.which("qemu-aarch64") is None:
        pytest.skip("qemu-user is not installed")
    if board.emulator.kind == "unicorn":
        pytest.importorskip("unicorn")
    return board


def toy_input(seed: int = 0) -> np.ndarray:
    """int8 [600], all codes possible."""
    return np.random.default_rng(seed).integers(-128, 128, 600).astype(np.int8)


def toy_steps(x: np.ndarray) -> list[np.ndarray]:
    """What the two steps of `toy` compute."""
    first = (x.view(np.uint8) + np.uint8(1)).astype(np.uint8)
    return [first.view(np.int8), (np.uint8(0) - first).astype(np.uint8).view(np.int8)]
