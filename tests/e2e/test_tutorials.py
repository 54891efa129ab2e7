"""Tutorials and the first page, done from top to bottom: commands print what the page shows."""

from __future__ import annotations

import importlib.util
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
from tutorials import OF_MEMORY, OF_THE_BUILD, OF_THE_MODEL, Walk, do, matched, unprinted_figures

TUTORIALS = DOCS / "tutorials"
SLOW = frozenset(
    {
        "accuracy-dropped",
        "adding-a-board",
        "ci",
        "fit-64-kb",
        "index",
        "qat",
        "smaller",
        "transformer-on-a-pi",
        "wake-word",
    }
)
"""Tutorials that take more than a few seconds."""
Capsys = pytest.CaptureFixture[str]


def marks(path: Path) -> list[pytest.MarkDecorator]:
    """Those that train with PyTorch run where it is installed, and torchao where they use it."""
    text = "".join(block.text for block in blocks(path, "python"))
    needs = [pytest.mark.torch] * ("import torch" in text)
    if "torchao" in text:
        is_missing = importlib.util.find_spec("torchao") is None
        needs.append(pytest.mark.skipif(is_missing, reason="needs torchao"))
    return needs + [pytest.mark.slow] * (path.stem in SLOW)


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


@pytest.mark.parametrize("path", sorted(TUTORIALS.glob("*.md")), ids=lambda path: path.stem)
def test_figures_of_the_text_are_printed_on_the_page(path: Path) -> None:
    """They cannot drift: what a page shows is compared with what its commands print."""
    assert unprinted_figures(path) == []


def test_a_figure_that_no_command_prints_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("It takes 12.5 KB and 7 ms.\n\n```text\nflash 12.5 KB, 0.7 ms\n```\n", "utf-8")
    assert unprinted_figures(page) == ["7"]


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


def test_with_the_compiler_of_the_pages_all_numbers_are_compared() -> None:
    output = "flash 33,012 bytes\ntook 7 s"
    assert matched("flash 33,012 bytes\ntook 9 s", output, OF_THE_BUILD)
    with pytest.raises(AssertionError, match="not printed, or not there"):
        matched("flash 32,812 bytes", output, OF_THE_BUILD)
