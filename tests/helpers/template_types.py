"""The types of all values in a template, from its context on, through every macro that it calls.

`Checker.check` walks a template as it would be rendered, both branches of every choice, and notes
which fields and properties of which classes are read.  A name that is nowhere defined, an attribute
that a class has not, and a value whose type is not known are problems.
"""

from __future__ import annotations

import types
import typing
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import nodes

from edgec.codegen.env import html_environment

LOOP = object()
"""Type of `loop`."""
_ITEM = "the element of a turn"


@cache
def _texts_of_pages() -> frozenset[str]:
    """Names of the texts that all pages have."""
    found = html_environment().globals
    return frozenset(name for name, value in found.items() if isinstance(value, str))


class Scope:
    """Types by name, those of an outer scope included.

    Attributes:
        read: own names that were read.
    """

    def __init__(self, names: Mapping[str, Any], outer: Scope | None = None) -> None:
        self._own = dict(names)
        self._outer = outer
        self.read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._own or (self._outer is not None and name in self._outer)

    def __getitem__(self, name: str) -> Any:
        if name not in self._own and self._outer is not None:
            return self._outer[name]
        self.read.add(name)
        return self._own[name]

    def __setitem__(self, name: str, kind: Any) -> None:
        self._own[name] = kind


@dataclass(frozen=True)
class MacroOf:
    """Type of a macro: where it is defined."""

    template: str
    node: nodes.Macro = field(compare=False)
    name: str
    scope: Scope = field(compare=False)


class Checker:
    """Walks templates.

    Attributes:
        used: attributes that were read, by the class that has them.
        problems: what is wrong, one line each.
        files: files that were read.
        macros: (template, macro) of all that are defined, and of all that are called.
    """

    def __init__(self, env: jinja2.Environment) -> None:
        self.env = env
        self.used: dict[type, set[str]] = defaultdict(set)
        self.problems: set[str] = set()
        self.files: set[Path] = set()
        self.defined: set[tuple[str, str]] = set()
        self.called: set[tuple[str, str]] = set()
        self._trees: dict[str, nodes.Template] = {}
        self._modules: dict[str, Scope] = {}
        self._done: set[tuple[object, ...]] = set()

    def check(self, template: str, variables: Mapping[str, Any]) -> set[str]:
        """Walk a template whose context has these variables; returns those that it reads."""
        scope = Scope(variables)
        self._template(template, scope)
        return scope.read & set(variables)

    def _tree(self, template: str) -> nodes.Template:
        if template not in self._trees:
            assert self.env.loader is not None
            source, filename, _ = self.env.loader.get_source(self.env, template)
            assert filename is not None
            self.files.add(Path(filename))
            self._trees[template] = self.env.parse(source, template)
        return self._trees[template]

    def _template(self, template: str, scope: Scope) -> None:
        _Walk(self, template, scope).body(self._tree(template).body)

    def module(self, template: str) -> Scope:
        """The macros of a template that is imported."""
        if template not in self._modules:
            self._modules[template] = scope = Scope({})
            self._template(template, scope)
        return self._modules[template]

    def call(self, macro: MacroOf, given: list[Any], named: Mapping[str, Any]) -> None:
        """Walk a macro with arguments of these types, once for each combination of types."""
        self.called.add((macro.template, macro.name))
        names = [argument.name for argument in macro.node.args]
        walk = _Walk(self, macro.template, macro.scope)
        first_default = len(names) - len(macro.node.defaults)
        values = {
            name: walk.type_of(default)
            for name, default in zip(names[first_default:], macro.node.defaults, strict=True)
        }
        values |= dict(zip(names, given, strict=False)) | dict(named)
        if set(values) != set(names) or len(given) > len(names):
            self.problems.add(f"{macro.template}: arguments of {macro.name}")
            return
        key = (macro, id(macro.scope), tuple(repr(values[name]) for name in names))
        if key not in self._done:
            self._done.add(key)
            caller = MacroOf("", macro.node, "caller", macro.scope)
            inner = Scope({**values, "caller": caller}, macro.scope)
            _Walk(self, macro.template, inner).body(macro.node.body)


class _Walk:
    """One pass over the body of a template or macro."""

    def __init__(self, checker: Checker, template: str, scope: Scope) -> None:
        self.checker = checker
        self.template = template
        self.scope = scope

    def body(self, children: list[nodes.Node]) -> None:
        for child in children:
            self.statement(child)

    def statement(self, node: nodes.Node) -> None:
        match node:
            case nodes.Macro():
                self.checker.defined.add((self.template, node.name))
                self.scope[node.name] = MacroOf(self.template, node, node.name, self.scope)
            case nodes.FromImport(template=nodes.Const(value=str(template))):
                module = self.checker.module(template)
                for name in node.names:
                    source, target = (name, name) if isinstance(name, str) else name
                    self.scope[target] = module[source]
            case nodes.Include(template=nodes.Const(value=str(template))):
                self.checker._template(template, self.scope)
            case nodes.For():
                self._for(node)
            case nodes.If():
                self.type_of(node.test)
                self.body([*node.body, *node.elif_, *node.else_])
            case nodes.Assign():
                self._bind(node.target, self.type_of(node.node))
            case nodes.AssignBlock():
                self.body(node.body)
                self._bind(node.target, str)
            case nodes.FilterBlock():
                self.type_of(node.filter)
                self.body(node.body)
            case nodes.CallBlock():
                self.type_of(node.call)
                self.body(node.body)
            case nodes.Output():
                for child in node.nodes:
                    if not isinstance(child, nodes.TemplateData):
                        self.type_of(child)
            case _:
                self._problem(node, type(node).__name__)

    def _for(self, node: nodes.For) -> None:
        element = _element(self.type_of(node.iter))
        scope = Scope({"loop": LOOP, _ITEM: element}, self.scope)
        inner = _Walk(self.checker, self.template, scope)
        inner._bind(node.target, element)
        if node.test is not None:
            inner.type_of(node.test)
        inner.body([*node.body, *node.else_])

    def _bind(self, target: nodes.Node, value: Any) -> None:
        if isinstance(target, nodes.Name):
            self.scope[target.name] = value
        elif isinstance(target, nodes.Tuple):
            for number, item in enumerate(target.items):
                self._bind(item, _element(value, number))
        else:
            self._problem(target, "assignment to something that is no name")

    def type_of(self, node: nodes.Node) -> Any:
        """The type of an expression; `Any` where there is a problem, which is noted."""
        match node:
            case nodes.Const():
                return type(node.value)
            case nodes.Name(ctx="load"):
                return self._name(node)
            case nodes.Getattr():
                return self._attribute(node)
            case nodes.Getitem():
                self.type_of(node.arg)
                return _element(self.type_of(node.node))
            case nodes.CondExpr():
                self.type_of(node.test)
                branches = [node.expr1] if node.expr2 is None else [node.expr1, node.expr2]
                return _union([self.type_of(branch) for branch in branches])
            case nodes.Tuple() | nodes.List():
                return tuple[tuple(self.type_of(item) for item in node.items)]  # type: ignore[misc]
            case nodes.Or() | nodes.And():
                return _union([self.type_of(node.left), self.type_of(node.right)])
            case nodes.Call():
                return self._call(node)
            case nodes.Filter() | nodes.Test():
                return self._applied(node)
            case _:
                for child in node.iter_child_nodes():
                    self.type_of(child)
                return bool

    def _name(self, node: nodes.Name) -> Any:
        if node.name in self.scope:
            return self.scope[node.name]
        if node.name == "range":
            return range
        if node.name in _texts_of_pages():
            return str
        self._problem(node, f"there is no {node.name}")
        return Any

    def _attribute(self, node: nodes.Getattr) -> Any:
        owner = self.type_of(node.node)
        if owner is LOOP:
            return self.scope[_ITEM] if node.attr == "previtem" else int
        found = []
        for cls in (each for each in _members(owner) if each is not Any):
            kind = _attribute_types(cls).get(node.attr) if isinstance(cls, type) else None
            if kind is None:
                self._problem(node, f"{cls} has no {node.attr}")
            else:
                self.checker.used[cls].add(node.attr)
                found.append(kind)
        return _union(found)

    def _call(self, node: nodes.Call) -> Any:
        given = [self.type_of(argument) for argument in node.args]
        named = {keyword.key: self.type_of(keyword.value) for keyword in node.kwargs}
        callee = self.type_of(node.node)
        if callee is range:
            return range
        if not isinstance(callee, MacroOf):
            self._problem(node, "call of something that is no macro")
        elif callee.name != "caller":
            self.checker.call(callee, given, named)
        return str

    def _applied(self, node: nodes.Filter | nodes.Test) -> Any:
        if node.node is not None:
            self.type_of(node.node)
        for argument in [*node.args, *(keyword.value for keyword in node.kwargs)]:
            self.type_of(argument)
        return {"length": int}.get(node.name, str)

    def _problem(self, node: nodes.Node, text: str) -> None:
        self.checker.problems.add(f"{self.template}:{node.lineno}: {text}")


@cache
def _attribute_types(cls: type) -> dict[str, Any]:
    """Types of the fields and properties of a class."""
    found = dict(typing.get_type_hints(cls))
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, property) and value.fget is not None:
                found[name] = typing.get_type_hints(value.fget).get("return", Any)
    return found


def _members(kind: Any) -> list[Any]:
    """The classes of a union, without None."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return [part for part in typing.get_args(kind) if part is not type(None)]
    return [] if kind is type(None) else [kind]


def _union(kinds: list[Any]) -> Any:
    return reduce(or_, kinds) if kinds else Any


def _element(kind: Any, number: int | None = None) -> Any:
    """Type of an element of a tuple, range or text: that at a place, or of any."""
    found = []
    for part in _members(kind):
        elements = [each for each in typing.get_args(part) if each is not Ellipsis]
        if part in (range, str):
            found.append(int if part is range else str)
        elif number is not None and Ellipsis not in typing.get_args(part):
            found += elements[number : number + 1]
        else:
            found += elements
    return _union(found)
