"""What may stand in a template, by its syntax tree: values are printed, chosen and repeated.

Numbers and names are decided in Python, where mypy and unit tests see them.  So there is no
arithmetic, no comparison of sizes, no formatting, slicing or joining of text in an expression, no
call but of macros and `range` of one given count, no default in place of a value that is missing.
What remains: fields of the context, literals, `a if b else c`, `==`, `in`, `and`, `or`, `not`,
`is none`, the place of a turn in its loop, and the element of a tuple at a given place.
"""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes

MOST_PARAMETERS = 5
"""Of a macro: more of them belong together in a record."""
MOST_AXES = 3
"""Values that a template may choose by: three of two states each are eight texts in one file."""
MOST_LINES = 150
"""What a reader has to hold in mind at once."""
FILTERS = {
    *("c_array", "c_hex", "c_int", "nested", "indent", "trim", "join", "length"),
    *("fixed", "thousands", "general", "percent"),
}
LOOP_ATTRIBUTES = {"index0", "revindex0", "first", "last", "previtem"}
_COMPARISONS = {"eq", "ne", "in", "notin"}
_ALLOWED: tuple[type[nodes.Node], ...] = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Const, nodes.Name, nodes.Keyword),
    *(nodes.Getattr, nodes.Getitem, nodes.Tuple, nodes.List, nodes.CondExpr),
    *(nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Test),
    *(nodes.For, nodes.If, nodes.Assign, nodes.AssignBlock, nodes.FilterBlock, nodes.Filter),
    *(nodes.Macro, nodes.Call, nodes.CallBlock, nodes.FromImport, nodes.Include),
)


def violations(tree: nodes.Template) -> list[str]:
    """What a template must not contain, one message each: "line 3: Add"."""
    return [
        f"line {node.lineno}: {problem}"
        for node in tree.find_all(nodes.Node)
        if (problem := _problem(node)) is not None
    ]


def _problem(node: nodes.Node) -> str | None:
    if not isinstance(node, _ALLOWED):
        return type(node).__name__
    return next(_problems(node), None)


def _problems(node: nodes.Node) -> Iterator[str]:
    match node:
        case nodes.Macro() if len(node.args) > MOST_PARAMETERS:
            yield f"macro {node.name} has {len(node.args)} parameters"
        case nodes.Filter() if node.name not in FILTERS:
            yield f"filter {node.name}"
        case nodes.Test() if node.name != "none":
            yield f"test {node.name}"
        case nodes.Compare():
            others = (operand.op for operand in node.ops if operand.op not in _COMPARISONS)
            yield from (f"comparison {op}" for op in others)
        case nodes.Getitem() if not isinstance(node.arg, nodes.Const | nodes.Name | nodes.Slice):
            yield f"element at {type(node.arg).__name__}"
        case nodes.Getattr(node=nodes.Name(name="loop")) if node.attr not in LOOP_ATTRIBUTES:
            yield f"loop.{node.attr}"
        case nodes.Call():
            yield from _call_problems(node)


def _call_problems(call: nodes.Call) -> Iterator[str]:
    if not isinstance(call.node, nodes.Name):
        yield "call of something that is no macro"
    elif call.dyn_args is not None or call.dyn_kwargs is not None:
        yield f"call of {call.node.name} with unpacked arguments"
    elif call.node.name == "range" and len(call.args) != 1:
        yield "range of computed bounds"


def branch_axes(tree: nodes.Template) -> set[str]:
    """The different values that a template chooses by: "k.variable", "k.rescale16.table"."""
    tests = [node.test for node in tree.find_all((nodes.If, nodes.CondExpr))]
    return {path for test in tests for path in _paths(test)}


def _paths(node: nodes.Node) -> Iterator[str]:
    path = _path(node)
    if path is not None:
        yield path
        return
    for child in node.iter_child_nodes():
        yield from _paths(child)


def _path(node: nodes.Node) -> str | None:
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        inner = _path(node.node)
        return None if inner is None else f"{inner}.{node.attr}"
    return None
