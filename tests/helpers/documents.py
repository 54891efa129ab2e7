"""The documents of the repository: their code blocks, and the commands in these."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from places import REPOSITORY

README = REPOSITORY / "README.md"
DOCS = REPOSITORY / "docs"
DOCUMENTS = sorted(
    [README, *DOCS.rglob("*.md"), *REPOSITORY.glob("*/README.md")],
    key=lambda path: path.as_posix(),
)
_FENCED = re.compile(r"^```(\w*)([^\n`]*)\n(.*?)^```", re.S | re.M)


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        language: the word after the fence; blocks of commands have none.
        title: name of the file that the block shows, empty where it is no file.
        text: its lines, each with its end.
    """

    language: str
    title: str
    text: str


def blocks(path: Path, language: str | None = None) -> list[Block]:
    """The blocks of a document in their order, those of one language if it is given."""
    found = []
    for word, rest, text in _FENCED.findall(path.read_text("utf-8")):
        title = re.search(r'title="([^"]*)"', rest)
        found.append(Block(word, title[1] if title else "", text))
    return [block for block in found if language is None or block.language == language]


def lines_of(block: Block) -> list[list[str]]:
    """The commands of a block without a language, each split into words as a shell does it."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def commands(path: Path) -> list[list[str]]:
    """The commands of a document, in their order."""
    return [words for block in blocks(path, "") for words in lines_of(block)]


def code(path: Path) -> list[str]:
    """All code of a document, in blocks and within lines."""
    text = path.read_text("utf-8")
    return [block.text for block in blocks(path)] + re.findall(
        r"`([^`\n]+)`", _FENCED.sub("", text)
    )
