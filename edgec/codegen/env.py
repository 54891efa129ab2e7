"""The Jinja environments: of all C templates, and of HTML pages."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2.filters import do_indent
from markupsafe import Markup

from edgec.base import names
from edgec.base.names import printable
from edgec.codegen import cliterals
from edgec.codegen.cliterals import c_array, c_hex, c_int
from edgec.codegen.compiled_templates import CompiledTemplates

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
"""Templates that belong to no kernel family."""
KERNELS = Path(__file__).resolve().parent.parent / "kernels"
"""Folder that names of shared template parts, `kernels/...`, are relative to."""

_SPACES = re.compile(r"^ +\n", re.MULTILINE)


@cache
def environment() -> jinja2.Environment:
    """Strict, without HTML escaping; only the filters that templates may use are added."""
    env = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [
                jinja2.FunctionLoader(_of_anywhere),
                jinja2.PrefixLoader({"kernels": jinja2.FileSystemLoader(KERNELS)}),
                jinja2.FileSystemLoader(TEMPLATES),
            ]
        ),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_with_lines,
        bytecode_cache=_compiled("c"),
        line_statement_prefix="%%",
        line_comment_prefix="%#",
    )
    env.filters["c_array"] = c_array
    env.filters["c_int"] = c_int
    env.filters["c_hex"] = c_hex
    env.filters["nested"] = nested
    return env


def _compiled(kind: str) -> CompiledTemplates:
    modules = (Path(__file__), Path(cliterals.__file__), Path(names.__file__))
    return CompiledTemplates(kind, modules)


def render(template: str, context: DataclassInstance) -> str:
    """A text from one of the C templates.

    The comments and imports at the top of a template leave empty lines, and an indented macro that
    writes nothing leaves a line of spaces; these go.
    """
    text = environment().get_template(template).render(values(context))
    return _SPACES.sub("", text).lstrip("\n")


def values(context: DataclassInstance) -> dict[str, Any]:
    """Fields of a context by name, the variables of its template."""
    return {field.name: getattr(context, field.name) for field in dataclasses.fields(context)}


def _of_anywhere(name: str) -> tuple[str, str, Callable[[], bool]] | None:
    """The template of a kernel family, which may be outside of edgec, by its path."""
    path = Path(name)
    if not path.is_absolute() or not path.is_file():
        return None
    return path.read_text("utf-8"), name, lambda: True


def nested(text: str, depth: int) -> str:
    """`text` inside `depth` blocks of C, four spaces each, its first line included."""
    return do_indent(text, 4 * depth, first=True)


@cache
def html_environment() -> jinja2.Environment:
    """Strict, every value escaped: for pages that show names from models."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_on_one_line,
        bytecode_cache=_compiled("html"),
    )
    env.filters["fixed"] = _fixed
    env.filters["general"] = _general
    env.filters["percent"] = _percent
    env.filters["thousands"] = _thousands
    script = (TEMPLATES / "profile" / "zoom.js").read_text("utf-8")
    # A page runs this text and no other: what strangers wrote has another digest.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    env.globals["zoom_script"] = Markup(script)  # ours, not a value
    env.globals["zoom_digest"] = Markup(f"sha256-{digest}")
    return env


def _with_lines(value: object) -> object:
    """A value as C templates write it: no control characters but the ends of its own lines."""
    return printable(value, lines=True) if isinstance(value, str) else value


def _on_one_line(value: object) -> object:
    """A value as pages write it; what macros made is Markup, and stays."""
    return printable(value) if type(value) is str else value


def _fixed(number: float, digits: int) -> str:
    """A number with this many digits after the point."""
    return f"{number:.{digits}f}"


def _general(number: float) -> str:
    """A number with no more digits than it needs."""
    return f"{number:g}"


def _percent(share: float, digits: int) -> str:
    """A share of 1 in percent."""
    return f"{100 * share:.{digits}f} %"


def _thousands(number: int) -> str:
    """A number with commas between the thousands."""
    return f"{number:,}"
