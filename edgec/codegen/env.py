"""The Jinja environments: of all C templates, and of HTML pages."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2
from jinja2.filters import do_indent

from edgec.codegen.cliterals import c_array, c_hex, c_int

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


@cache
def environment() -> jinja2.Environment:
    """Strict, without HTML escaping; only the filters that templates may use are added."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        line_statement_prefix="%%",
        line_comment_prefix="%#",
    )
    env.filters["c_array"] = c_array
    env.filters["c_int"] = c_int
    env.filters["c_hex"] = c_hex
    env.filters["nested"] = nested
    return env


def nested(text: str, depth: int) -> str:
    """`text` inside `depth` blocks of C, four spaces each, its first line included."""
    return do_indent(text, 4 * depth, first=True)


@cache
def html_environment() -> jinja2.Environment:
    """Strict, every value escaped: for pages that show names from models."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
