"""RotaryEmbedding: pairs of features turned by angles that grow with the position."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.parts import pick, take
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant

_COS, _SIN, _POSITIONS = 1, 2, 3


def rotary_embedding(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant tables, or sines and cosines of the run; positions may be an input."""
    x = node.real_value(0)
    heads = node.integer("num_heads", 0)
    flat = len(x.shape) == 3
    if flat:
        n, length, width = x.shape
        if heads < 1 or width % heads:
            raise UnsupportedError(f"{heads} heads do not divide {width}", "correct the model")
        y: Tensor = ctx.reshape(x, (n, length, heads, width // heads))
    else:
        # Positions before heads, as the tables have it.
        y = ctx.transpose(x, (0, 2, 1, 3))
    y = _turned(ctx, node, y)
    return ctx.reshape(y, x.shape) if flat else ctx.transpose(y, (0, 2, 1, 3))


def _turned(ctx: Context, node: OnnxNode, x: Tensor) -> Tensor:
    """X [N, L, heads, D] with the first features turned.

    ``a * cos - b * sin`` and ``a * sin + b * cos`` for each pair (a, b) of features: halves of
    them, or neighbours where they are interleaved.
    Source: ONNX operator documentation of RotaryEmbedding.
    """
    width, last = x.shape[-1], len(x.shape) - 1
    turned = node.integer("rotary_embedding_dim", 0) or width
    if turned % 2 or not 2 <= turned <= width:
        raise UnsupportedError(f"it turns {turned} of {width} features", "correct the model")
    cos, sin = (_table(ctx, node, index, x.shape[:2], turned // 2) for index in (_COS, _SIN))
    half = turned // 2
    places = np.arange(turned)
    if node.flag("interleaved", False):
        partner, pair = places ^ 1, places // 2
        second = places % 2 == 1
    else:
        partner, pair = (places + half) % turned, places % half
        second = places >= half
    signs = Constant(f"{node.outputs[0]}/signs", np.where(second, 1.0, -1.0).astype(np.float32))
    first = take(ctx, x, {last: (0, 1, turned)})
    others = pick(ctx, first, last, partner)
    straight = ctx.emit(ops.Mul(), first, _by_feature(ctx, cos, pair))
    crossed = ctx.emit(ops.Mul(), others, _signed(ctx, _by_feature(ctx, sin, pair), signs))
    y = ctx.emit(ops.Add(), straight, crossed)
    if turned == width:
        return y
    rest = take(ctx, x, {last: (turned, 1, width - turned)})
    return ctx.emit(ops.Concat(last), y, rest)


def _table(ctx: Context, node: OnnxNode, index: int, lead: tuple[int, ...], half: int) -> Tensor:
    """Sines or cosines [N, L, 1, half]."""
    table = node.tensor(index)
    if node.has(_POSITIONS):
        table = _rows(ctx, table, node.tensor(_POSITIONS))
    if len(table.shape) != 3 or table.shape[-1] != half or table.shape[1] != lead[1]:
        raise UnsupportedError(
            f"its table {list(table.shape)} does not fit {half} pairs of {lead[1]} positions",
            "correct the model",
        )
    return ctx.reshape(table, (*table.shape[:2], 1, half))


def _rows(ctx: Context, table: Tensor, positions: Tensor) -> Tensor:
    if isinstance(positions, Constant):
        return pick(ctx, table, 0, positions.array)
    if not isinstance(table, Constant) or len(table.shape) != 2:
        raise UnsupportedError(
            "its table and its positions are computed at run time", "give constant tables"
        )
    if positions.dtype is not DType.INT32:
        raise UnsupportedError("its positions are no integers", "give integers")
    return ctx.emit(ops.Embedding(), positions, table, dtype=DType.FLOAT32)


def _by_feature(ctx: Context, table: Tensor, pair: np.ndarray) -> Tensor:
    """The entry of each feature, which is that of its pair."""
    last = len(table.shape) - 1
    if isinstance(table, Constant):
        return moved_constant(table, lambda array: np.take(array, pair, axis=last))
    return pick(ctx, table, last, pair)


def _signed(ctx: Context, table: Tensor, signs: Constant) -> Tensor:
    if isinstance(table, Constant):
        return Constant(f"{table.name}/signed", (table.real() * signs.array).astype(np.float32))
    return ctx.emit(ops.Mul(), table, signs)
