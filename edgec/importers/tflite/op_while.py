"""WHILE: two networks that a loop with a number of turns that is known at import calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.loops import carry, is_real, new_loop, stacked, updated
from edgec.importers.common.tensors import Tensor, UnknownTensorError, UnsupportedError
from edgec.importers.common.turned import MAX_EVALUATED, is_number, starts_of, turned
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.load_tensor import FileGraph, FileOperator
from edgec.importers.tflite.node import TfliteNode
from edgec.importers.tflite.states import meaning, pinned, same_codes
from edgec.importers.tflite.turns import known_numbers, rows
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.turns import Loop


@dataclass(frozen=True, slots=True, eq=False)
class _List:
    """A tensor of which each turn writes a row that no turn reads.

    Attributes:
        row: number of the tensor that is written, [1, ...].
        position: number of the tensor whose first element is the position of the row.
        operators: those that write it.
    """

    row: int
    position: int
    operators: tuple[FileOperator, ...]


def while_(ctx: Context, node: TfliteNode) -> tuple[Tensor, ...]:
    """A number of turns known at import; turns carry real numbers and read and write rows."""
    cond, body = node.body("CondSubgraphIndex"), node.body("BodySubgraphIndex")
    given = [node.tensor(index) for index in range(node.input_count)]
    count = len(given)
    if not len(cond.inputs) == len(body.inputs) == len(body.outputs) == count:
        raise UnsupportedError(
            "its networks have other inputs and outputs than it has", "correct the model"
        )
    if not ctx.enter(body):
        raise UnsupportedError("another operator calls its network, too", "convert it again")
    through = {n for n in range(count) if body.inputs[n] == body.outputs[n]}
    numbers = {n for n in range(count) if n not in through and is_number(given[n])}
    turns = _turns(ctx, cond, body, given, through, numbers)
    loop = new_loop(ctx, node.outputs[0], len(turns) - 1)
    lists = {n: found for n in range(count) if (found := _list(body, n)) is not None}
    lists = {n: found for n, found in lists.items() if n not in through | numbers}
    carried: dict[int, Value] = {}
    for n, (number, x) in enumerate(zip(body.inputs, given, strict=True)):
        name = ctx.file[number].name
        if n in numbers:
            arrays = np.stack([turn[n] for turn in turns[:-1]])
            ctx.tensors[name] = turned(name, loop, arrays)
        elif n in through:
            ctx.tensors[name] = x
        elif n not in lists:
            carried[n] = _carried(ctx, x, loop, number, body.outputs[n])
            ctx.tensors[name] = ctx.stored(carried[n], number)
    _translate(ctx, body, loop, lists)
    outputs: list[Tensor] = []
    for n, number in enumerate(body.outputs):
        if n in numbers:
            outputs.append(Constant(node.outputs[n], turns[-1][n]))
        elif n in through:
            outputs.append(given[n])
        elif n in lists:
            outputs.append(_written(ctx, lists[n], loop, given[n]))
        else:
            outputs.append(_after(ctx, loop, carried[n], _found(ctx, number)))
    return tuple(outputs)


def _turns(
    ctx: Context,
    cond: FileGraph,
    body: FileGraph,
    given: Sequence[Tensor],
    through: set[int],
    numbers: set[int],
) -> list[dict[int, np.ndarray]]:
    """The numbers before each turn, and after the last one, by place among the inputs."""
    found = [dict(zip(numbers, starts_of(given[n] for n in numbers), strict=True))]
    known = {n: x for n in through if isinstance(x := given[n], Constant) and is_number(x)}
    state = {n: x for n in numbers if isinstance(x := given[n], Constant)}
    while True:
        now = known | state
        asked = known_numbers(ctx, cond, {cond.inputs[n]: x for n, x in now.items()}, ctx.apply)
        goes_on = asked.get(cond.outputs[0]) if cond.outputs else None
        if goes_on is None:
            raise UnsupportedError(
                "the data decide how many turns it has", "give it a constant number of turns"
            )
        if not goes_on.array.all():
            return found
        if len(found) > MAX_EVALUATED:
            raise UnsupportedError(f"it has more than {MAX_EVALUATED:,} turns", "use fewer")
        after = known_numbers(ctx, body, {body.inputs[n]: x for n, x in now.items()}, ctx.apply)
        state = {n: after[body.outputs[n]] for n in numbers if body.outputs[n] in after}
        if len(state) < len(numbers) or any(x.shape != found[0][n].shape for n, x in state.items()):
            raise UnsupportedError(
                "it carries whole numbers that the data decide", "carry real numbers"
            )
        found.append({n: x.array for n, x in state.items()})


def _list(body: FileGraph, place: int) -> _List | None:
    """The way in which a list is written, if it is one.

    Source: TensorFlow's converter writes TensorListSetItem as DYNAMIC_UPDATE_SLICE, or as a
    CONCATENATION of what is before a row, the row, and what comes after it
    (compiler/mlir/lite/transforms/lower_static_tensor_list.cc).
    """
    made = {number: operator for operator in body.operators for number in operator.outputs}
    before, last = body.inputs[place], made.get(body.outputs[place])
    match last:
        case FileOperator(op="DYNAMIC_UPDATE_SLICE", inputs=(whole, row, position)):
            found, ends = _List(row, position, (last,)), whole == before
        case FileOperator(op="CONCATENATION", inputs=(first, row, rest)):
            pair = made.get(first), made.get(rest)
            both = [each for each in pair if each is not None and each.op == "SLICE"]
            ends = len(both) == 2 and all(each.inputs[0] == before for each in both)
            found = _List(row, both[0].inputs[2] if ends else -1, (last, *both))
        case _:
            return None
    readers = [each for each in body.operators if before in each.inputs]
    alone = all(any(each is own for own in found.operators) for each in readers)
    return found if ends and alone and before not in body.outputs else None


def _carried(ctx: Context, x: Tensor, loop: Loop, number: int, after: int) -> Value:
    """A carried value, x before the first turn."""
    quant = meaning(ctx.file[number], x.shape)
    other = meaning(ctx.file[after], x.shape)
    alike = x.quant is None and quant is None and other is None and x.dtype is DType.FLOAT32
    if not alike and not (same_codes(x.quant, quant) and same_codes(other, quant)):
        raise UnsupportedError(
            "what it carries has other codes in its network", "carry codes of one scale"
        )
    start = ctx.real(x) if isinstance(x, Value) else x
    return pinned(ctx, carry(ctx, start, loop), quant)


def _translate(ctx: Context, body: FileGraph, loop: Loop, lists: Mapping[int, _List]) -> None:
    """Translate the operators of a turn, but those that write lists."""
    skipped = {id(operator) for found in lists.values() for operator in found.operators}
    source, outside = ctx.current, ctx.loop
    ctx.loop = loop
    try:
        ctx.translate([each for each in body.operators if id(each) not in skipped])
    finally:
        ctx.loop = outside
        ctx.begin(source)


def _found(ctx: Context, number: int) -> Tensor:
    """A tensor of a turn; constants of the file too.

    Raises:
        UnknownTensorError: it could not be translated, for a reason that is noted.
    """
    file = ctx.file[number]
    found = ctx.tensors.get(file.name)
    if found is None and file.data is not None:
        return ctx.constant_of(file)
    if found is None:
        raise UnknownTensorError(file.name)
    return ctx.real(found) if isinstance(found, Value) else found


def _after(ctx: Context, loop: Loop, own: Value, x: Tensor) -> Tensor:
    """A carried value after the last turn."""
    if x.shape != own.shape or not is_real(x):
        raise UnsupportedError(
            f"what it carries is {list(own.shape)} before a turn and {list(x.shape)} after it",
            "carry a tensor of one shape and type",
        )
    return updated(ctx, loop, own, x, is_used=True)


def _written(ctx: Context, found: _List, loop: Loop, whole: Tensor) -> Tensor:
    """A list after the last turn."""
    row, places = _found(ctx, found.row), rows(_found(ctx, found.position), loop.count)
    if row.shape != (1, *whole.shape[1:]) or (places[:, 1:].any() and len(found.operators) == 1):
        raise UnsupportedError("it writes other parts of a list than a row", "write whole rows")
    at, turns = places[:, 0], np.arange(loop.count)
    if whole.shape[0] == 1 and not at.any():
        return ctx.emit(ops.TurnLast(loop), ctx.as_value(row), quant=row.quant)
    backwards = bool(np.array_equal(at, turns[::-1]))
    if whole.shape[0] != loop.count or not (backwards or np.array_equal(at, turns)):
        raise UnsupportedError(
            "it does not write the rows of a list one after the other", "write all rows in order"
        )
    return stacked(ctx, ctx.reshape(row, row.shape[1:]), loop, 0, backwards=backwards)
