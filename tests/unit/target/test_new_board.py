"""New boards out of other boards and manifests, and the text of board files."""

from __future__ import annotations

import dataclasses
import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from edgec.base.errors import ConfigError
from edgec.target.board import Board, Console, board_of, list_boards, load_board
from edgec.target.board_text import board_text
from edgec.target.manifest import Manifest, read_manifest
from edgec.target.new_board import new_board

F407: dict[str, Any] = {
    "build": {"cpu": "cortex-m4", "f_cpu": "168000000L", "mcu": "stm32f407vet6"},
    "debug": {"openocd_target": "stm32f4x", "svd_path": "STM32F40x.svd"},
    "name": "A board of mine",
    "upload": {"maximum_ram_size": 131072, "maximum_size": 524288, "protocol": "stlink"},
    "vendor": "Me",
}
"""What a manifest for a board with an STM32F407VE says."""


def manifest(folder: Path, **changes: Any) -> Manifest:
    path = folder / "mine.json"
    data = {**F407, **{key: {**F407.get(key, {}), **value} for key, value in changes.items()}}
    path.write_text(json.dumps(data))
    return read_manifest(path)


@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_the_text_of_every_board_reads_back(board: Board) -> None:
    text = board_text(board, {})
    assert board_of(tomllib.loads(text), "here") == board
    keys = [line for line in text.splitlines() if " = " in line and line[0] != "#"]
    assert len(keys) > 5
    assert max(map(len, (line for line in text.splitlines() if line[:1] == "#"))) <= 100
    assert "None" not in text


def test_every_key_of_a_table_is_explained() -> None:
    lines = board_text(load_board("nucleo"), {}).splitlines()
    for above, line in itertools.pairwise(lines):
        if line.startswith(("core =", "wait_states =", "[memory.flash]", "[upload]", "chip =")):
            assert above.startswith("# ")


def test_notes_stand_above_their_keys() -> None:
    text = board_text(load_board("nucleo"), {"clock_hz": "Mine.", "memory.ram": "Ours."})
    assert "# Mine.\nclock_hz = 180_000_000\n" in text
    assert "# Ours.\n[[memory.ram]]\n" in text


def test_texts_are_quoted() -> None:
    board = load_board("nucleo")
    odd = dataclasses.replace(board, title='"A" # \u00e9', console=Console("U", "a = [1]"))
    assert board_of(tomllib.loads(board_text(odd, {})), "here") == odd


def test_a_manifest_replaces_what_it_says(tmp_path: Path) -> None:
    made = new_board("mine", load_board("nucleo"), manifest(tmp_path))
    board = made.board
    assert (board.name, board.title, board.vendor) == ("mine", "A board of mine", "Me")
    assert (board.mcu, board.clock_hz, board.flash_bytes) == ("STM32F407VET6", 168_000_000, 524_288)
    assert (board.aliases, board.energy, board.port) == ((), None, "stm32f4")
    assert board.memory == load_board("nucleo").memory  # 512 KB and 128 KB there, too
    assert board.upload.tools == ("openocd", "st-flash")  # pyOCD's name of the chip is not said
    assert board.upload.chip == ""
    assert made.notes["clock_hz"] == "From mine.json."
    assert board.sources[0].document == "PlatformIO board manifest mine.json"
    assert "CHECK" in board.sources[1].section


def test_other_sizes_of_memory(tmp_path: Path) -> None:
    nucleo = load_board("nucleo")
    made = new_board("mine", nucleo, manifest(tmp_path, upload={"maximum_ram_size": 65536}))
    assert (made.board.ram_bytes, made.board.flash_bytes) == (65_536, 524_288)
    assert made.notes["memory.ram"].startswith("CHECK: ")
    # Several regions: a total says of none how large it is, but the arena is no larger than all.
    f767 = load_board("nucleo_f767zi")
    small = manifest(
        tmp_path,
        build={"cpu": "cortex-m7", "f_cpu": "216000000L"},
        upload={"maximum_ram_size": 327680},
    )
    assert new_board("mine", f767, small).board.arena_limit_bytes == 327_680


def test_a_board_without_a_manifest_is_a_copy() -> None:
    for like in ("nucleo_l4r5zi", "raspberry_pi_4", "microbit"):
        board = new_board("mine", load_board(like)).board
        expected = load_board(like)
        assert dataclasses.replace(
            board,
            name=like,
            title=expected.title,
            aliases=expected.aliases,
            sources=expected.sources,
        ) == (expected)
        assert board.title == f"mine, like {expected.title}"


def test_clocks_that_the_port_does_not_set_up(tmp_path: Path) -> None:
    slow = manifest(tmp_path, build={"cpu": "cortex-m7", "f_cpu": "200000000L"})
    with pytest.raises(ConfigError, match="clock is 200 MHz, and the port stm32f7 sets up 216"):
        new_board("mine", load_board("nucleo_f767zi"), slow)
    fast = manifest(tmp_path, build={"f_cpu": "200000000L"})
    made = new_board("mine", load_board("nucleo"), fast)
    assert made.board.clock_hz == 180_000_000
    assert "says 200 MHz" in made.notes["clock_hz"]


@pytest.mark.parametrize(
    ("like", "changes", "message"),
    [
        ("nucleo_f767zi", {}, "core is cortex-m4, that of nucleo_f767zi is cortex-m7"),
        ("raspberry_pi_4", {}, "describes a microcontroller"),
        ("host", {}, "no board to start from"),
    ],
)
def test_boards_of_other_kinds(tmp_path: Path, like: str, changes: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        new_board("mine", load_board(like), manifest(tmp_path, **changes))


def test_a_qemu_machine_is_not_copied(tmp_path: Path) -> None:
    made = new_board("mine", load_board("netduinoplus2"), manifest(tmp_path))
    assert made.board.emulator.kind == "unicorn"
    assert made.board.emulator.machine == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a JSON file"),
        ("[1]", "no manifest"),
        ("{}", "no manifest: build"),
        ('{"build": {"f_cpu": "fast"}}', "no manifest: build.f_cpu"),
        ('{"build": {"f_cpu": -1}}', "no manifest: build.f_cpu"),
        ('{"build": {}, "upload": {"maximum_size": "much"}}', "upload.maximum_size"),
        ("[" * 60_000, "not a JSON file"),
        (" " * 70_000, "not a file below 64 KB"),
    ],
)
def test_files_that_are_no_manifest(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_manifest(path)


def test_manifests_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(ConfigError, match="no manifest|cannot read the manifest"):
            read_manifest(path)
