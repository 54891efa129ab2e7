"""No second list of the order of operands: they are read from the record of their operator."""

from __future__ import annotations

import ast

import pytest
from places import PACKAGE
from source_trees import module_trees

OTHER_INPUTS = {
    "commands/compile.py": "inputs of a report",
    "importers/onnx/weight_pool_lookup.py": "inputs of an ONNX node",
    "importers/onnx/cleanup.py": "inputs of an ONNX node",
    "importers/onnx/loop_numbers.py": "inputs of an ONNX graph and node",
    "importers/tflite/op_variables.py": "inputs of an operator of the file",
    "importers/tflite/op_while.py": "inputs of an operator of the file",
    "importers/tflite/wrapping.py": "inputs of an operator of the file",
    "workflow/stream.py": "the one input of a stream's graph",
    "workflow/apps.py": "the one input of a benchmark's graph",
    "ir/graph.py": "`Node.first` and `Node.input` themselves",
}
"""Files in which the subscript is no operand of an operator of edgec."""


def positional(tree: ast.Module) -> list[int]:
    """Lines that pick of some `.inputs` by number, by a slice between numbers, or by unpacking."""
    nodes = ast.walk(tree)
    return [n.lineno for n in nodes if _is_subscript(n) or _is_unpacking(n)]


def _is_subscript(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or not _is_inputs(node.value):
        return False
    index = node.slice
    bounds = [index.lower, index.upper] if isinstance(index, ast.Slice) else [index]
    return any(bound is not None and _is_number(bound) for bound in bounds)


def _is_unpacking(node: ast.AST) -> bool:
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple | ast.List):
        return False
    value = node.value
    source = value.generators[0].iter if isinstance(value, ast.GeneratorExp) else value
    return _is_inputs(source)


def _is_inputs(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "inputs"


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a.inputs[0]", True),
        ("node.inputs[-1]", True),
        ("node.inputs[1:]", True),
        ("b.inputs[:2]", True),
        ("x, w = node.inputs", True),
        ("(x,) = node.inputs", True),
        ("x, *rest = node.inputs", True),
        ("a, b = (shape(name) for name in node.inputs)", True),
        ("inputs[0]", False),
        ("node.inputs[i]", False),
        ("names = node.inputs", False),
        ("inputs, y = Conv.Inputs.of(node.inputs), node.output", False),
    ],
)
def test_the_search_finds_what_it_looks_for(source: str, found: bool):
    assert bool(positional(ast.parse(source))) is found


def test_operands_have_names():
    """Each place listed here has to take operands from the record of its operator."""
    trees = {path.relative_to(PACKAGE).as_posix(): tree for path, tree in module_trees().items()}
    assert OTHER_INPUTS.keys() <= trees.keys()
    found = {name: positional(tree) for name, tree in trees.items() if name not in OTHER_INPUTS}
    assert {name: lines for name, lines in found.items() if lines} == {}
