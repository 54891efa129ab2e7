"""Words: docstrings, comments, help texts and documents that a newcomer understands alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from edgec.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
TEXTS = sorted(
    path
    for folder, patterns in {
        "edgec": ("*.py", "*.j2", "*.toml"),
        "firmware": ("*.h", "*.c", "*.S", "*.md"),
        "docs": ("*.md",),
        "boards": ("*.toml",),
        "examples": ("*.py", "*.md"),
        "networks": ("*.py", "*.md"),
        "benchmarks": ("*.py",),
        ".": ("README.md",),
    }.items()
    for pattern in patterns
    for path in ((ROOT / folder).glob(pattern) if folder == "." else (ROOT / folder).rglob(pattern))
)
UNCLEAR = {
    r"\bbehind\b": "say after, beyond or below",
    r"\bso many\b(?! that)": "say this many, or name the number",
}
"""Words that say too little, and what to write instead."""


@pytest.mark.parametrize("pattern", UNCLEAR)
def test_no_text_has_unclear_words(pattern: str):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in TEXTS
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(pattern, line, re.I)
    ]
    assert not found, "\n".join([UNCLEAR[pattern], *found])


UNBOUND = re.compile(r"(It|Its|They|Their|Those|That|Such|Both|Neither) ")
"""Openings of paragraphs that point to another paragraph."""
TURNED = re.compile(r"(So (is|are|do|does|has|have|was|did)|Neither|Nor) ")
"""Openings of sentences whose subject and verb stand in the sentence before."""


@pytest.mark.parametrize("path", [path for path in TEXTS if path.suffix == ".md"], ids=str)
def test_paragraphs_and_sentences_of_documents_stand_alone(path: Path):
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.S | re.M)
    prose = "\n".join(line for line in text.splitlines() if not line.startswith(("|", "#")))
    for paragraph in re.split(r"\n\s*\n", prose):
        flat = " ".join(paragraph.split())
        assert not UNBOUND.match(flat), f"say what: {flat[:100]}"
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`])", flat):
            assert not TURNED.match(sentence), f"subject first: {sentence[:100]}"


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring of a module, and of each text after a constant."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                match statement:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield statement.lineno, text.strip()


QUESTION = re.compile(r"(What|How|Where|Which|Whose|Who|Why)\b")
"""Openings of texts that name nothing."""


def riddle(text: str) -> str:
    """Reason why a docstring cannot be understood alone; empty if it can."""
    first = text.split("\n", 1)[0]
    if asked := QUESTION.match(first):
        return f"begins with {asked[0]!r}: name the thing or say what to do"
    if re.match(r"Of\b", first):
        return "begins with 'Of': say what it is that belongs to something"
    if re.match(r"(Those|That|The same|Both|It)\b", first):
        return "begins with a word for something that is not named here"
    if len(first.split()) == 1:
        return "is a single word"
    attribute = re.search(r"^ +[\w, ]+: of [\w`].*$", text, re.M)
    return f"says only whose it is: {attribute[0].strip()}" if attribute else ""


@pytest.mark.parametrize(
    "text",
    [
        "Of all of them.",
        "Those of the Clip.",
        "What is left of it.",
        "How often it is read.",
        "Resizes.",
        "A run.\n\n    bits: of a width.",
    ],
)
def test_riddles_are_recognised(text: str):
    assert riddle(text)
    assert not riddle("Bytes in one block.\n\n    bits: width of activations.")


STILL_TO_DO = (
    "edgec/ir/qops/mixed",
    "edgec/ir/qops/wide",
    "edgec/kernels/generic",
    "edgec/kernels/mixed",
    "edgec/kernels/wide",
    "edgec/quant/convert",
)
"""Beginnings of paths whose docstrings still ask questions; the list only gets shorter."""


def test_docstrings_are_understood_alone():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {why}"
        for path in sorted((ROOT / "edgec").rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(STILL_TO_DO)
        for line, text in docstrings(path)
        if (why := riddle(text))
    ]
    assert not found, "\n".join(found)


def test_comments_of_c_and_templates_name_things():
    opening = re.compile(rf"(?:/\*|%#|\{{#)\s+{QUESTION.pattern}")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in TEXTS
        if path.suffix in (".h", ".c", ".j2")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if opening.search(line) and not str(path.relative_to(ROOT)).startswith(STILL_TO_DO)
    ]
    assert not found, "\n".join(found)


def test_help_has_no_brackets_that_the_terminal_drops():
    """Rich takes [words in brackets] for markup and shows nothing of them."""
    found = [
        f"{name} {parameter.name}"
        for name, command in get_command(app).commands.items()
        for parameter in command.params
        if re.search(r"\[[a-z]", getattr(parameter, "help", None) or "")
    ]
    assert not found
