"""`upload`: which program is chosen, what it is asked, what is told when there is none.

There is no board here: the upload programs are scripts that note their arguments.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from edgec.base.errors import BuildError, ConfigError
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.target.board import load_board
from edgec.toolchain.flash import UPLOAD_INSTALL, upload, upload_tool

MAIN = '#include "port.h"\nint main(void);\nint main(void) { port_init(); return 0; }\n'


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH that has the compilers and nothing that can write to a board."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("arm-none-eabi-gcc", "sh"):
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"{name} is not installed")
    tools = Path(shutil.which("arm-none-eabi-gcc") or "").parent
    for path in [*tools.glob("arm-none-eabi-*"), Path("/bin/sh")]:
        (folder / path.name).symlink_to(path)
    monkeypatch.setenv("PATH", f"{folder}:{Path(sys.executable).parent}")
    return folder


def provide(programs: Path, name: str, status: int = 0) -> Path:
    """A program that notes its arguments, one a line; the note."""
    note = programs.parent / f"{name}.arguments"
    script = programs / name
    script.write_text(
        f'#!/bin/sh\nfor word in "$@"; do echo "$word"; done > {note}\nexit {status}\n'
    )
    script.chmod(0o755)
    return note


def project(tmp_path: Path, board: str) -> Path:
    library = tmp_path / "library"
    (library / "include").mkdir(parents=True)
    (library / "library.json").write_text('{"name": "n", "version": "0.0.0"}')
    (library / "include" / "n.h").write_text("/* nothing */\n")
    folder = tmp_path / "my project"  # a space, which commands must survive
    emit_project([FirmwareModel(library, "n", "n.h", "n_model", 8, 1)], load_board(board), folder)
    shutil.rmtree(folder / "src" / "app")
    (folder / "src" / "app").mkdir()
    (folder / "src" / "app" / "main.c").write_text(MAIN)
    return folder


def test_openocd_is_asked_to_write_verify_and_start(tmp_path: Path, programs: Path) -> None:
    note = provide(programs, "openocd")
    board = load_board("nucleo")
    said = upload(project(tmp_path, "nucleo"), board, port="0669FF")
    assert "openocd" in said
    words = note.read_text().splitlines()
    assert words[:4] == ["-f", "interface/stlink.cfg", "-f", "target/stm32f4x.cfg"]
    assert words[4:6] == ["-c", "adapter serial 0669FF"]
    assert words[7].startswith("program .pio/build/nucleo_f446re/firmware.elf verify reset exit")


def test_next_program_is_taken_when_the_first_is_absent(tmp_path: Path, programs: Path) -> None:
    note = provide(programs, "st-flash")
    folder = project(tmp_path, "nucleo")
    assert "st-flash" in upload(folder, load_board("nucleo"))
    words = note.read_text().splitlines()
    image = folder / ".pio" / "build" / "nucleo_f446re" / "firmware.bin"
    assert words[-3:] == ["write", str(image), "0x8000000"]
    assert image.is_file()


def test_failure_of_the_program_is_an_error(tmp_path: Path, programs: Path) -> None:
    provide(programs, "openocd", status=1)
    with pytest.raises(BuildError):
        upload(project(tmp_path, "nucleo"), load_board("nucleo"))


def test_no_program_says_how_to_install_one(programs: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="apt-get install openocd"):
        upload(tmp_path, load_board("nucleo"))
    with pytest.raises(BuildError, match="picotool"):
        upload_tool(load_board("pico"))


def test_boards_without_hardware_cannot_be_written(tmp_path: Path) -> None:
    for name in ("host", "mps2_an386"):
        with pytest.raises(ConfigError, match="exists on the computer only"):
            upload(tmp_path, load_board(name))


@pytest.mark.parametrize("port", [None, "here"])
def test_boards_with_linux_say_how_to_copy_the_program(tmp_path: Path, port: str | None) -> None:
    (tmp_path / "here").mkdir()
    with pytest.raises(ConfigError, match="copy the program there") as caught:
        upload(tmp_path, load_board("raspberry_pi_3"), port=port and str(tmp_path / port))
    assert "scp DIR/firmware.elf USER@BOARD:" in caught.value.hint


def test_every_upload_program_has_an_install_command() -> None:
    for name in ("nucleo", "pico", "microbit"):
        assert set(load_board(name).upload.tools) <= UPLOAD_INSTALL.keys()


@pytest.mark.parametrize("port", ["", "a b", "$(reboot)", "-c", "x;y", "/dev/ttyACM0", "z" * 99])
def test_port_is_checked_before_it_reaches_a_command(
    tmp_path: Path, programs: Path, port: str
) -> None:
    note = provide(programs, "openocd")
    with pytest.raises(ConfigError, match="no probe's serial number, no folder"):
        upload(tmp_path, load_board("nucleo"), port=port)
    assert not note.exists()


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("name", "form"), [("pico", "uf2"), ("nucleo", "bin"), ("microbit", "hex")]
)
def test_folder_as_port_takes_the_image_as_a_file(tmp_path: Path, name: str, form: str) -> None:
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    drive = tmp_path / "DRIVE"
    drive.mkdir()
    board = load_board(name)
    assert f"firmware.{form}" in upload(project(tmp_path, name), board, port=str(drive))
    assert [path.name for path in drive.iterdir()] == [f"firmware.{form}"]


def test_folder_as_port_needs_a_board_with_a_drive(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no USB drive"):
        upload(tmp_path, load_board("mps2_an386"), port=str(tmp_path))
