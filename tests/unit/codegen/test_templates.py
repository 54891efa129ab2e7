"""Templates hold no arithmetic and read exactly what their contexts hold."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
import typing
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from source_trees import module_trees
from template_rules import MOST_AXES, MOST_LINES, branch_axes, violations
from template_types import Checker

import edgec
from edgec.codegen import contexts, project_contexts
from edgec.codegen import helpers as helper_contexts
from edgec.codegen.env import environment, html_environment
from edgec.codegen.formats.record import ExportContext
from edgec.codegen.formats.registry import FORMATS
from edgec.codegen.library import kernel_template
from edgec.explore.page import ExplorePage
from edgec.kernels.registry import FAMILIES
from edgec.profile.compare_html import ComparePage
from edgec.profile.compile_html import CompilePage
from edgec.profile.evaluation_html import EvaluationPage
from edgec.profile.html import Page
from edgec.profile.pools_html import PoolsPage
from edgec.profile.validation_html import ValidationPage
from edgec.profile.widths_html import WidthsPage

PACKAGE = Path(edgec.__file__).parent
FILES = sorted(PACKAGE.rglob("*.j2"))
SPECS = {family.name: family.spec_type for family in FAMILIES}
_ROOTS = {"template", "header_template"}
"""Names of the class variables of contexts that name templates."""


def _environment(path: Path) -> jinja2.Environment:
    return html_environment() if ".html" in path.name else environment()


def _contexts() -> dict[str, Any]:
    """The context of each template that is rendered, but of kernels."""
    found = [
        *(Page, PoolsPage, WidthsPage, CompilePage, ValidationPage, ExplorePage),
        *(EvaluationPage, ComparePage),
    ]
    for module in (contexts, helper_contexts, project_contexts):
        found += [each for each in vars(module).values() if dataclasses.is_dataclass(each)]
    roots = {
        getattr(context, name): context
        for context in found
        for name in _ROOTS
        if hasattr(context, name)
    }
    formats = {path for form in FORMATS.values() for path in form.templates.values()}
    return roots | dict.fromkeys(formats, ExportContext)


@cache
def _checked() -> tuple[dict[bool, Checker], dict[str, set[str]]]:
    """All templates walked: by HTML or C; and the variables that each reads."""
    checkers = {False: Checker(environment()), True: Checker(html_environment())}
    read = {}
    for template, context in _contexts().items():
        variables = {f.name: _hints(context)[f.name] for f in dataclasses.fields(context)}
        read[template] = checkers[".html" in template].check(template, variables)
    for spec in SPECS.values():
        variables = {**_hints(contexts.KernelContext), "k": spec}
        read[kernel_template(spec)] = checkers[False].check(kernel_template(spec), variables)
    return checkers, read


def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


@cache
def _trees() -> dict[str, jinja2.nodes.Template]:
    """The syntax tree of each template, by its path in the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): _environment(path).parse(path.read_text("utf-8"))
        for path in FILES
    }


def test_templates_print_choose_and_repeat_and_nothing_else() -> None:
    faults = [f"{name}: {fault}" for name, tree in _trees().items() for fault in violations(tree)]
    assert faults == []


def test_templates_choose_by_few_values() -> None:
    axes = {
        name: {axis for axis in branch_axes(tree) if not axis.startswith("loop.")}
        for name, tree in _trees().items()
    }
    assert {name: each for name, each in axes.items() if len(each) > MOST_AXES} == {}


def test_templates_of_c_are_short() -> None:
    counts = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text("utf-8").splitlines())
        for path in PACKAGE.rglob("*.[ch].j2")
    }
    assert {name: count for name, count in counts.items() if count > MOST_LINES} == {}


def test_every_file_serves_a_context() -> None:
    checkers, _ = _checked()
    assert checkers[False].files | checkers[True].files == set(FILES)


def test_every_name_is_known() -> None:
    checkers, _ = _checked()
    assert checkers[False].problems | checkers[True].problems == set()


def test_every_macro_is_called() -> None:
    for checker in _checked()[0].values():
        assert checker.defined - checker.called == set()


def test_every_variable_is_read() -> None:
    _, read = _checked()
    for template, names in read.items():
        context = _contexts().get(template, contexts.KernelContext)
        assert names == {field.name for field in dataclasses.fields(context)}, template


def _context_classes() -> set[type]:
    """Classes that exist for templates: contexts, specifications and the records that they hold."""
    return {
        cls
        for cls in _credited()
        if dataclasses.is_dataclass(cls)
        and not cls.__module__.startswith(("edgec.profile", "edgec.ir", "edgec.codegen.cnames"))
    }


@cache
def _credited() -> dict[type, set[str]]:
    """What templates read, by the class that defines it."""
    found: dict[type, set[str]] = {cls: set() for spec in SPECS.values() for cls in _bases(spec)}
    for checker in _checked()[0].values():
        for cls, names in checker.used.items():
            for base in _bases(cls):
                found.setdefault(base, set())
            for name in names:
                owner = next((base for base in _bases(cls) if name in vars(base)), cls)
                found.setdefault(owner, set()).add(name)
    return found


def _bases(cls: type) -> list[type]:
    return [base for base in cls.__mro__ if base is not object]


def _properties(cls: type) -> dict[str, property]:
    return {name: value for name, value in vars(cls).items() if isinstance(value, property)}


def _reads(value: property) -> set[str]:
    """What a property reads of its own object."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(value.fget)))  # type: ignore[arg-type]
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


def _reached(cls: type) -> set[str]:
    """What templates read of a class, themselves or through its properties."""
    related = [each for each in _credited() if issubclass(each, cls) or issubclass(cls, each)]
    reached = set().union(*(_credited()[each] for each in related))
    properties = {n: v for each in reversed(related) for n, v in _properties(each).items()}
    waiting = list(reached)
    while waiting:
        value = properties.get(waiting.pop())
        new = (set() if value is None else _reads(value)) - reached
        reached |= new
        waiting += new
    return reached


def test_every_field_is_used() -> None:
    assert _named(_unused_fields) == []


def _unused_fields(cls: type) -> set[str]:
    own = {f.name for f in dataclasses.fields(cls) if f.name in cls.__annotations__}
    return own - _reached(cls) - (_read_in_python() if cls in _records() else set())


def _records() -> set[type]:
    """Classes that are part of a context: what templates do not read, Python may."""
    whole = {base for spec in SPECS.values() for base in _bases(spec)} | set(_contexts().values())
    return _context_classes() - whole


@cache
def _read_in_python() -> set[str]:
    nodes = (node for tree in module_trees().values() for node in ast.walk(tree))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def test_every_property_is_used() -> None:
    assert _named(_unused_properties) == []


def _unused_properties(cls: type) -> set[str]:
    public = {name for name in _properties(cls) if not name.startswith("_")}
    return public - _reached(cls) - _read_in_python()


def _named(unused: Callable[[type], set[str]]) -> list[str]:
    """What is unused of all classes that exist for templates, as Class.name."""
    return sorted(f"{cls.__name__}.{name}" for cls in _context_classes() for name in unused(cls))
