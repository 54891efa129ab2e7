"""The Attention operator of opsets 23 to 25, taken apart; `passes.fuse_attention` finds it again.

One way to say attention is enough: exporters of older opsets write it in parts anyway.

RotaryEmbedding: pairs of features turned by angles that grow with the position.
"""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common.gathered import pick, take
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant, require_real
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.op_cache import LENGTHS, PAST_KEY, KeyPlaces, key_count
from edgec.importers.onnx.op_elementwise import finite
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import UnaryKind

_LOWEST = float(np.finfo(np.float32).min)
_MASK, _PAST_VALUE = 3, 5
_PRODUCTS = 3
"""The output that holds the products of queries and keys; `qk_matmul_output_mode` says when."""
_RAW, _CAPPED, _BIASED, _SHARES = range(4)


def attention(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """Keys of the past as inputs, their number too; groups of queries, softcap, windows."""
    q, k, v = _queries_keys_values(ctx, node)
    _, heads, length, width = q.shape
    scale = node.number("scale", 0.0) or 1.0 / math.sqrt(width)
    products = _by_groups(ctx, q, k, ops.MatMul(transpose_b=True, scale=scale))
    states = [products, _capped(ctx, products, node.number("softcap", 0.0))]
    bias, shown = _masks(ctx, node, q, k)
    states.append(_masked(ctx, node, states[_CAPPED], bias, shown))
    shares: Tensor = ctx.emit(ops.Softmax(), states[_BIASED])
    if node.is_used(_PRODUCTS):
        shares = _seen(ctx, node, _without_empty_rows(ctx, shares, bias), bias, shown)
    states.append(shares)
    y = _without_empty_rows(ctx, _by_groups(ctx, shares, v, ops.MatMul()), bias)
    y = _seen(ctx, node, y, bias, shown)
    if len(node.value(0).shape) == 3:
        y = ctx.reshape(ctx.transpose(y, (0, 2, 1, 3)), (y.shape[0], length, heads * y.shape[3]))
    return y, k, v, _asked_products(node, states, bias, shown)


def _queries_keys_values(ctx: Context, node: OnnxNode) -> tuple[Value, Value, Value]:
    """Queries, keys and values [N, heads, length, width], those of the past in front."""
    q, k, v = (node.real_value(index) for index in range(3))
    if len(q.shape) == 3:
        q = _heads(ctx, q, node.integer("q_num_heads", 0))
        k, v = (_heads(ctx, x, node.integer("kv_num_heads", 0)) for x in (k, v))
    if node.has(LENGTHS) and (node.has(PAST_KEY) or node.has(_PAST_VALUE)):
        raise UnsupportedError("it counts keys and has others of the past", "correct the model")
    if node.has(PAST_KEY):
        k = require_real(ctx.emit(ops.Concat(2), node.tensor(PAST_KEY), k))
    if node.has(_PAST_VALUE):
        v = require_real(ctx.emit(ops.Concat(2), node.tensor(_PAST_VALUE), v))
    if any(len(x.shape) != 4 for x in (q, k, v)) or q.shape[1] % k.shape[1]:
        raise UnsupportedError(
            f"{q.shape[1]} heads of queries do not share {k.shape[1]} heads of keys",
            "correct the model",
        )
    return q, k, v


def _heads(ctx: Context, x: Value, heads: int) -> Value:
    """X [N, L, heads*D] as [N, heads, L, D]."""
    n, length, width = x.shape
    if heads < 1 or width % heads:
        raise UnsupportedError(f"{heads} heads do not divide {width}", "correct the model")
    split = ctx.reshape(x, (n, length, heads, width // heads))
    return require_real(ctx.emit(ops.Transpose((0, 2, 1, 3)), split))


def _by_groups(ctx: Context, x: Tensor, keys: Value, product: ops.MatMul) -> Tensor:
    """The product of each head of x [N, heads, L, D] with the head of keys that its group shares.

    The rows of a group's heads are rows of one matrix, so no key is copied.
    """
    n, heads, length, width = x.shape
    shared = keys.shape[1]
    if shared == heads:
        return ctx.emit(product, x, keys)
    rows = ctx.reshape(x, (n, shared, heads // shared * length, width))
    y = ctx.emit(product, rows, keys)
    return ctx.reshape(y, (n, heads, length, y.shape[3]))


def _capped(ctx: Context, products: Tensor, most: float) -> Tensor:
    """Products bounded by tanh, most * tanh(products / most), where there is a bound."""
    if most <= 0.0:
        return products
    down, up = (Constant("softcap", np.asarray(n, np.float32)) for n in (1.0 / most, most))
    inner = ctx.emit(ops.Unary(UnaryKind.TANH), ctx.emit(ops.Mul(), products, down))
    return ctx.emit(ops.Mul(), inner, up)


def _masks(ctx: Context, node: OnnxNode, q: Value, k: Value) -> tuple[Array | None, Value | None]:
    """Bias of the logits (see `_fixed_bias`), and mask of the keys that are seen by position.

    The latter is int32 [N, 1, queries or 1, keys], None where the former says all about places.
    """
    size = (q.shape[2], k.shape[2])
    places, count = KeyPlaces.of(node, *size), key_count(ctx, node, q.shape[0], q.shape[2])
    if isinstance(count, Value):
        return _fixed_bias(node, size, None), places.mask(ctx, count, f"{node.outputs[0]}/places")
    return _fixed_bias(node, size, places.seen(count)), None


def _fixed_bias(node: OnnxNode, size: tuple[int, int], seen: Array | None) -> Array | None:
    """Mask that is known at compile time: -inf where a key is hidden, else the bias of its logit.

    float32, broadcast to [..., queries, keys] = `size`; None where nothing is.

    Args:
        node: the operator.
        size: queries and keys.
        seen: where a key is seen by its place; None where all are.
    """
    parts: list[Array] = []
    if seen is not None:
        parts.append(np.where(seen, 0.0, -np.inf))
    mask = node.tensor(_MASK) if node.has(_MASK) else None
    if isinstance(mask, Constant):
        hidden = mask.dtype is DType.BOOL
        given: Array = np.where(mask.array, 0.0, -np.inf) if hidden else mask.real()
        before = [(0, 0)] * (given.ndim - 1)
        missing = max(size[1] - given.shape[-1], 0)
        parts.append(np.pad(given, [*before, (0, missing)], constant_values=-np.inf))
    if not parts:
        return None
    bias: Array = np.zeros(size, np.float32)
    for part in parts:
        bias = bias + part.astype(np.float32)
    return bias


def _masked(
    ctx: Context, node: OnnxNode, logits: Tensor, bias: Array | None, shown: Value | None
) -> Tensor:
    """The logits with all masks; a mask of the run hides where it is false."""
    mask = node.tensor(_MASK) if node.has(_MASK) else None
    hiding: list[Tensor] = [] if shown is None else [shown]
    if isinstance(mask, Value) and mask.dtype is not DType.INT32 and bias is not None:
        # Summed up with what the run adds, lowest numbers would leave no digits to it.
        hiding.append(Constant("seen", np.where(np.isneginf(bias), 0.0, 1.0).astype(np.float32)))
        bias = np.where(np.isneginf(bias), 0.0, bias)
    if bias is not None and bias.any():
        logits = ctx.emit(ops.Add(), logits, finite(Constant("bias", bias)))
    if isinstance(mask, Value):
        if mask.shape[-1] != logits.shape[-1]:
            raise UnsupportedError("its mask is shorter than the keys", "give one for all keys")
        if mask.dtype is DType.INT32:
            hiding.append(mask)
        else:
            logits = ctx.emit(ops.Add(), logits, mask)
    lowest = Constant("lowest", np.asarray(_LOWEST, np.float32))
    for each in hiding:
        logits = ctx.emit(ops.Where(), each, logits, lowest, dtype=DType.FLOAT32)
    return logits


def _without_empty_rows(ctx: Context, x: Tensor, bias: Array | None) -> Tensor:
    """X with zeros for queries whose keys are all hidden at compile time, as ONNX defines them."""
    if bias is None:
        return x
    empty = np.isneginf(bias).all(axis=-1, keepdims=True)
    if not empty.any():
        return x
    return ctx.emit(ops.Mul(), x, Constant("rows", np.asarray(~empty, np.float32)))


def _seen(
    ctx: Context, node: OnnxNode, x: Tensor, bias: Array | None, shown: Value | None
) -> Tensor:
    """X with zeros for queries whose keys the masks of the run hide, all of them.

    A mask with one row for all queries pads keys, as does one that the network makes of such rows:
    it leaves some of them to see.
    """
    mask = node.tensor(_MASK) if node.has(_MASK) else None
    given = isinstance(mask, Value) and mask.dtype is DType.INT32 and _is_given(ctx, mask)
    parts = [part for part in (mask if given else None, shown) if isinstance(part, Value)]
    if all(len(part.shape) < 2 or part.shape[-2] == 1 for part in parts):
        return x
    some: Tensor = ctx.emit(ops.Cast(), parts[0], dtype=DType.FLOAT32)
    for part in parts[1:]:
        some = ctx.emit(ops.Mul(), some, ctx.emit(ops.Cast(), part, dtype=DType.FLOAT32))
    if bias is not None:
        fixed = np.where(np.isneginf(bias), 0.0, 1.0).astype(np.float32)
        some = ctx.emit(ops.Mul(), some, Constant("shown", fixed))
    some = ctx.emit(ops.Reduce(ops.ReduceKind.MAX, (len(some.shape) - 1,), True), some)
    return ctx.emit(ops.Mul(), x, some)


def _is_given(ctx: Context, x: Value) -> bool:
    """True for an input of the network, reshaped or not."""
    made = ctx.producer(x)
    while made is not None and isinstance(made.attrs, ops.Reshape):
        made = ctx.producer(ctx.builder.values[made.first])
    return made is None


def _asked_products(
    node: OnnxNode, states: list[Tensor], bias: Array | None, shown: Value | None
) -> Tensor:
    """The products of queries and keys at the point that `qk_matmul_output_mode` names."""
    mode = node.integer("qk_matmul_output_mode", 0)
    hides = shown is not None or (bias is not None and bool(np.isneginf(bias).any()))
    if node.is_used(_PRODUCTS) and mode == _BIASED and hides:
        raise UnsupportedError(
            "an output holds -infinity for hidden keys", "take the products before the mask"
        )
    return states[mode]


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
