"""No second list of the order of operands: they are read from the record of their operator."""

from __future__ import annotations

import ast

import pytest
from places import PACKAGE

OTHER_INPUTS = {
    "commands/compile.py": "inputs of a report",
    "importers/onnx/pool_lookup.py": "inputs of an ONNX node",
    "ir/graph.py": "`Node.first` and `Node.input` themselves",
}
"""Files in which the subscript is no operand of an operator of edgec."""
INTEGER_BY_POSITION = ("kernels/",)
"""What works on integer graphs and still counts operands; nothing may be added here."""


def positional(source: str) -> list[int]:
    """Lines that subscript some `.inputs` with a number or a slice between numbers."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
            continue
        index = node.slice
        bounds = [index.lower, index.upper] if isinstance(index, ast.Slice) else [index]
        numbers = [b for b in bounds if b is not None]
        if node.value.attr == "inputs" and any(_is_number(bound) for bound in numbers):
            found.append(node.lineno)
    return found


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int)


def files() -> list[str]:
    names = (path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py")))
    return [n for n in names if n not in OTHER_INPUTS and not n.startswith(INTEGER_BY_POSITION)]


def test_the_search_finds_what_it_looks_for():
    source = (
        "a.inputs[0]\nnode.inputs[-1]\nnode.inputs[1:]\ninputs[0]\nnode.inputs[i]\nb.inputs[:2]"
    )
    assert positional(source) == [1, 2, 3, 6]


@pytest.mark.parametrize("name", files())
def test_operands_have_names(name: str):
    lines = positional((PACKAGE / name).read_text(encoding="utf-8"))
    assert not lines, f"{name}, lines {lines}: take operands from the record of the operator"
