"""The contract of a graph at each stage, as code; the driver and the passes run it between steps.

A violation is a bug of edgec, so every check raises `InternalError` with the step and the node.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.errors import EdgecError, InternalError
from edgec.ir.graph import Constant, Graph, Node, Value
from edgec.ir.infer import infer_shapes
from edgec.ir.qops.base import IntegerOperator, need_operands
from edgec.ir.qops.signs import SIGNS
from edgec.ir.real import RealOperator
from edgec.ir.turns import CARRY_OPERAND, flat


class Stage(enum.Enum):
    """Stage of a graph; see docs/architecture.md.

    REAL: real operators on float32 values, `quant` where a QDQ model pinned it.
    ANNOTATED: real operators, all weights integer, `quant` on every value.
    INTEGER: integer operators, all numbers final.
    """

    REAL = "real"
    ANNOTATED = "annotated"
    INTEGER = "integer"


def verify(graph: Graph, stage: Stage, step: str = "") -> None:
    """Check the structure of a graph and the contract of its stage.

    Args:
        graph: the graph.
        stage: whose contract to check.
        step: what produced the graph, for the message.

    Raises:
        InternalError: the first violation found.
    """
    check = _Checker(step)
    _check_names(graph, check)
    _check_order(graph, check)
    _check_shapes(graph, check)
    _check_loops(graph, check)
    _check_layouts(graph, check)
    _check_features(graph, check)
    check_value = {
        Stage.REAL: _check_real_value,
        Stage.ANNOTATED: _check_annotated_value,
        Stage.INTEGER: _check_integer_value,
    }[stage]
    for value in graph.values.values():
        check.node = value.name
        check_value(graph, value, check)
    for constant in graph.constants.values():
        check.node = constant.name
        _check_constant(constant, stage, check)
    check_node = {
        Stage.REAL: _check_real_node,
        Stage.ANNOTATED: _check_annotated_node,
        Stage.INTEGER: _check_integer_node,
    }[stage]
    known = IntegerOperator if stage is Stage.INTEGER else RealOperator
    for node in graph.nodes:
        check.node = node.name
        check(isinstance(node.attrs, known), f"{node.op} is no operator of stage {stage.value}")
        check_node(graph, node, check)


class _Checker:
    """Raises with the step and the node under check."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.node = ""

    def __call__(self, condition: bool, what: str) -> None:
        if not condition:
            where = f"after {self.step}: {self.node}" if self.step else self.node
            raise InternalError(what, where=where)


def _check_names(graph: Graph, check: _Checker) -> None:
    names = [node.name for node in graph.nodes]
    check(len(set(names)) == len(names), "two nodes have one name")
    check(not (set(graph.values) & set(graph.constants)), "a value and a constant share a name")
    for mapping in (graph.values, graph.constants):
        for key, item in mapping.items():
            check.node = key
            check(key == item.name and key != "", "a tensor is listed under another name")
    check(len(set(graph.inputs)) == len(graph.inputs), "an input is listed twice")
    for name in (*graph.inputs, *graph.outputs):
        check.node = name
        check(name in graph.values, "a graph input or output is no value")


def _check_order(graph: Graph, check: _Checker) -> None:
    defined = {"", *graph.constants, *graph.inputs}
    for node in graph.nodes:
        check.node = node.name
        for name in node.inputs:
            check(name in defined, f"input {name!r} is not defined before the node")
        check(bool(node.outputs), "a node without an output")
        for name in node.outputs:
            check(name in graph.values, f"output {name!r} is no value")
            check(name not in defined, f"output {name!r} is defined twice")
            defined.add(name)
    for name in graph.values:
        check.node = name
        check(name in defined, "a value that nothing computes")


def _check_shapes(graph: Graph, check: _Checker) -> None:
    for node in graph.nodes:
        check.node = node.name
        try:
            shapes = infer_shapes(node.attrs, graph.shapes(node))
        except EdgecError as error:
            check(False, error.what)
        check(len(shapes) == len(node.outputs), f"{len(shapes)} outputs are needed")
        for name, shape in zip(node.outputs, shapes, strict=True):
            found = graph.values[name].shape
            check(found == shape, f"{name!r} has shape {found}, its operator gives {shape}")


def _check_loops(graph: Graph, check: _Checker) -> None:
    """Loops are nested and stand in one piece; each carried value is updated once."""
    try:
        tuple(flat(graph.sequence))
    except ValueError as error:
        check(False, str(error))
    for node in graph.nodes:
        check.node = node.name
        if node.carries:
            found = sum(_updates(reader, node.output) for reader in graph.consumers[node.output])
            check(found == 1, f"{node.output!r} is updated {found} times in a turn")
        if node.attrs.updates:
            name = node.inputs[CARRY_OPERAND]
            made = graph.producers.get(name)
            check(made is not None and made.carries, f"{name!r} is no carried value")
    for name in graph.outputs:
        check.node = name
        check(graph.scopes.values.get(name) is None, "a graph output inside of a loop")


def _updates(node: Node, name: str) -> bool:
    """Whether a node gives a carried value its next number."""
    return node.attrs.updates and node.inputs[CARRY_OPERAND] == name


def _check_layouts(graph: Graph, check: _Checker) -> None:
    for layouts, names in (
        (graph.input_layouts, graph.inputs),
        (graph.output_layouts, graph.outputs),
    ):
        for name, perm in layouts.items():
            check.node = name
            check(name in names, "a layout of something that is no input or output")
            rank = len(graph.shape(name))
            check(sorted(perm) == list(range(rank)), f"layout {perm} is no permutation")


def _check_features(graph: Graph, check: _Checker) -> None:
    for name, params in graph.input_features.items():
        check.node = name
        check(name in graph.inputs, "scales of features of something that is no input")
        shape, axis = graph.shape(name), params.axis
        fits = axis is not None and 0 < axis < len(shape) and len(params.scale) == shape[axis]
        check(fits, "the scales of features do not fit the input")


def _check_real_node(graph: Graph, node: Node, check: _Checker) -> None:
    attrs = node.attrs_as(RealOperator)
    try:
        inputs = attrs.Inputs.of(graph.tensors(node))
        for name, tensor in inputs.items():
            constant = isinstance(tensor, Constant) or name not in attrs.CONSTANTS
            check(constant, f"the operand {name!r} must be a constant")
        attrs.verify_outputs(inputs, tuple(graph.values[name] for name in node.outputs))
    except ValueError as error:
        check(False, f"{node.op}: {error}")


def _check_real_value(graph: Graph, value: Value, check: _Checker) -> None:
    if value.dtype is DType.FLOAT32 or _is_index(graph, value):
        return
    quant = value.quant
    check(quant is not None and quant.dtype is value.dtype, "an integer value without its quant")


def _is_index(graph: Graph, value: Value) -> bool:
    """True for ArgMax indices, token ids and masks, and what only moves them."""
    if value.dtype is not DType.INT32:
        return False
    node = graph.producers.get(value.name)
    while node is not None and node.attrs.KEEPS_INTEGERS:
        node = graph.producers.get(node.first)
    return node is None or node.attrs.gives_integers


def _check_annotated_node(graph: Graph, node: Node, check: _Checker) -> None:
    _check_real_node(graph, node, check)
    attrs = node.attrs_as(RealOperator)
    check(not attrs.REAL_STAGE_ONLY, f"{node.op} in an annotated graph")
    try:
        attrs.verify_annotated(attrs.Inputs.of(graph.tensors(node)), graph.values[node.outputs[0]])
    except ValueError as error:
        check(False, f"{node.op}: {error}")


def _check_annotated_value(graph: Graph, value: Value, check: _Checker) -> None:
    if _is_index(graph, value):
        return
    check(value.dtype is DType.FLOAT32, "an annotated value is float32")
    _check_int8_quant(value, check)


def _check_integer_node(graph: Graph, node: Node, check: _Checker) -> None:
    attrs = node.attrs_as(IntegerOperator)
    try:
        inputs = attrs.Inputs.of(graph.tensors(node))
        need_operands(inputs)
        attrs.verify_outputs(inputs, tuple(graph.values[name] for name in node.outputs))
    except ValueError as error:
        check(False, f"{node.op}: {error}")


def _check_integer_value(graph: Graph, value: Value, check: _Checker) -> None:
    if _is_index(graph, value):
        return
    quant = value.quant
    if value.dtype is SIGNS:
        check(quant is None, "signs with a quantization")
        return
    if value.dtype is DType.INT16:
        stream = quant is not None and quant.dtype is DType.INT16 and quant.zero_point == (0,)
        check(stream, "an int16 value is not quantized per tensor with zero point 0")
        return
    check(value.dtype is DType.INT8, "an integer value is int8 or int16")
    if quant is not None and quant.axis is not None:
        fits = quant.axis == len(value.shape) - 1 and len(quant.scale) == value.shape[-1]
        check(fits and quant.dtype is DType.INT8, "per-channel parameters do not fit the value")
        return
    _check_int8_quant(value, check)


def _check_int8_quant(value: Value, check: Callable[[bool, str], None]) -> None:
    quant = value.quant
    good = quant is not None and quant.dtype is DType.INT8 and quant.axis is None
    check(good, "a value is not quantized to int8 per tensor")


@functools.cache
def _is_known(dtype: np.dtype[Any]) -> bool:
    return dtype.name in {known.value for known in DType}


def _check_constant(constant: Constant, stage: Stage, check: _Checker) -> None:
    check(_is_known(constant.array.dtype), f"a constant is {constant.array.dtype}")
    if constant.quant is not None:
        check(constant.quant.dtype is constant.dtype, "quant and array disagree about the dtype")
        axis = constant.quant.axis
        fits = axis is None or (
            axis < len(constant.shape) and constant.shape[axis] == len(constant.quant.scale)
        )
        check(fits, "per-channel parameters do not fit the array")
    elif stage is Stage.INTEGER:
        known_dtypes = (DType.INT8, DType.INT16, DType.INT32, DType.UINT16, SIGNS)
        names = ", ".join(dtype.value for dtype in known_dtypes)
        check(constant.dtype in known_dtypes, f"an integer constant is none of {names}")
    else:
        check(constant.dtype is DType.FLOAT32, "a constant is neither float32 nor quantized")
