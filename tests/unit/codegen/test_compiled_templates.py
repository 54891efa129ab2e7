"""Code of templates that is kept: found again, made again when it is old, never in the way."""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
import pytest

from edgec.codegen.compiled_templates import CompiledTemplates

_TEXT = "{% for i in range(n) %}{{ i | twice }} {% endfor %}{{ 4 | twice }}"


def _environment(folder: Path, rule: Path, factor: int = 2) -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(folder)
    cache = CompiledTemplates("test", [rule])
    made = jinja2.Environment(loader=loader, bytecode_cache=cache, autoescape=False)
    made.filters["twice"] = lambda x: factor * x
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a template and a file that decides what code is made of it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    place = tmp_path / "templates"
    place.mkdir()
    (place / "text.j2").write_text(_TEXT)
    (tmp_path / "rule.py").write_text("1")
    return place


def _kept(folder: Path) -> list[Path]:
    return [path for path in (folder.parent / "kept").rglob("*") if path.is_file()]


def _text(folder: Path, factor: int = 2) -> str:
    made = _environment(folder, folder.parent / "rule.py", factor)
    return made.get_template("text.j2").render(n=3)


def test_a_second_environment_compiles_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is read from the file that the first one left."""
    assert _text(folder) == "0 2 4 8"
    assert len(_kept(folder)) == 1

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(jinja2.Environment, "_generate", refuse)
    assert _text(folder) == "0 2 4 8"


def test_another_template_or_rule_is_compiled_again(folder: Path) -> None:
    """Jinja folds filters of constants into the code, so their modules count."""
    assert _text(folder) == "0 2 4 8"
    (folder / "text.j2").write_text("{{ n }} {{ 5 | twice }}")
    assert _text(folder) == "3 10"
    (folder.parent / "rule.py").write_text("2")
    assert _text(folder, factor=3) == "3 15"
    assert len(_kept(folder)) == 1


@pytest.mark.parametrize("keep", [0, 10, 64, 100])
def test_a_damaged_file_is_replaced(folder: Path, keep: int) -> None:
    """A file that was cut short gives what the template says."""
    assert _text(folder) == "0 2 4 8"
    (path,) = _kept(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[:keep])
    assert _text(folder) == "0 2 4 8"
    assert path.read_bytes() == whole


def test_nothing_is_kept_where_python_keeps_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -B`, and folders that nobody can write to."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert _text(folder) == "0 2 4 8"
    assert not _kept(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (folder.parent / "kept").write_text("a file, no folder")
    assert _text(folder) == "0 2 4 8"
