"""README and tour say what is true: their commands run, the table of boards is that of the code."""

import re
import shutil
from pathlib import Path

import pytest
from documents import DOCS, README, blocks, commands
from places import REPOSITORY
from tour import TOUR, faults, tour

from edgec.cli.app import app
from edgec.cli.boards import memory_size
from edgec.target.board import list_boards

BOARDS = DOCS / "boards.md"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the example networks, to run commands in."""
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_tour_runs_and_each_command_fits_a_screen(tmp_path: Path):
    """Those of the README are among them; `benchmarks/first_hour.py` prints lines and seconds."""
    first = [tuple(words[1:]) for words in commands(README) if words[0] == "edgec"]
    assert first
    done = []
    for each in tour(tmp_path, 80, 24):
        assert faults(each, 80, 24) == [], (each.words, each.screen.text)
        done.append(each.words)
    assert set(first) <= set(done)
    assert len(done) >= 16


@pytest.mark.usefixtures("checkout")
def test_the_python_example_runs(capsys: pytest.CaptureFixture[str]):
    (block,) = blocks(TOUR, "python")
    exec(compile(block.text, TOUR.name, "exec"), {})
    assert capsys.readouterr().out.strip()


def test_every_make_target_exists():
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    targets = [words[1] for words in commands(README) if words[0] == "make"]
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        assert f"\n{target}:" in makefile


def test_every_command_is_named_in_the_tour():
    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    text = TOUR.read_text("utf-8")
    assert [name for name in sorted(names) if f"edgec {name}" not in text] == []


def test_linked_files_exist():
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README.read_text("utf-8"))
    links = [link for link in links if not link.startswith("http")]
    assert [link for link in links if not (REPOSITORY / link).exists()] == []


def test_the_readme_is_read_in_a_minute():
    assert len(README.read_text("utf-8").split()) <= 450


def board_table() -> str:
    rows = ["| board | core | MHz | flash | RAM | emulator |", "|---|---|---|---|---|---|"]
    for board in list_boards():
        if board.is_host:
            rows.append(f"| `{board.name}` | {board.title} | | | | |")
            continue
        names = " ".join(f"`{name}`" for name in (board.name, *board.aliases))
        flash, ram = (memory_size(size) for size in (board.flash_bytes, board.ram_bytes))
        clock = f"{board.clock_hz / 1e6:g}"
        core, emulator = board.core.value, board.emulator.kind
        rows.append(f"| {names} {board.title} | {core} | {clock} | {flash} | {ram} | {emulator} |")
    return "\n".join(rows)


def test_table_of_boards(request: pytest.FixtureRequest):
    text = BOARDS.read_text("utf-8")
    pattern = re.compile(r"(<!-- boards: begin [^\n]*-->\n)(.*?)(<!-- boards: end -->)", re.S)
    updated = pattern.sub(lambda found: f"{found[1]}\n{board_table()}\n\n{found[3]}", text)
    if request.config.getoption("--update-golden"):
        BOARDS.write_text(updated, "utf-8")
    assert text == updated, (
        "the table is out of date: pytest tests/e2e/test_readme.py --update-golden"
    )
