"""Tutorials and the first page, done from top to bottom: commands print what the page shows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from bad_input_support import edgec
from documents import DOCS, blocks
from places import REPOSITORY
from serial_lines import qemu_socket
from tutorials import OF_MEMORY, OF_THE_MODEL, Walk, do, matched

TUTORIALS = DOCS / "tutorials"
SLOW = frozenset(
    {
        "accuracy-dropped",
        "adding-a-board",
        "ci",
        "index",
        "smaller",
        "transformer-on-a-pi",
        "wake-word",
    }
)
"""Tutorials that take more than a few seconds."""
Capsys = pytest.CaptureFixture[str]


def marks(path: Path) -> list[pytest.MarkDecorator]:
    """Those that train with PyTorch run where it is installed."""
    needs_torch = any("import torch" in block.text for block in blocks(path))
    return [pytest.mark.torch] * needs_torch + [pytest.mark.slow] * (path.stem in SLOW)


PAGES = [
    pytest.param(path, id=path.stem, marks=marks(path))
    for path in (DOCS / "index.md", *sorted(TUTORIALS.glob("*.md")))
]


@pytest.fixture(autouse=True)
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the reader of a tutorial is: a folder with the examples."""
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def walk(capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    """A reader without a board: an upload program that does nothing, and QEMU for the board."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "openocd").write_text("#!/bin/sh\nexit 0\n")
    (programs / "openocd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    with ExitStack() as boards:

        def stand(words: Sequence[str]) -> str | None:
            if "device" not in words:
                return None
            url = boards.enter_context(qemu_socket(Path(words[2]) / "firmware.elf"))
            done = edgec(capsys, *words[1:], "--port", url)
            assert done.code == 0, done.err
            return done.out

        yield Walk(capsys, stand)


@pytest.mark.parametrize("path", PAGES)
def test_tutorial(path: Path, walk: Walk, request: pytest.FixtureRequest) -> None:
    do(path, walk, request.config.getoption("--update-golden"))


def test_output_that_is_not_printed_is_noticed() -> None:
    output = "cycles 12,345\nflash 1.5 KB\n\n┃ a ━━━━ ┃\nend\n"
    assert matched("cycles 7\n...\n┃ a ━ ┃", output, None) == ["cycles 12,345", "...", "┃ a ━━━━ ┃"]
    for wrong in ("cycles 7\n┃ a ━ ┃", "RAM 7", "end\n...\nflash 1 KB"):
        with pytest.raises(AssertionError, match="not printed, or not there"):
            matched(wrong, output, None)


def test_numbers_that_no_compiler_changes_are_compared() -> None:
    output = "│ accuracy  │ 99.63% │\n│   weights │  6,320 │\n│ cycles │ 5 │"
    fits = "│ accuracy │ 99.63% │\n│ weights │ 6,320 │\n│ cycles │ 7 │"
    assert len(matched(fits, output, OF_THE_MODEL)) == 3
    for wrong in (fits.replace("99.63", "99.44"), fits.replace("6,320", "6,321")):
        with pytest.raises(AssertionError, match="not printed, or not there"):
            matched(wrong, output, OF_THE_MODEL)
    assert len(matched(fits.replace("99.63", "99.44"), output, OF_MEMORY)) == 3
