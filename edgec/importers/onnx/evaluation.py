"""Nodes that are computed at import, by ONNX's own reference, where cleaning has left them.

These are nodes that read the number of a turn, operators that ONNX defines by others, and what is
computed of the shapes of tensors that only the translation knows, such as the results of a loop.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from edgec.base.dtypes import Array
from edgec.base.limits import MAX_TURN_CONSTANTS
from edgec.importers.common.boundary import library_call
from edgec.importers.common.tensors import Gathered, Tensor, UnsupportedError
from edgec.importers.common.turned import MAX_EVALUATED, Turned, turned
from edgec.importers.onnx.cleanup import MAX_FOLDED_ELEMENTS, static_shape
from edgec.importers.onnx.node import Context
from edgec.ir.graph import Constant
from edgec.ir.turns import Loop

MAX_NUMBERS = 64
"""Most elements of what shapes are computed of: they have one for each axis."""
_SHAPE_TYPES = (np.int32, np.int64, np.bool_)
"""Types of shapes and of what is computed of them; codes of weights have 8 bits."""
OF_SHAPES = frozenset(
    (
        *("Add", "And", "Cast", "Concat", "Div", "Equal", "Gather", "Greater", "GreaterOrEqual"),
        *("Less", "LessOrEqual", "Max", "Min", "Mod", "Mul", "Neg", "Not", "Or", "ReduceMax"),
        *("ReduceMin", "ReduceProd", "ReduceSum", "Reshape", "Slice", "Squeeze", "Sub"),
        *("Unsqueeze", "Where"),
    )
)
"""Operators whose results are at most as large as what they read has in products of elements."""
_OF_SIZES = ("ConstantOfShape", "Expand")
"""Operators whose result has the shape that an input gives."""


def of_numbers(ctx: Context, node: ir.Node) -> tuple[Tensor, ...] | None:
    """Outputs of a node that computes with shapes; None for any other node."""
    if node.op_type not in OF_SHAPES and node.op_type not in _OF_SIZES:
        return None
    read = tensors_read(ctx, node)
    small = [x for x in read.values() if is_plain(x) and x.array.size <= MAX_NUMBERS]
    if not read or len(small) < len(read) or any(x.array.dtype not in _SHAPE_TYPES for x in small):
        return None
    if node.op_type in _OF_SIZES:
        wanted = small[-1].array
        if wanted.ndim != 1:
            return None
        if math.prod((small[0].array.size, *map(int, abs(wanted)))) > MAX_FOLDED_ELEMENTS:
            return None
    return _computed(node, read)


def of_constants(ctx: Context, node: ir.Node) -> tuple[Tensor, ...] | None:
    """Outputs of a node of plain constants that cleaning has left; None for any other node.

    These are operators that ONNX defines by others, such as Gelu: libraries do not compute them.
    """
    read, shapes = tensors_read(ctx, node), [static_shape(value) for value in node.outputs]
    plain = all(type(x) is Constant and x.quant is None and x.pooled is None for x in read.values())
    small = all(shape and math.prod(shape) <= MAX_FOLDED_ELEMENTS for shape in shapes)
    if not read or not plain or not small or not _is_defined_by_others(node):
        return None
    return _computed(node, read)


def _computed(node: ir.Node, read: Mapping[str, Tensor | None]) -> tuple[Tensor, ...]:
    with library_call("a node of constants cannot be computed"):
        results = _alone(node, read).run(None, {name: _in_turn(x, 0) for name, x in read.items()})
    named = zip(node.outputs, results, strict=True)
    return tuple(Constant(value.name or "", np.asarray(array)) for value, array in named)


def _is_defined_by_others(node: ir.Node) -> bool:
    with library_call("the definition of the operator in ONNX cannot be read"):
        schema: Any = onnx.defs.get_schema(node.op_type, _opset(node), "")
    return bool(schema.has_function or schema.has_context_dependent_function)


def _opset(node: ir.Node) -> int:
    return node.version or (node.graph.opset_imports.get("", 17) if node.graph else 17)


def tensors_read(ctx: Context, node: ir.Node) -> dict[str, Tensor | None]:
    """The tensors that a node reads, by name."""
    names = (value.name for value in node.inputs if value is not None)
    return {name: ctx.tensors.get(name) for name in names if name}


def evaluated_in_turns(
    node: ir.Node, read: Mapping[str, Tensor | None], loop: Loop
) -> tuple[Tensor, ...]:
    """The outputs of a node in all turns."""
    if loop.count > MAX_EVALUATED:
        raise UnsupportedError(
            f"it computes with the number of one of {loop.count:,} turns", "use fewer turns"
        )
    with library_call("a node that reads the number of the turn cannot be computed"):
        run = _alone(node, read).run
        results = [
            run(None, {name: _in_turn(x, turn) for name, x in read.items()})
            for turn in range(loop.count)
        ]
    outputs = []
    for name, *arrays in zip([o.name or "" for o in node.outputs], *results, strict=True):
        shapes = {np.shape(array) for array in arrays}
        if len(shapes) > 1 or loop.count * math.prod(shapes.pop()) > MAX_TURN_CONSTANTS:
            raise UnsupportedError("its shape depends on the number of the turn", "use one shape")
        outputs.append(turned(name, loop, np.stack(arrays)))
    return tuple(outputs)


def _alone(node: ir.Node, read: Mapping[str, Tensor | None]) -> ReferenceEvaluator:
    arrays = {name: _in_turn(x, 0) for name, x in read.items()}
    return evaluator(ir.serde.serialize_node(node), arrays, _opset(node))


def evaluator(node: onnx.NodeProto, arrays: Mapping[str, Array], opset: int) -> ReferenceEvaluator:
    """A function that computes one node, with ONNX's own reference.

    Args:
        node: without bodies.
        arrays: what it reads, by name; later arrays have the same types.
        opset: version of ONNX's operators.
    """
    helper = onnx.helper
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), None)
        for name, x in arrays.items()
    ]
    outputs = [helper.make_tensor_value_info(name, 0, None) for name in node.output]
    graph = helper.make_graph([node], "node", inputs, outputs)
    imports = [helper.make_opsetid("", opset)]
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=imports))


def _in_turn(x: Tensor | None, turn: int) -> Array:
    assert isinstance(x, Constant)
    return np.asarray(x.turns[turn] if isinstance(x, Turned) else x.array)


def is_plain(tensor: Tensor | None) -> TypeGuard[Constant]:
    """Whether a tensor is a constant of numbers that are the same in all turns."""
    special = isinstance(tensor, Gathered | Turned)
    return isinstance(tensor, Constant) and not special and tensor.quant is None
