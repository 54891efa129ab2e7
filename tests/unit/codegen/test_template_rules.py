"""The rules of templates and the walk through their types find what they are for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import jinja2
import pytest
from template_rules import branch_axes, violations
from template_types import Checker

from edgec.codegen.env import environment


@dataclass(frozen=True)
class Part:
    size: int


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    rest: Part | None

    @property
    def has_rest(self) -> bool:
        return self.rest is not None


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{{ a + 1 }}", "Add"),
        ("{{ 2 * a }}", "Mul"),
        ("{{ a // 2 }}", "FloorDiv"),
        ("{{ -a }}", "Neg"),
        ("{% if a % 2 %}{% endif %}", "Mod"),
        ('{{ "sum%d" % a }}', "Mod"),
        ('{{ "sum" ~ a }}', "Concat"),
        ("{{ a[1:] }}", "Slice"),
        ("{{ a[b.c] }}", "element at Getattr"),
        ("{{ 'x' if a > 4 else 'y' }}", "comparison gt"),
        ("{{ a | default(none) }}", "filter default"),
        ("{{ a | d(0) }}", "filter d"),
        ('{{ "%d" | format(a) }}', "filter format"),
        ("{% if a is defined %}{% endif %}", "test defined"),
        ("{{ a.count(8) }}", "call of something that is no macro"),
        ("{% for i in range(1, a) %}{% endfor %}", "range of computed bounds"),
        ("{% for i in a %}{{ loop.index }}{% endfor %}", "loop.index"),
        ("{% macro m(a, b, c, d, e, f) %}{% endmacro %}", "macro m has 6 parameters"),
        ("{{ m(*a) }}", "call of m with unpacked arguments"),
    ],
)
def test_what_templates_must_not_contain(source: str, problem: str) -> None:
    assert violations(environment().parse(source)) == [f"line 1: {problem}"]


def test_what_templates_may_contain() -> None:
    source = """
{% macro m(k, name) %}
{% for i in range(k.count) %}{{ name }}_{{ i }}{{ ", " if not loop.last }}{% endfor %}
{% endmacro %}
{% set code %}sums[{{ j }}]{% endset %}
{% if k.kind == "look_up" and k.rest is not none or 8 in k.widths %}
{{ m(k, code) | indent(4) }}
{% endif %}
{{ k.strides[operand] | c_int }}
"""
    assert violations(environment().parse(source)) == []


def test_axes_are_what_a_template_chooses_by() -> None:
    source = "{% if k.a and not k.b.c %}{% elif k.a == 2 %}{% endif %}{{ 1 if loop.first else 2 }}"
    assert branch_axes(environment().parse(source)) == {"k.a", "k.b.c", "loop.first"}


def _checked(folder: Path, **sources: str) -> Checker:
    for name, text in sources.items():
        (folder / name).write_text(text)
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True)
    checker = Checker(env)
    checker.check("main", {"k": Whole})
    return checker


def test_attributes_are_followed_through_loops_and_macros(tmp_path: Path) -> None:
    checker = _checked(
        tmp_path,
        main='{% from "parts" import show %}'
        "{% for part in k.parts %}{{ show(part) }}{% endfor %}"
        "{% if k.has_rest %}{{ show(k.rest) }}{% endif %}",
        parts="{% macro show(p) %}{{ p.size }}{% endmacro %}{% macro old() %}{% endmacro %}",
    )
    assert checker.problems == set()
    assert checker.used == {Whole: {"parts", "has_rest", "rest"}, Part: {"size"}}
    assert checker.defined - checker.called == {("parts", "old")}
    assert {path.name for path in checker.files} == {"main", "parts"}


@pytest.mark.parametrize(
    "main",
    [
        "{{ K }}",
        "{{ k.size }}",
        "{% for part in k.parts %}{{ part.rest }}{% endfor %}",
        "{% for part in k.parts %}{% endfor %}{{ part.size }}",
        "{% macro m(p) %}{{ p.size }}{% endmacro %}{{ m(k) }}",
        "{% macro m(p) %}{{ q }}{% endmacro %}{{ m(k) }}",
        "{% macro m(p) %}{% endmacro %}{{ m() }}",
        "{% macro m(p) %}{% endmacro %}{{ m(k, k) }}",
        "{% if false %}{{ k.rest.length }}{% endif %}",
    ],
)
def test_unknown_names_are_found(main: str, tmp_path: Path) -> None:
    assert len(_checked(tmp_path, main=main).problems) == 1
