"""State of a TensorFlow Lite file: variable tensors, which an operator keeps from run to run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.names import shown
from edgec.importers.common.gathered import take
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.context import Context, code_params, value_dtype
from edgec.importers.tflite.load_tensor import STATE, FileTensor
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.qparams import QuantParams


def state_before(ctx: Context, node: TfliteNode, index: int, shape: Sequence[int]) -> Tensor:
    """Real numbers of a variable tensor before a run: see `state_of`.

    Args:
        ctx: the graph under construction.
        node: the only operator that keeps the state.
        index: place of the tensor among its inputs.
        shape: the shape that it is to have; the file may write its elements in one row.

    Raises:
        UnsupportedError: the input is absent, no variable tensor or another's, or of another size.
    """
    if not node.has(index):
        raise UnsupportedError(f"its state, input {index}, is absent", "convert the model again")
    return state_of(ctx, node.file_number(index), shape)


def state_of(ctx: Context, number: int, shape: Sequence[int]) -> Tensor:
    """Real numbers of a variable tensor before a run: 0 after a reset; what codes mean is pinned.

    Where nothing is kept between runs it is a constant.

    Args:
        ctx: the graph under construction.
        number: that of the tensor in the file.
        shape: the shape that it is to have.

    Raises:
        UnsupportedError: it is no variable tensor or another operator's, or of another size.
    """
    file, shape = ctx.file[number], tuple(shape)
    if file.obstacle != STATE:
        raise UnsupportedError(
            f"its state {shown(file.name)} is no variable tensor", "convert the model again"
        )
    if number in ctx.owned:
        raise UnsupportedError(
            f"its state {shown(file.name)} is that of another operator, too",
            "give each operator a state of its own",
        )
    if math.prod(file.shape) != math.prod(shape):
        raise UnsupportedError(
            f"its state is {list(file.shape)}, not {list(shape)}", "correct the model"
        )
    quant = meaning(file, shape)
    ctx.owned.append(number)
    start = zeros(file.name, shape, quant)
    return carried(ctx, start, file.name) if ctx.keeps_state else start


def meaning(file: FileTensor, shape: tuple[int, ...]) -> QuantParams | None:
    """Meaning of the codes of a state; None if it holds real numbers.

    Raises:
        UnsupportedError: it holds other numbers.
    """
    quant = code_params(file, shape)
    if quant is None and value_dtype(file) is not DType.FLOAT32:
        raise UnsupportedError(
            f"its state holds {file.type.lower()} numbers without a scale", "convert it again"
        )
    return quant


def carried(ctx: Context, start: Constant, name: str) -> Value:
    """Real numbers that are kept from run to run; `start` after a reset.

    Args:
        ctx: the graph under construction.
        start: real numbers, or codes with what they mean, which is pinned.
        name: what the file calls the state.
    """
    ctx.note_kept(name)
    return pinned(ctx, ctx.emit(ops.Carry(None), start, dtype=DType.FLOAT32), start.quant)


def keep(ctx: Context, after: Tensor, before: Tensor) -> None:
    """Let what a run has computed be the state before the next one, if it is kept."""
    if isinstance(before, Constant):
        return
    pinned(ctx, ctx.emit(ops.Update(), after, before), before.quant)


def slid(ctx: Context, before: Tensor, row: Value) -> Value:
    """The rows of a state along axis 1 without the oldest, and a new one at their end.

    Args:
        ctx: the graph under construction.
        before: the state [batch, rows, ...] before a run.
        row: the new row [batch, 1, ...], of the same codes.
    """
    rows = before.shape[1]
    if rows == 1:
        return row
    kept = take(ctx, before, {1: (1, 1, rows - 1)})
    if isinstance(kept, Value):
        kept = pinned(ctx, kept, before.quant)
    return pinned(ctx, ctx.emit(ops.Concat(1), kept, row), before.quant)


def pinned(ctx: Context, x: Value, quant: QuantParams | None) -> Value:
    """Real numbers that have the codes of `quant`; as they are where that is None."""
    if quant is None:
        return x
    found = replace(x, quant=quant)
    ctx.builder.value(found)
    return found


def zeros(name: str, shape: tuple[int, ...], quant: QuantParams | None) -> Constant:
    """Elements of a state after a reset: 0, codes at their zero point."""
    zero, dtype = (0, DType.FLOAT32) if quant is None else (quant.tensor_zero_point, quant.dtype)
    return Constant(f"{name}/reset", np.full(shape, zero, dtype.numpy), quant)


def same_codes(a: QuantParams | None, b: QuantParams | None) -> bool:
    """Whether codes mean the same."""
    if a is None or b is None:
        return False
    return (a.dtype, a.axis, a.scale, a.zero_point) == (b.dtype, b.axis, b.scale, b.zero_point)
