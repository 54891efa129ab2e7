"""Projects that tests build without PlatformIO are what PlatformIO builds, byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from lower_samples import emitted, small_net
from test_cpp_program import PROGRAM
from toy_firmware import emit_toy_project

from edgec.base.errors import BuildError
from edgec.codegen.cnames import library_names
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.target.board import Board, list_boards, load_board
from edgec.toolchain import process
from edgec.toolchain.platformio import FirmwareFiles, build

UsePlatformio = Callable[[bool], None]


def need_compiler(board: Board) -> None:
    compiler = f"{board.core.gcc_prefix}gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")


def compare(project: Path, board: Board, use_platformio: UsePlatformio) -> None:
    """Build a copy of a project each way, in folders of one name."""
    found = []
    for own, folder in ((True, project.parent / "pio"), (False, project.parent / "direct")):
        shutil.copytree(project, folder / "project")
        use_platformio(own)
        files = build(folder / "project", board)
        assert any((folder / "project" / ".pio").rglob(".sconsign*")) is own
        found.append(_contents(files, board))
    assert found[0] == found[1]


def _contents(files: FirmwareFiles, board: Board) -> list[bytes | str | None]:
    """All that is flashed, and the program without debug information.

    Of a Linux program its symbols with their sizes: the linker for 32-bit Arm orders the veneers
    between the Arm and Thumb functions of glibc by the numbers of its input sections, which go with
    how the files are named on its command line.
    """
    if board.linux is not None:
        symbols = process.run([f"{board.core.gcc_prefix}nm", "-S", files.elf], timeout_s=60)
        lines = (line.split()[1:] for line in symbols.stdout.splitlines())
        return ["\n".join(sorted(" ".join(words) for words in lines))]
    program = files.elf.with_name("stripped")
    strip = [f"{board.core.gcc_prefix}strip", "--strip-debug", "-R.note.gnu.build-id"]
    strip += [files.elf, "-o", program]
    assert process.run(strip, timeout_s=60).returncode == 0
    paths = (program, files.bin, files.hex, files.uf2)
    return [None if path is None else path.read_bytes() for path in paths]


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_every_board(tmp_path: Path, board: Board, use_platformio: UsePlatformio) -> None:
    need_compiler(board)
    compare(emit_toy_project(tmp_path, board, ("toy", "toy_pair")), board, use_platformio)


@pytest.mark.parametrize("name", ["nucleo", "host"])
def test_main_program_in_cpp(tmp_path: Path, name: str, use_platformio: UsePlatformio) -> None:
    board = load_board(name)
    need_compiler(board)
    program = emitted(small_net("user"), tmp_path / "library").program
    names = library_names("user")
    model = FirmwareModel(
        tmp_path / "library", names.name, names.header, names.symbol, program.arena_bytes, 1
    )
    emit_project([model], board, tmp_path / "project")
    for path in (tmp_path / "project" / "src" / "app").iterdir():
        path.unlink()
    (tmp_path / "project" / "src" / "app" / "main.cpp").write_text(PROGRAM)
    compare(tmp_path / "project", board, use_platformio)


def test_errors_are_those_of_the_compiler(tmp_path: Path, use_platformio: UsePlatformio) -> None:
    board = load_board("host")
    need_compiler(board)
    project = emit_toy_project(tmp_path, board, ("toy",))
    (project / "src" / "app" / "main.c").write_text("int main(void) { return nonsense; }\n")
    messages = []
    for own in (True, False):
        use_platformio(own)
        with pytest.raises(BuildError) as caught:
            build(project, board)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "main.c:1" in messages[0] and "nonsense" in messages[0]
