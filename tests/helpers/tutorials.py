"""A tutorial done as its reader does it: files written, commands run, output held against it.

A page is read from top to bottom in an empty folder that has edgec's examples:

* A block with a title, as in ```` ```python title="train.py" ````, is a file of that name.
* A block without a language holds commands. They end with exit code 0, but for the last one where
  the output below it has a line that begins with `error:`.
* A block of language `text` is what the last command printed. A line `...` stands for lines that
  are left out.
* Numbers are those of the page where the network is in a file and the compiler is that of the
  pages. Other compilers give others, and so does training on another computer.
  `pytest --update-golden` writes those of this computer.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from bad_input_support import edgec
from documents import Block, blocks, lines_of

OMITTED = "..."
NOT_RUN = frozenset({"sudo", "pip", "python3", ".", "scp", "ssh", "git"})
"""Programs that install something, or need another computer."""
OF_MEMORY = re.compile(r"^\W*(weights|arena)\b")
"""Lines whose numbers no version of a compiler changes."""
OF_THE_MODEL = re.compile(OF_MEMORY.pattern + r"|\b(accuracy|SQNR|dB)\b")
"""The same on pages whose network is in a file, not computed on the reader's machine."""
OF_THE_BUILD = re.compile(r"^(?!.*\d s\b)")
"""Lines whose numbers the compiler of the pages does not change: all but those of seconds."""
COMPILER = "12.2.1"
"""Version of `arm-none-eabi-gcc` that the numbers in the pages come from, that of Debian 12."""
_FIGURE = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?) ?(?:%|KB|MB|bytes|cycles|dB|ms|µs|points)")
_NO_PROSE = re.compile(r"^```.*?^```|^\|[^\n]*|`[^`\n]*`|\]\([^)]*\)", re.S | re.M)
Stand = Callable[[Sequence[str]], str | None]
"""Runs a command in a test's own way and gives its output; None: it is an ordinary one."""


def is_compiler_of_pages() -> bool:
    """Whether this computer compiles firmware with the compiler that the pages were made with."""
    program = shutil.which("arm-none-eabi-gcc")
    if program is None:
        return False
    argv = [program, "-dumpversion"]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip() == (
        COMPILER
    )


def masked(line: str) -> str:
    """A line without its numbers, and borders of tables without their length."""
    line = re.sub(r"([━─═])\1*", r"\1", line.rstrip())
    return re.sub(r"\s+", " ", re.sub(r"\d[\d,]*(\.\d+)?", "0", line))


def is_same(shown: str, real: str, steady: re.Pattern[str] | None) -> bool:
    """Whether a page shows a line; numbers count in the lines that `steady` finds."""
    if masked(shown) != masked(real):
        return False
    return steady is None or not steady.search(shown) or shown.split() == real.split()


def unprinted_figures(path: Path) -> list[str]:
    """Figures with a unit in the text of a page, tables apart, that none of its blocks holds."""
    held = "\n".join(block.text for block in blocks(path))
    figures = _FIGURE.findall(_NO_PROSE.sub("", path.read_text("utf-8")))
    alone = r"(?<![\w.,]){}(?![\w.,]*\d)"
    return [each for each in figures if not re.search(alone.format(re.escape(each)), held)]


def matched(shown: str, output: str, steady: re.Pattern[str] | None) -> list[str]:
    """The lines of an output that a page shows, in their order, with its `...`.

    Raises:
        AssertionError: a line is not in the output, or not in this place.
    """
    real = output.splitlines()
    place, result = 0, []
    free = True
    for line in shown.splitlines():
        if line.strip() == OMITTED:
            result.append(line)
            free = True
            continue
        reach = len(real) if free else place + 1
        found = next((i for i in range(place, reach) if is_same(line, real[i], steady)), None)
        assert found is not None, f"not printed, or not there:\n{line}\n\noutput:\n{output}"
        result.append(real[found].rstrip())
        place, free = found + 1, not line.strip()
    return result


class Walk:
    """One way through a tutorial, in the current folder."""

    def __init__(self, capsys: pytest.CaptureFixture[str], stand: Stand = lambda words: None):
        self.capsys = capsys
        self.stand = stand
        self.output = ""

    def run(self, words: list[str], fails: bool) -> None:
        """Run one command and keep what it printed, on either stream."""
        output = self.stand(words)
        if output is not None:
            self.output = output
        elif words[0] == "edgec":
            done = edgec(self.capsys, *words[1:])
            self.output = done.out + done.err
            assert (done.code != 0) == fails, (words, self.output)
        elif words[0] == "cd":
            os.chdir(words[1])
        elif words[0] not in NOT_RUN:
            program = sys.executable if words[0] == "python" else words[0]
            done = subprocess.run(
                [program, *words[1:]], capture_output=True, text=True, check=False, timeout=600
            )
            self.output = done.stdout + done.stderr
            assert (done.returncode != 0) == fails, (words, self.output)

    def commands(self, block: Block, after: Block | None) -> None:
        """Run a block of commands; the block after it may show that the last one fails."""
        is_shown = after is not None and after.language == "text"
        fails = is_shown and re.search(r"^error: ", after.text, re.M) is not None
        lines = lines_of(block)
        for number, words in enumerate(lines, 1):
            self.run(words, fails and number == len(lines))

    def page(self, path: Path, update: bool) -> Mapping[str, str]:
        """Do all of a page; for each output that it shows, that text with today's numbers."""
        found = blocks(path)
        is_made = any((block.title or "").endswith(".py") for block in found)
        of_a_file = OF_THE_BUILD if is_compiler_of_pages() else OF_THE_MODEL
        steady = None if update else OF_MEMORY if is_made else of_a_file
        fresh = {}
        for block, after in zip(found, [*found[1:], None], strict=True):
            if block.title:
                Path(block.title).parent.mkdir(parents=True, exist_ok=True)
                Path(block.title).write_text(block.text, "utf-8")
            elif block.language == "text":
                fresh[block.text] = "\n".join([*matched(block.text, self.output, steady), ""])
            else:
                assert not block.language, f"{path.name}: a block of {block.language} has no title"
                self.commands(block, after)
        return fresh


def do(path: Path, walk: Walk, update: bool) -> None:
    """Do a tutorial; write its outputs anew where that is wanted."""
    with contextlib.chdir(Path.cwd()):
        fresh = walk.page(path, update)
    if update:
        text = path.read_text("utf-8")
        for old, new in fresh.items():
            text = text.replace(f"```text\n{old}```", f"```text\n{new}```")
        path.write_text(text, "utf-8")
