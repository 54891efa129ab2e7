"""A board as the text of a board file, each key with a comment that says what it means.

The comments are the descriptions of the fields of `Board` and its tables.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from edgec.target.board import Board

_WIDTH = 100
_TABLES_LAST = ("sources",)
_ADDRESSES = ("origin",)


def board_text(board: Board, notes: Mapping[str, str]) -> str:
    """The board file of a board; keys that have their default value are left out.

    Args:
        board: what the file describes.
        notes: more to say about keys, by their dotted names as in the file.
    """
    lines = [
        *_comment(f"Board file of edgec: edgec compile MODEL.onnx --board ./{board.name}.toml")
    ]
    lines += _table(board, "", notes)
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(record: Any, path: str, notes: Mapping[str, str]) -> Iterator[str]:
    """The keys of a record that are no tables, then its tables."""
    about = _descriptions(type(record))
    tables: list[tuple[str, Any]] = []
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if _is_default(field, value):
            continue
        if dataclasses.is_dataclass(value) or isinstance(value, dict) or _is_list(value):
            tables.append((field.name, value))
            continue
        key = f"{path}{field.name}"
        yield ""
        yield from _comment(about.get(field.name, ""))
        yield from _comment(notes.get(key, ""))
        yield f"{field.name} = {_value(field.name, value)}"
    for name, value in sorted(tables, key=lambda item: item[0] in _TABLES_LAST):
        yield from _inner(name, value, f"{path}{name}", about, notes)


def _inner(
    name: str, value: Any, key: str, about: Mapping[str, str], notes: Mapping[str, str]
) -> Iterator[str]:
    """A table, a table of plain numbers or a list of tables."""
    for each in value if _is_list(value) else (value,):
        yield ""
        if not _is_list(value) or each is value[0]:
            yield from _comment(about.get(name, ""))
            yield from _comment(notes.get(key, ""))
        yield f"[[{key}]]" if _is_list(value) else f"[{key}]"
        if isinstance(each, dict):
            yield from (f"{word} = {_value('origin', number)}" for word, number in each.items())
        elif _is_list(value) and each is not value[0]:
            yield from (line for line in _table(each, f"{key}.", {}) if line and line[0] != "#")
        else:
            yield from list(_table(each, f"{key}.", notes))[1:]


def _is_list(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and dataclasses.is_dataclass(value[0])


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    """A key that may be left out.  An empty table or list says nothing."""
    if value is None or value in ({}, ()):
        return True
    return field.default is not dataclasses.MISSING and bool(value == field.default)


def _value(name: str, value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, enum.Enum):
        return json.dumps(value.value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if name in _ADDRESSES:
            digits = f"{value:08X}"
            return f"0x{digits[:-4]}_{digits[-4:]}"
        return f"{value:_}"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(_value(name, each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _descriptions(record: type) -> dict[str, str]:
    """Descriptions of a class's fields: the section "Attributes" of its docstring."""
    text = inspect.cleandoc(record.__doc__ or "").partition("Attributes:\n")[2]
    found: dict[str, str] = {}
    names: tuple[str, ...] = ()
    for line in text.splitlines():
        start = re.match(r"    (\w[\w, ]*): (.*)", line)
        if start:
            names = tuple(start[1].split(", "))
            found |= dict.fromkeys(names, start[2])
        elif line.startswith("        "):
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
    return {name: _sentence(words) for name, words in found.items()}


def _sentence(words: str) -> str:
    """A description without what it says of Python's None: a file leaves the key out."""
    said = re.split(r"[;,] None\b|; empty\b", words)[0].rstrip(".")
    return f"{said[:1].upper()}{said[1:]}."
