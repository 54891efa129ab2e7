"""Commands in the documents exist with their options; nothing points outside the repository."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import board_gallery
import commands_page
import pytest
from documents import DOCUMENTS, code
from places import REPOSITORY
from typer.main import get_command

from edgec.cli.app import app

ROOT = REPOSITORY
STARTS = ("edgec ", "python benchmarks/", "python networks/", "python examples/", "python tests/")
SHARED_OPTIONS = {"data_folder": ROOT / "benchmarks" / "data_folder.py"}
SHARED_OPTIONS["cifar10"] = ROOT / "networks" / "cifar10.py"
"""Modules that add options to the parsers of scripts that import them."""
OUTSIDE = re.compile(r"\.\./shared|/work/|farm-")


def commands(path: Path) -> list[str]:
    """Commands in the code of a document; lines that end in a backslash are joined."""
    indented = re.findall(r"^    (\S.*)$", path.read_text("utf-8"), re.M)
    pieces = [piece.replace("\\\n", " ") for piece in [*code(path), *indented]]
    lines = [line.split("  #")[0].strip() for piece in pieces for line in piece.split("\n")]
    return [line for line in lines if line.startswith(STARTS)]


def options_of_script(script: Path) -> str:
    """The text that names a script's options: its own, and that of modules it takes them from."""
    text = script.read_text("utf-8")
    shared = [path for name, path in SHARED_OPTIONS.items() if re.search(rf"\b{name}\b", text)]
    return text + "".join(path.read_text("utf-8") for path in shared)


def check_edgec(words: list[str]) -> None:
    group = get_command(app)
    if words[0].startswith("-"):
        return
    assert words[0] in group.commands, f"edgec has no command {words[0]}"
    command = group.commands[words[0]]
    if len(words) > 1 and words[1] in getattr(command, "commands", {}):
        command = command.commands[words[1]]
    known = {name for parameter in command.params for name in parameter.opts}
    known |= {name for parameter in command.params for name in parameter.secondary_opts}
    given = {
        word.split("=")[0] for word in words[1:] if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word)
    }
    assert given <= known | {"--help"}, (words, given - known)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_exist_with_their_options(path: Path):
    for line in commands(path):
        words = shlex.split(line.replace("[", " ").replace("]", " ").replace("|", " "))
        if words[0] == "edgec":
            check_edgec(words[1:])
            continue
        script = ROOT / words[1]
        assert script.is_file(), line
        text = options_of_script(script)
        missing = [word for word in words[2:] if word.startswith("--") and f'"{word}"' not in text]
        assert not missing, line


def test_every_benchmark_is_named_in_the_documents():
    texts = "".join(path.read_text("utf-8") for path in DOCUMENTS)
    scripts = [
        path for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text("utf-8")
    ]
    assert len(scripts) > 10
    assert [path.name for path in scripts if f"benchmarks/{path.name}" not in texts] == []


def test_nothing_points_outside_the_repository():
    """Continuous integration alone may know of a folder beside the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("no git checkout")
    names = [name for name in listed.stdout.split("\0") if name and not name.startswith(".ci/")]
    found = []
    for name in names:
        path = ROOT / name
        if path.suffix in (".onnx", ".npz") or path == Path(__file__) or not path.is_file():
            continue
        if OUTSIDE.search(path.read_text("utf-8", errors="replace")):
            found.append(name)
    assert found == []


def test_page_of_commands(request: pytest.FixtureRequest):
    text = commands_page.PAGE.read_text("utf-8")
    fresh = commands_page.updated(text)
    if request.config.getoption("--update-golden"):
        commands_page.PAGE.write_text(fresh, "utf-8")
    assert text == fresh, "the page is out of date: pytest tests/unit/test_docs.py --update-golden"


def test_gallery_of_boards(request: pytest.FixtureRequest):
    fresh = board_gallery.files()
    if request.config.getoption("--update-golden"):
        board_gallery.PICTURES.mkdir(exist_ok=True)
        for path in board_gallery.PICTURES.glob("*.svg"):
            path.unlink()
        for path, text in fresh.items():
            path.write_text(text, "utf-8")
    there = {*board_gallery.PICTURES.glob("*.svg"), board_gallery.PAGE}
    assert there == set(fresh)
    stale = [path.name for path, text in fresh.items() if path.read_text("utf-8") != text]
    assert stale == [], "out of date: pytest tests/unit/test_docs.py --update-golden"
    page = board_gallery.PAGE.read_text("utf-8")
    assert page.count("](assets/boards/") == len(board_gallery.boards()) >= 28
    for path in fresh:
        if path.suffix == ".svg":
            drawing = ElementTree.parse(path).getroot()
            assert drawing.find("{http://www.w3.org/2000/svg}title").text


def messages() -> set[str]:
    """All texts of edgec's code; what is put into them is `…`."""
    found = set()
    for path in (ROOT / "edgec").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Constant(value=str(text)):
                    found.add(text)
                case ast.JoinedStr(values=values):
                    parts = [v.value if isinstance(v, ast.Constant) else "…" for v in values]
                    found.add("".join(map(str, parts)))
    return found


def test_messages_that_the_documents_explain_exist():
    text = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    shown = re.findall(r"^\| `([^`]+)` \|", text, re.M)
    assert len(shown) > 30
    known = messages()
    assert [message for message in shown if not any(message in each for each in known)] == []
