"""What upload programs print when they fail becomes one line that helps."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from edgec.base.errors import BuildError
from edgec.toolchain.flash import UPLOAD_INSTALL
from edgec.toolchain.upload_errors import TROUBLES, explained

RECORDED = Path(__file__).parent / "upload_failures"
EXPECTED = {  # recording: what the message says, a word of the hint
    "openocd-permission": ("may not be opened", "udev rules of openocd"),
    "openocd-no-board": ("no board was found", "lsusb"),
    "openocd-no-cmsis-dap": ("no board was found", "lsusb"),
    "openocd-chip-silent": ("does not answer", "reset button while openocd"),
    "openocd-other-chip": ("another chip", "edgec boards"),
    "openocd-verify": ("reads back differently", "cable"),
    "openocd-write": ("could not be written", "plug it in"),
    "openocd-too-old": ("too old for the chip", "newer openocd"),
    "st-flash-no-board": ("no board was found", "lsusb"),
    "st-flash-permission": ("may not be opened", "udev rules of st-flash"),
    "st-flash-chip-silent": ("does not answer", "powered"),
    "pyocd-no-board": ("no board was found", "lsusb"),
    "pyocd-unknown-chip": ("does not know the chip", "pyocd pack install the_chip"),
    "pyocd-chip-silent": ("does not answer", "powered"),
    "pyocd-verify": ("reads back differently", "cable"),
    "picotool-no-board": ("BOOTSEL", "hold its button"),
    "bossac-no-board": ("boot loader", "reset button twice"),
    "bossac-unknown-chip": ("does not know the chip", "Arduino's own bossac"),
    "teensy_loader_cli-no-board": ("no Teensy", "press the button"),
    "picotool-permission": ("may not be opened", "udev rules of picotool"),
}


def test_every_recording_is_expected() -> None:
    assert {path.stem for path in RECORDED.glob("*.txt")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_failure_is_one_line_that_helps(name: str) -> None:
    tool = next(tool for tool in UPLOAD_INSTALL if name.startswith(tool))
    error = explained((RECORDED / f"{name}.txt").read_text(), tool, "the_chip")
    what, hint = EXPECTED[name]
    assert what in error.what
    assert hint in error.hint
    assert error.where == tool
    for text in (error.what, error.hint):
        assert "\n" not in text
        assert "{" not in text


def test_what_nobody_has_seen_keeps_the_program_s_last_words() -> None:
    error = explained(
        "Info: hello\nError: the moon is full\n\n*** [upload] Error 1\n", "openocd", ""
    )
    assert error.what == "the upload failed: Error: the moon is full"
    assert explained("", "openocd", "").what == "the upload failed: it printed nothing"
    assert len(explained("error " * 500, "openocd", "").what) < 400


def test_troubles_are_told_apart() -> None:
    said = [trouble.what for trouble in TROUBLES]
    assert len(set(said)) == len(said)
    for trouble in TROUBLES:
        assert trouble.hint.format(tool="t", chip="c")


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("board", "name"),
    [
        ("nucleo", "openocd-permission"),
        ("nucleo", "st-flash-no-board"),
        ("nucleo", "pyocd-unknown-chip"),
        ("pico", "picotool-no-board"),
    ],
)
def test_programs_that_print_the_recordings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, board: str, name: str
) -> None:
    """The whole way: PlatformIO runs a program that fails as the real one did."""
    from test_toolchain_flash import project

    from edgec.target.board import load_board
    from edgec.toolchain.flash import upload

    tool = name.removesuffix("-permission").removesuffix("-no-board").removesuffix("-unknown-chip")
    gcc = shutil.which("arm-none-eabi-gcc")
    if gcc is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    programs = tmp_path / "bin"
    programs.mkdir()
    for path in [*Path(gcc).parent.glob("arm-none-eabi-*"), Path("/bin/sh"), Path("/bin/cat")]:
        (programs / path.name).symlink_to(path)
    script = programs / tool
    script.write_text(f"#!/bin/sh\ncat '{RECORDED / name}.txt' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{Path(sys.executable).parent}")
    with pytest.raises(BuildError) as caught:
        upload(project(tmp_path, board), load_board(board))
    what, _ = EXPECTED[name]
    assert what in caught.value.what
    assert caught.value.where == tool
