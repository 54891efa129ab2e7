"""`docs/commands.md`, made of the commands' own help."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from documents import DOCS
from typer.main import get_command

from edgec.cli.app import app
from edgec.cli.help import sections

PAGE = DOCS / "commands.md"
_GENERATED = re.compile(r"(<!-- commands: begin [^\n]*-->\n).*(?=<!-- commands: end -->)", re.S)
_EVERYWHERE = ("-v, --verbose", "-h, --help")
"""Options that every command has; the page says so once."""


def updated(text: str) -> str:
    """The page with its commands made anew."""
    body = "\n".join(_commands())
    return _GENERATED.sub(lambda found: f"{found[1]}\n{body}\n", text)


def _commands() -> Iterator[str]:
    group = get_command(app)
    with group.make_context("edgec", [], resilient_parsing=True) as context:
        for name, command in group.commands.items():
            yield from _command(command, name, context)
            for below, each in getattr(command, "commands", {}).items():
                yield from _command(each, f"{name} {below}", context)


def _command(command, name: str, parent) -> Iterator[str]:
    """Heading, usage, help and options of a command."""
    yield f"## edgec {name}\n"
    with command.make_context(name, [], parent=parent, resilient_parsing=True) as context:
        pieces = command.collect_usage_pieces(context)
        yield f"    edgec {' '.join([name, *pieces])}\n"
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
            yield _prose(paragraph) + "\n"
        parts = sections(command, context)
    for title, records in parts.items():
        rows = [record for record in records if record[0] not in _EVERYWHERE]
        if rows:
            yield from _table(title, rows)


def _table(title: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    yield f"| {title} | |"
    yield "|---|---|"
    for names, explanation in rows:
        yield f"| `{names.replace('|', '/')}` | {_cell(_prose(explanation))} |"
    yield ""


def _prose(text: str) -> str:
    """Help as Markdown: options as code, pages of docs/ as links."""
    text = " ".join(text.split())
    text = re.sub(r"(?<![`\w-])(--?[a-z][\w-]*)", r"`\1`", text)
    text = re.sub(r"<(\w+)>", r"&lt;\1&gt;", text)
    return re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", text)


def _cell(text: str) -> str:
    """Prose for a table; in code the escape would be seen in the site, not on GitHub."""
    return text.replace("|", "\\|")
