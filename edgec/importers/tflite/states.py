"""State of a TensorFlow Lite file: variable tensors, which an operator keeps from run to run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.names import shown
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.context import Context, code_params, value_dtype
from edgec.importers.tflite.load_tensor import STATE
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.metadata import record_note
from edgec.ir.qparams import QuantParams


def state_before(ctx: Context, node: TfliteNode, index: int, shape: Sequence[int]) -> Tensor:
    """Real numbers of a variable tensor before a run: 0 after a reset; what codes mean is pinned.

    Where nothing is kept between runs it is a constant.

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
    number = node.file_number(index)
    file, shape = ctx.file[number], tuple(shape)
    if file.obstacle != STATE:
        raise UnsupportedError(
            f"its state {shown(file.name)} is no variable tensor", "convert the model again"
        )
    if number in ctx.kept:
        raise UnsupportedError(
            f"its state {shown(file.name)} is that of another operator, too",
            "give each operator a state of its own",
        )
    if math.prod(file.shape) != math.prod(shape):
        raise UnsupportedError(
            f"its state is {list(file.shape)}, not {list(shape)}", "correct the model"
        )
    quant = code_params(file, shape)
    if quant is None and value_dtype(file) is not DType.FLOAT32:
        raise UnsupportedError(
            f"its state holds {file.type.lower()} numbers without a scale", "convert it again"
        )
    ctx.kept.append(number)
    start = _zeros(file.name, shape, quant)
    if not ctx.keeps_state:
        return start
    names = ", ".join(shown(ctx.file[each].name) for each in ctx.kept)
    record_note(
        ctx.builder.metadata,
        "state",
        f"kept from run to run: {names}; with --state none each run begins anew",
    )
    return pinned(ctx, ctx.emit(ops.Carry(None), start, dtype=DType.FLOAT32), quant)


def keep(ctx: Context, after: Value, before: Tensor) -> None:
    """Let what a run has computed be the state before the next one, if it is kept."""
    if isinstance(before, Constant):
        return
    pinned(ctx, ctx.emit(ops.Update(), after, before), before.quant)


def pinned(ctx: Context, x: Value, quant: QuantParams | None) -> Value:
    """Real numbers that have the codes of `quant`; as they are where that is None."""
    if quant is None:
        return x
    found = replace(x, quant=quant)
    ctx.builder.value(found)
    return found


def _zeros(name: str, shape: tuple[int, ...], quant: QuantParams | None) -> Constant:
    zero, dtype = (0, DType.FLOAT32) if quant is None else (quant.tensor_zero_point, quant.dtype)
    return Constant(f"{name}/reset", np.full(shape, zero, dtype.numpy), quant)
