"""`emit_project` and PlatformIO: what is written, what is rebuilt, what errors look like."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from port_probe import dummy_library, emit_probe
from toy_firmware import toy_library

from edgec.base.errors import BuildError, CodegenError
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.target.board import Board, load_board
from edgec.toolchain.platformio import FirmwareFiles, Mode, build, run_platformio
from edgec.toolchain.size import firmware_size
from edgec.toolchain.uf2 import uf2_image

pytestmark = pytest.mark.platformio
BOARD = load_board("mps2_an386")


def toy_model(folder: Path) -> FirmwareModel:
    library = toy_library(folder, "toy", with_source=True)
    return FirmwareModel(library, "toy", "toy_model.h", "toy_model", 2048, 1)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".pio" not in path.parts
    }


def build_here(project: Path, board: Board = BOARD) -> FirmwareFiles:
    compiler = f"{board.core.gcc_prefix}gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    return build(project, board)


def test_project_does_not_depend_on_its_place(tmp_path: Path) -> None:
    model = toy_model(tmp_path / "library")
    emit_project([model], BOARD, tmp_path / "a")
    emit_project([model], BOARD, tmp_path / "deep" / "er" / "b")
    files = tree(tmp_path / "a")
    assert files == tree(tmp_path / "deep" / "er" / "b")
    assert {"platformio.ini", "linker.ld", "boards/mps2_an386.json"} <= files.keys()
    assert {"include/app_config.h", "include/board_config.h", "include/port.h"} <= files.keys()
    assert {"src/app/main.c", "lib/toy/library.json", "platform/platform.json"} <= files.keys()
    assert not any(str(tmp_path).encode() in content for content in files.values())


def test_second_emit_touches_nothing_and_removes_what_is_gone(tmp_path: Path) -> None:
    model = toy_model(tmp_path / "library")
    project = tmp_path / "project"
    emit_project([model], BOARD, project)
    stale = project / "src" / "port" / "mps2" / "old.c"
    stale.write_text("#error")
    (project / "notes.txt").write_text("the user's own")
    times = {path: path.stat().st_mtime_ns for path in project.rglob("*") if path.is_file()}
    emit_project([model], BOARD, project)
    assert not stale.exists()
    assert (project / "notes.txt").exists()
    for path, time in times.items():
        assert path == stale or path.stat().st_mtime_ns == time


def test_changing_the_board_leaves_no_other_port_behind(tmp_path: Path) -> None:
    model = toy_model(tmp_path / "library")
    emit_project([model], BOARD, tmp_path / "project")
    emit_project([model], load_board("microbit"), tmp_path / "project")
    names = tree(tmp_path / "project").keys()
    assert not [name for name in names if "mps2" in name]


@pytest.mark.parametrize(
    "change",
    [
        {"name": "a b"},
        {"name": "../x"},
        {"symbol": 'x; int y = "'},
        {"symbol": ""},
        {"header": 'x.h"\n#include "/etc/passwd'},
        {"header": "../../x.h"},
        {"header": "/x.h"},
    ],
    ids=str,
)
def test_names_never_reach_files_raw(tmp_path: Path, change: dict[str, str]) -> None:
    library = toy_library(tmp_path / "library", "toy", with_source=True)
    fields = {"name": "toy", "header": "toy_model.h", "symbol": "toy_model", **change}
    model = FirmwareModel(library_dir=library, arena_bytes=8, num_inputs=1, **fields)
    with pytest.raises(CodegenError, match="cannot be a name in C"):
        emit_project([model], BOARD, tmp_path / "project")
    assert not (tmp_path / "project").exists()


def test_bad_requests_are_clear_errors(tmp_path: Path) -> None:
    model = dummy_library(tmp_path / "library")
    with pytest.raises(CodegenError, match="one or more models"):
        emit_project([], BOARD, tmp_path / "project")
    with pytest.raises(CodegenError, match="different names"):
        emit_project([model, model], BOARD, tmp_path / "project")
    (tmp_path / "file").write_text("")
    with pytest.raises(CodegenError, match="cannot"):
        emit_project([model], BOARD, tmp_path / "file")
    (tmp_path / "library" / "library.json").unlink()
    with pytest.raises(CodegenError, match="library is missing"):
        emit_project([model], BOARD, tmp_path / "project")


def test_platformio_builds_offline_and_reproducibly(tmp_path: Path) -> None:
    model = toy_model(tmp_path / "library")
    emit_project([model], BOARD, tmp_path / "a")
    emit_project([model], BOARD, tmp_path / "much" / "longer" / "b")
    first = build_here(tmp_path / "a")
    second = build_here(tmp_path / "much" / "longer" / "b")
    assert first.bin is not None and second.bin is not None and first.hex is not None
    assert first.elf.read_bytes() == second.elf.read_bytes()
    assert first.bin.read_bytes() == second.bin.read_bytes()
    assert first.hex.read_text().startswith(":")
    assert str(tmp_path).encode() not in first.elf.read_bytes()
    size = firmware_size(first.elf)
    assert size.arena_bytes == 2048
    assert size.code_bytes < 12 * 1024
    assert first.bin.stat().st_size == size.flash_bytes


def test_plain_pio_run_works_after_a_move(tmp_path: Path) -> None:
    emit_project([toy_model(tmp_path / "library")], BOARD, tmp_path / "a")
    build_here(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    argv = [sys.executable, "-m", "platformio", "run"]
    done = subprocess.run(argv, cwd=tmp_path / "b", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Flash: [" in done.stdout


def test_host_project_is_a_program_that_talks(tmp_path: Path) -> None:
    host = load_board("host")
    emit_project([toy_model(tmp_path / "library")], host, tmp_path / "project")
    files = build_here(tmp_path / "project", host)
    assert files.bin is None
    done = subprocess.run([files.elf], input=b"ping hello\n", capture_output=True, check=True)
    assert b"ping=hello" in done.stdout


def test_pico_image_has_boot_loader_and_uf2(tmp_path: Path) -> None:
    pico = load_board("rpi_pico")
    project = emit_probe(tmp_path, pico)
    files = build_here(project, pico)
    assert files.bin is not None and files.uf2 is not None
    image = files.bin.read_bytes()
    assert files.uf2.read_bytes() == uf2_image(image, 0x1000_0000, 0xE48BFF56)
    stack, reset = (int.from_bytes(image[i : i + 4], "little") for i in (0x100, 0x104))
    assert stack == 0x2000_0000 + 4096
    assert 0x1000_0100 < reset < 0x1000_0000 + len(image)


def test_compiler_errors_are_shown(tmp_path: Path) -> None:
    project = emit_probe(tmp_path, BOARD)
    (project / "src" / "app" / "main.c").write_text("int main(void) { return nonsense; }\n")
    with pytest.raises(BuildError) as caught:
        build_here(project)
    assert "main.c:1" in str(caught.value)
    assert "nonsense" in str(caught.value)


def test_overflow_names_region_and_bytes(tmp_path: Path) -> None:
    big = tmp_path / "main.c"
    big.write_text(
        '#include "port.h"\nint main(void);\n'
        "static PORT_ARENA volatile char arena[5000000];\n"
        "int main(void) { port_init(); arena[port_read_char()] = 1; return arena[1]; }\n"
    )
    with pytest.raises(BuildError, match=r"SSRAM23' overflowed by \d+ bytes"):
        build_here(emit_probe(tmp_path, BOARD, big))


def test_missing_compiler_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(BuildError, match="apt-get install gcc-arm-none-eabi"):
        build(tmp_path, BOARD)
    with pytest.raises(BuildError, match="apt-get install gcc"):
        build(tmp_path, load_board("host"))
    for name, package in (
        ("raspberry_pi_3", "aarch64-linux-gnu"),
        ("rpi_2", "arm-linux-gnueabihf"),
    ):
        for mode in Mode:  # PlatformIO's registry has none for these
            with pytest.raises(BuildError, match=f"apt-get install gcc-{package} libc6-dev-arm"):
                build(tmp_path, load_board(name), mode=mode)


def test_registry_mode_leaves_packages_to_platformio(tmp_path: Path) -> None:
    run_platformio(tmp_path, ["system", "info"], mode=Mode.REGISTRY, timeout_s=60)
    assert not (tmp_path / ".pio" / "core" / "packages" / "tool-scons").exists()
