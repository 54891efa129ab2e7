"""Nodes of onnxruntime that join the parts of a transformer, as operators of ONNX.

`passes.fuse_attention` finds one attention in them again, however it was written.

Source: onnxruntime ContribOperators.md, and attention_cpu_base.h for what a mask means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from onnx import TensorProto

from edgec.importers.onnx.expansion import Expansion, Rule
from edgec.importers.onnx.fused_nodes import constant_number, normalized, total

_NAMED_AXES = 12
"""The first opset with Einsum and Range."""
_AXES_AS_INPUT = 13
_HIDDEN = -10000.0
"""Number that onnxruntime adds to the logits of hidden keys, unless a node says another one."""


def attention(e: Expansion) -> bool:
    """Attention: X, weights of queries, keys, values in one row, biases; mask; summand of logits.

    Past keys are not known.
    """
    weights, bias = e.array(e.input(1)), e.array(e.input(2))
    heads = int(e.attributes.get("num_heads", 0))
    if weights is None or weights.ndim != 2 or (e.input(2) and bias is None) or heads < 1:
        return False
    sizes = list(e.attributes.get("qkv_hidden_sizes") or [weights.shape[1] // 3] * 3)
    if len(sizes) != 3 or sum(sizes) != weights.shape[1] or sizes[0] != sizes[1]:
        return False
    ends = np.cumsum(sizes)[:-1]
    parts = [e.constant(part, "weights") for part in np.split(weights, ends, axis=1)]
    found = [e.add("MatMul", [e.input(0), part]) for part in parts]
    if bias is not None:
        biases = [e.constant(part, "bias") for part in np.split(bias, ends)]
        found = [e.add("Add", [x, part]) for x, part in zip(found, biases, strict=True)]
    has_more = any(e.input(i) for i in (4, 6)) or bool(e.attributes.get("do_rotary", 0))
    return not has_more and _attended(e, [_heads(e, x, heads) for x in found], (3, 5))


def multi_head_attention(e: Expansion) -> bool:
    """MultiHeadAttention: queries, keys, values; biases; mask of keys; summand of logits.

    Queries, keys and values are [N, L, H], or in one tensor [N, L, heads, 3, D] (keys and values
    2).  Past keys are not known.
    """
    heads = int(e.attributes.get("num_heads", 0))
    if heads < 1 or any(e.input(i) for i in range(6, 10)):
        return False
    q, k, v = (e.input(i) for i in range(3))
    if e.input(3):
        if not (k and v):
            return False
        width = e.size(q, 2)
        twice = e.add("Add", [width, width])
        ends = [e.whole(0), width, twice, e.whole(np.iinfo(np.int64).max)]
        biases = [e.add("Slice", [e.input(3), *ends[i : i + 2], e.whole(0)]) for i in range(3)]
        q, k, v = (e.add("Add", [x, b]) for x, b in zip((q, k, v), biases, strict=True))
    if not k:
        found = _parts(e, q, 3)
    elif not v:
        found = [_heads(e, q, heads), *_parts(e, k, 2)]
    else:
        found = [_heads(e, x, heads) for x in (q, k, v)]
    return _attended(e, found, (4, 5))


def _heads(e: Expansion, x: str, heads: int) -> str:
    """X [N, L, H] as [N, heads, L, H / heads]."""
    # Of tensors with heads of their own this makes no sense, and the model is refused.
    whole = e.add("Einsum", [x], equation="nlh->nlh")
    return _turned(e, e.add("Reshape", [whole, e.whole(0, 0, heads, -1)]))


def _parts(e: Expansion, x: str, count: int) -> list[str]:
    """The parts of x [N, L, heads, count, D], each as [N, heads, L, D]."""
    axes, parts = e.whole(3), []
    for part in range(count):
        y = e.add("Slice", [x, e.whole(part), e.whole(part + 1), axes])
        parts.append(_turned(e, e.add("Reshape", [y, e.whole(0, 0, 0, -1)])))
    return parts


def _turned(e: Expansion, x: str) -> str:
    return e.add("Transpose", [x], perm=[0, 2, 1, 3])


def _attended(e: Expansion, found: Sequence[str], masks: tuple[int, int]) -> bool:
    """The attention of queries, keys and values [N, heads, L, D] with the masks at two inputs."""
    if e.opset < _NAMED_AXES or any(e.node.output[1:]):
        return False
    q, k, v = found
    products = e.add("MatMul", [q, e.add("Transpose", [k], perm=[0, 1, 3, 2])])
    scale = float(e.attributes.get("scale", 0.0))
    if scale:
        logits = e.add("Mul", [products, constant_number(e, scale)])
    else:
        width = e.add("Cast", [e.size(q, 3)], to=TensorProto.FLOAT)
        logits = e.add("Div", [products, e.add("Sqrt", [width])])
    hidden = float(e.attributes.get("mask_filter_value", _HIDDEN))
    if e.input(masks[0]):
        rank = e.rank(e.input(masks[0]))
        if rank not in (2, 3):
            return False
        shown = e.add("Cast", [e.input(masks[0])], to=TensorProto.BOOL)
        shape = e.whole(0, 1, 1, -1) if rank == 2 else None
        shown = e.add("Reshape", [shown, shape]) if shape else _unsqueezed(e, shown)
        numbers = [constant_number(e, n) for n in (0.0, hidden)]
        logits = e.add("Add", [logits, e.add("Where", [shown, *numbers])])
    if e.input(masks[1]):
        logits = e.add("Add", [logits, e.input(masks[1])])
    if e.attributes.get("unidirectional", 0):
        later = e.add("Less", [_places(e, q, [-1, 1]), _places(e, k, [1, -1])])
        lowest = constant_number(e, float(np.finfo(np.float32).min))
        logits = e.add("Where", [later, lowest, logits])
    y = e.add("MatMul", [e.add("Softmax", [logits], axis=3), v])
    e.main("Reshape", [_turned(e, y), e.whole(0, 0, -1)], e.node.output[0])
    return True


def _unsqueezed(e: Expansion, x: str) -> str:
    if e.opset < _AXES_AS_INPUT:
        return e.add("Unsqueeze", [x], axes=[1])
    return e.add("Unsqueeze", [x, e.whole(1)])


def _places(e: Expansion, x: str, shape: Sequence[int]) -> str:
    """The numbers of the places of x [N, heads, L, D], whole, in a shape of two axes."""
    scalar = e.whole()
    length = e.add("Reshape", [e.size(x, 2), scalar])
    zero, one = (e.constant(np.asarray(n, np.int64), "whole") for n in (0, 1))
    return e.add("Reshape", [e.add("Range", [zero, length, one]), e.whole(*shape)])


def embeddings(e: Expansion) -> bool:
    """EmbedLayerNormalization: ids, segments; three tables; scale, bias; mask; positions.

    Its second output, numbers of tokens, is not known.
    """
    outputs = [*e.node.output, "", ""]
    if (outputs[1] and e.is_read(outputs[1])) or e.opset < _NAMED_AXES:
        return False
    positions = e.input(3)
    if e.input(8):
        rows = e.add("Gather", [positions, e.input(8)])
    else:
        rows = e.add("Slice", [positions, e.whole(0), e.size(e.input(0), 1), e.whole(0)])
    parts = [e.add("Gather", [e.input(2), e.input(0)]), rows]
    if e.input(1):
        parts.append(e.add("Gather", [e.input(4), e.input(1)]))
    x = total(e, parts, outputs[2])
    return normalized(e, x, e.input(5), e.input(6), mean=True)


TRANSFORMERS: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {
        ("com.microsoft", "Attention"): attention,
        ("com.microsoft", "MultiHeadAttention"): multi_head_attention,
        ("com.microsoft", "EmbedLayerNormalization"): embeddings,
    }
)
"""The rules for nodes that are a part of a transformer, by domain and operator."""
