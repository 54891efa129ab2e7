"""Numbers known at import, in each turn of a loop: computed, or a choice of what is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.limits import MAX_TURN_CONSTANTS
from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.common.turned import MAX_EVALUATED, Turned, part_of_turn, turned
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.load_tensor import FileGraph, FileOperator
from edgec.importers.tflite.node import TfliteNode
from edgec.ir.graph import Constant, Value
from edgec.ir.turns import Loop

Apply = Callable[[FileOperator], tuple[Tensor, ...]]
_NUMBERS = frozenset(
    (
        *("ADD", "SUB", "MUL", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "CAST", "FILL"),
        *("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL", "LOGICAL_AND"),
        *("LOGICAL_OR", "RESHAPE", "SQUEEZE", "EXPAND_DIMS", "PACK", "CONCATENATION", "GATHER"),
        *("SLICE", "STRIDED_SLICE", "SELECT", "SELECT_V2", "SUM", "REDUCE_PROD"),
    )
)
"""Operators that give constants where all that they read are whole numbers that are known."""
_WHOLE = ("INT32", "INT64", "BOOL")
_MOVES = ("GATHER", "SLICE", "STRIDED_SLICE", "RESHAPE", "SQUEEZE", "EXPAND_DIMS")
"""Operators that give constants of real numbers, too."""


def known_numbers(
    ctx: Context, graph: FileGraph, given: Mapping[int, Constant], apply: Apply
) -> dict[int, Constant]:
    """Whole numbers and truth values that a network computes of some of its inputs.

    Args:
        ctx: the graph under construction, to which nothing is added.
        graph: the network, not translated yet.
        given: what is known of its inputs, by their number in the file.
        apply: translates an operator.

    Returns:
        All that follows from these, by number, and these.
    """
    found = dict(given)
    own = {number for operator in graph.operators for number in operator.outputs} | {*graph.inputs}
    try:
        for operator in graph.operators:
            inputs = {number for number in operator.inputs if number >= 0}
            if operator.op not in _NUMBERS or inputs & own - found.keys():
                continue
            if not all(ctx.file[number].type in _WHOLE for number in inputs):
                continue
            for number in inputs & found.keys():
                ctx.tensors[ctx.file[number].name] = found[number]
            for number, x in zip(operator.outputs, apply(operator), strict=True):
                if isinstance(x, Constant):
                    found[number] = x
    finally:
        for number in own:
            ctx.tensors.pop(ctx.file[number].name, None)
    return found


def of_turns(ctx: Context, operator: FileOperator, apply: Apply) -> tuple[Tensor, ...] | None:
    """Results of an operator that reads constants of all turns; None for any other.

    Raises:
        UnsupportedError: it computes with the number of the turn, or reads what none can choose.
    """
    names = [ctx.file[number].name for number in operator.inputs if number >= 0]
    read = {name: x for name in names if isinstance(x := ctx.tensors.get(name), Turned)}
    if not read or operator.op == "WHILE":
        return None
    loops = {x.loop for x in read.values()}
    if len(loops) > 1:
        raise UnsupportedError("it reads numbers of turns of two loops", "use one of them")
    node = TfliteNode(operator, ctx)
    others = [node.tensor(index) for index in range(node.input_count) if node.has(index)]
    plain = all(isinstance(x, Constant) and x.quant is None for x in others)
    whole = all(x.dtype is not DType.FLOAT32 for x in others)
    if plain and operator.op in (_NUMBERS if whole else _MOVES):
        return _evaluated(ctx, operator, read, loops.pop(), apply)
    chooser = _CHOOSERS.get(operator.op)
    if chooser is not None and isinstance(others[0], Value):
        return (ctx.stored(chooser(ctx, node), operator.outputs[0]),)
    for name, x in read.items():
        ctx.tensors[name] = ctx.as_value(x)
    return None


def rows(x: Tensor, count: int) -> Array:
    """Whole numbers of all turns, int [count, elements].

    Raises:
        UnsupportedError: the run computes them.
    """
    if isinstance(x, Value):
        raise UnsupportedError("its positions are computed at run time", "use constant ones")
    if isinstance(x, Turned):
        return x.turns.reshape(len(x.turns), -1).astype(np.int64)
    return np.broadcast_to(x.array.reshape(1, -1), (count, x.array.size)).astype(np.int64)


def _evaluated(
    ctx: Context, operator: FileOperator, read: Mapping[str, Turned], loop: Loop, apply: Apply
) -> tuple[Tensor, ...]:
    """The outputs of an operator in all turns."""
    if loop.count > MAX_EVALUATED:
        raise UnsupportedError(
            f"it computes with the number of one of {loop.count:,} turns", "use fewer turns"
        )
    results = []
    for turn in range(loop.count):
        for name, x in read.items():
            ctx.tensors[name] = Constant(name, np.asarray(x.turns[turn]))
        results.append(apply(operator))
    ctx.tensors.update(read)
    outputs: list[Tensor] = []
    for number, *found in zip(operator.outputs, *results, strict=True):
        arrays = [x.array for x in found if isinstance(x, Constant)]
        shapes = {array.shape for array in arrays}
        total = loop.count * math.prod(next(iter(shapes), ()))
        if len(arrays) < loop.count or len(shapes) > 1 or total > MAX_TURN_CONSTANTS:
            raise UnsupportedError("its shape depends on the number of the turn", "use one shape")
        outputs.append(turned(ctx.file[number].name, loop, np.stack(arrays)))
    return tuple(outputs)


def _gather(ctx: Context, node: TfliteNode) -> Tensor:
    """Positions next to one another that move on: a part of the tensor for each turn."""
    x, indices = node.moved(0), node.tensor(1)
    assert isinstance(indices, Turned)
    axis = normal_axis(node.integer("Axis"), len(x.shape))
    places = rows(indices, indices.loop.count)
    if node.integer("BatchDims") or not (np.diff(places, axis=1) == 1).all():
        raise UnsupportedError(
            "its indices are not next to one another in a turn", "read one position, or a range"
        )
    y = part_of_turn(ctx, x, indices.loop, axis, places[:, 0], places.shape[1])
    return ctx.reshape(y, (*x.shape[:axis], *indices.turns.shape[1:], *x.shape[axis + 1 :]))


def _slice(ctx: Context, node: TfliteNode) -> Tensor:
    """Begins that move on along one axis: a part of the tensor for each turn."""
    x, begin, size = node.moved(0), node.tensor(1), node.tensor(2)
    loop = next(each.loop for each in (begin, size) if isinstance(each, Turned))
    begins, sizes = rows(begin, loop.count), rows(size, loop.count)
    whole = np.asarray(x.shape)
    sizes = np.where(sizes == -1, whole - begins, sizes)
    moved = [axis for axis in range(len(whole)) if np.ptp(begins[:, axis])]
    if (sizes != sizes[0]).any() or begins.shape[1] != len(whole) or len(moved) > 1:
        raise UnsupportedError(
            "the part that it reads has another size from turn to turn", "read one size"
        )
    for axis in moved or range(len(whole)):
        x = part_of_turn(ctx, x, loop, axis, begins[:, axis], int(sizes[0, axis]))
    if x.shape != tuple(sizes[0]):
        raise UnsupportedError("it reads a part along several axes", "read whole rows")
    return x


_CHOOSERS = {"GATHER": _gather, "SLICE": _slice}
