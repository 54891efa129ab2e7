"""`load_board`: names, aliases, files, and what is wrong with bad ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edgec.base.errors import ConfigError
from edgec.base.resources import data_dir
from edgec.target import board as board_module
from edgec.target.board import list_boards, load_board

BOARDS = data_dir("boards")

GOOD = """
name = "my_board"
title = "My board"
vendor = "me"
mcu = "STM32F446"
core = "cortex-m4"
fpu = "single"
dsp = true
clock_hz = 100_000_000
port = "stm32f4"
sources = []
[memory]
data_in = "sram"
arena_in = "sram"
[memory.flash]
origin = 0x0800_0000
size_bytes = 262_144
[[memory.ram]]
name = "sram"
origin = 0x2000_0000
size_bytes = 65_536
[console]
uart = "USART2"
pins = "PA2 and PA3"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "my_board.toml"
    path.write_text(text)
    return path


def test_name_alias_and_path_give_boards(tmp_path: Path) -> None:
    assert load_board("nucleo") == load_board("nucleo_f446re")
    board = load_board(write(tmp_path, GOOD))
    assert (board.name, board.memory.stack_bytes) == ("my_board", 4096)
    assert load_board(str(tmp_path / "my_board.toml")) == board


def test_boards_are_values() -> None:
    assert len({load_board("host"), load_board("native"), load_board("microbit")}) == 2
    assert [board.name for board in list_boards()] == sorted(b.name for b in list_boards())


@pytest.mark.parametrize("name", ["nucel", "nucleo_f447", "rpi-pica", "", "x" * 10_000, "a\nb"])
def test_unknown_name_is_one_clear_error(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_board(name)
    assert "there is no board" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_changed_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards of edgec itself are kept while their files are what they were."""
    path = tmp_path / "host.toml"
    monkeypatch.setattr(board_module, "data_dir", lambda _: tmp_path)
    text = (BOARDS / "host.toml").read_text("utf-8")
    path.write_text(text, "utf-8")
    before = load_board("host")
    assert load_board("host") is before
    path.write_text(text.replace(before.title, "Another title"), "utf-8")
    assert load_board("host").title == "Another title"


def test_unknown_name_suggests_close_ones() -> None:
    with pytest.raises(ConfigError, match="did you mean nucleo"):
        load_board("nucelo")


BAD = [
    ("clock_hz = 100_000_000", "clock_hz = 100\nclock_mhz = 1", "clock_mhz: unknown key"),
    ("[memory.flash]", "[memory.flash]\nsize = 3", "memory.flash.size: unknown key"),
    ('mcu = "STM32F446"\n', "", "mcu: this key is required"),
    ('core = "cortex-m4"', 'core = "cortex-m9"', "core: "),
    ('fpu = "single"', 'fpu = "double"', "cortex-m4 cannot have the FPU 'double'"),
    ("dsp = true", "dsp = false", "cannot have dsp = false"),
    ("clock_hz = 100_000_000", "clock_hz = -1", "clock_hz: "),
    ("clock_hz = 100_000_000", "clock_hz = 0", "clock_hz must be positive"),
    ('arena_in = "sram"', 'arena_in = "axi"', "'axi' is none of the RAM regions"),
    ("origin = 0x2000_0000", "origin = 0x0803_0000", "'flash' and 'sram' overlap"),
    ("origin = 0x2000_0000", "origin = 0xFFFF_F000", "ends after the 32-bit address space"),
    ("size_bytes = 65_536", "size_bytes = 4096", "stack_bytes does not fit"),
    ('port = "stm32f4"', 'port = "../../etc"', "port: "),
    ('name = "my_board"', 'name = "my board\\n#include"', "name: "),
    ('title = "My board"', 'title = "x\\n*/ int main"', "title: "),
    ('title = "My board"', 'title = "x */ int main(void);"', "title: "),
    ("sources = []", 'sources = []\naliases = ["A"]', "aliases.0: "),
    ("[console]", "[defines]\nFOO = 1\n[console]", "defines.FOO"),
    ("[console]", '[upload]\ntools = ["rm"]\n[console]', "upload.tools.0: "),
    ("[console]", '[upload]\ntools = ["openocd"]\n[console]', "openocd needs openocd_target"),
    ("[console]", "[extra]\n[console]", "extra: unknown key"),
    ("origin = 0x2000_0000", "origin = 0x2000_0001", "multiple of 8"),
    ("size_bytes = 65_536", "size_bytes = 65_535", "multiple of 8"),
    ("sources = []", "sources = ", "not a TOML file"),
    ("sources = []", "sources = " + 1000 * "[\n" + 1000 * "]\n", "not a TOML file"),
    ("sources = []", f"sources = [{','.join(['[' * 400 + ']' * 400])}]", "sources"),
    ("clock_hz = 100_000_000", f"clock_hz = {'9' * 900}", "clock_hz: "),
    ("clock_hz = 100_000_000", f"clock_hz = {'9' * 5000}", "longer than 1,000 characters"),
    ("sources = []", f"sources = []\n{'.'.join('a' * 30_000)} = 1", "longer than 1,000 characters"),
    ("sources = []", "sources = []\n" + f"{'.'.join('a' * 480)} = 1\n" * 2, "not a TOML file"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_bad_file_names_file_and_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load_board(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    bad = GOOD.replace('mcu = "STM32F446"\n', "").replace("[console]", "[console]\nspeed = 1")
    with pytest.raises(ConfigError) as caught:
        load_board(write(tmp_path, bad))
    assert "mcu: " in str(caught.value)
    assert "console.speed: " in str(caught.value)


def test_unreadable_files_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_board(tmp_path / "absent.toml")
    with pytest.raises(ConfigError, match="cannot read"):
        load_board(tmp_path)
    with pytest.raises(ConfigError, match="a device or a pipe"):
        load_board(Path("/dev/zero"))
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ConfigError, match="a device or a pipe"):
        load_board(tmp_path / "pipe.toml")
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * 70_000)
    with pytest.raises(ConfigError, match="larger than 64 KB"):
        load_board(large)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(bytes(range(256)))
    with pytest.raises(ConfigError, match="not a TOML file"):
        load_board(binary)
