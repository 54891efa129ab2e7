"""`edgec boards show` and `edgec boards new`: what they print, write and refuse."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from bad_input_support import CALIBRATION, MLP, check_one_message, edgec

from edgec.target.board import list_boards, load_board

Capsys = pytest.CaptureFixture[str]
MANIFEST = {
    "build": {"cpu": "cortex-m4", "f_cpu": "84000000L", "mcu": "stm32f401ret6"},
    "name": "ST Nucleo F401RE",
    "upload": {"maximum_ram_size": 98304, "maximum_size": 524288},
    "vendor": "ST",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", [board.name for board in list_boards()])
def test_show_has_every_number_of_the_file(capsys: Capsys, name: str) -> None:
    data = json.loads(edgec(capsys, "boards", "show", name, "--json").out)
    board = load_board(name)
    assert {key: data[key] for key in board.to_json()} == board.to_json()
    assert data["checked_by"]
    text = edgec(capsys, "boards", "show", name, "-v").out
    for word in (board.name, board.mcu, board.core.value, *(s.document for s in board.sources)):
        assert word in text
    if board.memory is not None:
        assert f"{board.memory.flash.size_bytes:,}" in text
        assert f"0x{board.memory.flash.origin:08X}" in text


def test_a_new_board_builds_and_runs(capsys: Capsys, tmp_path: Path) -> None:
    """An F401 out of the file of an F446: the port sets up its 84 MHz, the emulator runs it."""
    (tmp_path / "nucleo_f401re.json").write_text(json.dumps(MANIFEST))
    words = ("boards", "new", "my_f401", "--like", "nucleo", "--from", "nucleo_f401re.json")
    done = edgec(capsys, *words)
    assert done.code == 0, done.err
    board = load_board(tmp_path / "my_f401.toml")
    assert (board.clock_hz, board.ram_bytes) == (84_000_000, 98_304)
    text = (tmp_path / "my_f401.toml").read_text()
    lines = text.splitlines()
    for line in done.out.splitlines():
        if line.startswith("  line "):
            number = int(line.split()[1].rstrip(":"))
            assert "CHECK: " in lines[number - 1]
    (following,) = (line for line in done.out.splitlines() if line.startswith("next: "))
    command = shlex.split(following.removeprefix("next: edgec "))
    command[command.index("MODEL.onnx")] = str(MLP)
    built = edgec(capsys, *command, "--calibration", CALIBRATION, "--out", "out")
    assert built.code == 0, built.err
    assert "in the emulator, every layer (2) bit for bit" in built.out


def test_new_boards_that_are_refused(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(MANIFEST))
    (tmp_path / "there.toml").write_text("mine")
    new = ("boards", "new")
    for words, message in (
        (("nucleo", "--like", "pico"), "there is a board of this name"),
        (("my_board", "--like", "nucleus"), "there is no board 'nucleus'"),
        (("Bad-Name", "--like", "pico"), "name: String should match pattern"),
        (("there", "--like", "pico"), "the file exists"),
        (("mine", "--like", "pico", "--from", "m.json"), "core is cortex-m4"),
        (("mine", "--like", "pico", "--from", "absent.json"), "cannot read the manifest"),
        (("mine", "--like", "pico", "-o", "there.toml/x.toml"), "there.toml"),
    ):
        check_one_message(edgec(capsys, *new, *words), message, code=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.json", "there.toml"]
    assert (tmp_path / "there.toml").read_text() == "mine"


def test_show_of_what_is_not_there(capsys: Capsys) -> None:
    check_one_message(edgec(capsys, "boards", "show", "nucleus"), "there is no board", code=2)
    check_one_message(edgec(capsys, "boards", "show", "./absent.toml"), "cannot read", code=2)
