"""The Attention operator of opset 23, taken apart; `passes.fuse_attention` finds it again.

One way to say attention is enough: exporters of older opsets write it in parts anyway.
"""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.tensors import Tensor, UnsupportedError, require_real
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.importers.onnx.op_elementwise import finite
from edgec.ir import ops
from edgec.ir.graph import Constant, Value

_LOWEST = float(np.finfo(np.float32).min)


def attention(ctx: Context, node: OnnxNode) -> Tensor:
    """As many key heads as query heads; no past keys, no softcap, no output but the first."""
    _check_plain(node)
    q, k, v = (node.real_value(index) for index in range(3))
    flat = len(q.shape) == 3
    if flat:
        q = _heads(ctx, q, node.integer("q_num_heads", 0))
        k, v = (_heads(ctx, x, node.integer("kv_num_heads", 0)) for x in (k, v))
    if any(len(x.shape) != 4 for x in (q, k, v)) or q.shape[1] != k.shape[1]:
        raise UnsupportedError("groups of queries share keys", "repeat the keys before the node")
    scale = node.number("scale", 1.0 / math.sqrt(q.shape[-1]))
    logits: Tensor = ctx.emit(ops.MatMul(transpose_b=True, scale=scale), q, k)
    if node.flag("is_causal", False):
        logits = ctx.emit(ops.Add(), logits, _causal(q.shape[2], k.shape[2]))
    if node.has(3):
        logits = _masked(ctx, logits, node.tensor(3))
    y: Tensor = ctx.emit(ops.MatMul(), ctx.emit(ops.Softmax(), logits), v)
    if not flat:
        return y
    n, heads, length, width = y.shape
    return ctx.reshape(ctx.transpose(y, (0, 2, 1, 3)), (n, length, heads * width))


def _check_plain(node: OnnxNode) -> None:
    if any(node.has(i) for i in (4, 5)) or any(node.is_used(i) for i in (1, 2, 3)):
        raise UnsupportedError("it keeps keys of the past", "export an encoder, without a cache")
    if node.number("softcap", 0.0) != 0.0:
        raise UnsupportedError("it limits its logits (softcap)", "train without it")


def _heads(ctx: Context, x: Value, heads: int) -> Value:
    """X [N, L, heads*D] as [N, heads, L, D]."""
    n, length, width = x.shape
    if heads < 1 or width % heads:
        raise UnsupportedError(f"{heads} heads do not divide {width}", "correct the model")
    split = ctx.reshape(x, (n, length, heads, width // heads))
    return require_real(ctx.emit(ops.Transpose((0, 2, 1, 3)), split))


def _causal(queries: int, keys: int) -> Constant:
    hidden = np.triu(np.full((queries, keys), _LOWEST, np.float32), 1)
    return Constant("causal", hidden)


def _masked(ctx: Context, logits: Tensor, mask: Tensor) -> Tensor:
    """The logits with a mask: of reals, added, or of booleans, false hiding a key."""
    if isinstance(mask, Constant) and mask.dtype is DType.BOOL:
        mask = Constant(mask.name, np.where(mask.array, 0.0, _LOWEST).astype(np.float32))
    if mask.dtype is not DType.INT32:
        return ctx.emit(ops.Add(), logits, finite(mask))
    lowest = Constant("lowest", np.asarray(_LOWEST, np.float32))
    return ctx.emit(ops.Where(), mask, logits, lowest, dtype=DType.FLOAT32)
