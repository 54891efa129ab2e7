"""Convolutional networks as onnxruntime stores them for one processor, in blocks of channels.

`ORT_ENABLE_ALL` writes nodes of the domain com.microsoft.nchwc, whose tensors have blocks of 8 or
16 channels after the columns of an image, and whose numbers of channels are multiples of a block.
As nodes of ONNX they read whole channels again; the weights are put back into ONNX's order.

The file does not say how many channels a block has. Numbers of channels often do. Where they are
all multiples of 16, the weights tell: those of one output channel are of like size, so of the two
orders the right one explains them better.

Source: onnxruntime, nchwc_transformer.cc (which nodes it writes, and the weights' order) and
reorder.cpp (OIHWBiBo, OIHWBo).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx import defs, numpy_helper

from edgec.base.dtypes import Array
from edgec.importers.common.boundary import library_call
from edgec.importers.onnx.expansion import FIRST, LAST, Expansion, Rule
from edgec.importers.onnx.fused_nodes import convolved

DOMAIN = "com.microsoft.nchwc"
_SLICE_BY_INPUTS = 10
_RESIZE = 11
_POOLS = ("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool")
_BLOCKED = ("Conv", "ReorderInput", "Upsample", *_POOLS)
_ELEMENTS = (
    *("Add", "Sum", "Sub", "Mul", "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Clip"),
    *("HardSigmoid", "HardSwish", "Gelu"),
)
"""Operators of ONNX that take blocks as they are, beside Concat."""
_TURNS = 5
_CERTAIN = 250.0
"""Difference of log likelihoods from which on one order of weights is taken for the right one."""


def rules(model: onnx.ModelProto) -> Mapping[tuple[str, str], Rule]:
    """The rules for the nodes of this domain in a model; none where the block stays unknown."""
    if not any(node.domain == DOMAIN for node in model.graph.node):
        return {}
    layers = _layers(model.graph)
    block = _block(layers, model.graph)
    if block is None:
        return {}
    weights = {name: in_order(w, groups, block) for name, (groups, w) in layers.items()}
    read = _read_channels(model.graph, weights)
    return {
        (DOMAIN, "Conv"): partial(_conv, weights, read),
        (DOMAIN, "ReorderInput"): _first,
        (DOMAIN, "ReorderOutput"): _last,
        (DOMAIN, "Upsample"): _upsample,
        **{(DOMAIN, op): partial(_pool, op) for op in _POOLS},
    }


def _conv(weights: Mapping[str, Array], read: Mapping[str, int], e: Expansion) -> bool:
    """A convolution of the channels that are read, the same number of both."""
    x, y = e.input(0), e.node.output[0]
    if y not in weights:
        return False
    whole = weights[y][: read.get(y)]
    bias = e.array(e.input(2))
    if e.input(2) and bias is None:
        return False
    depthwise = _is_depthwise(e.node, whole)
    attributes = dict(e.attributes)
    if depthwise:
        attributes["group"] = whole.shape[0]
    elif read.get(x) is not None:
        whole = whole[:, : read[x]]
    name = e.constant(np.ascontiguousarray(whole), f"{y}/weights")
    made = e.producer(x)
    if made is not None and made.domain == DOMAIN and made.op_type == "ReorderInput":
        # Channels that fill up a block have no weights, and are not there.
        if e.opset < _SLICE_BY_INPUTS:
            return False
        name = e.add("Slice", [name, e.whole(0), e.size(x, 1), e.whole(1)])
    cut = "" if bias is None else e.constant(bias[: whole.shape[0]], f"{y}/bias")
    return convolved(e, [x, name, cut], attributes)


def in_order(stored: Array, groups: int, block: int) -> Array:
    """Weights of a convolution in ONNX's order, float32 [O, I, H, W].

    Args:
        stored: as onnxruntime has them, of this shape.
        groups: number of groups of the convolution.
        block: channels of a block, by which O can be divided.
    """
    o, i, h, w = stored.shape
    depthwise = groups > 1 and i == 1
    if depthwise or i % block:
        # Images that are not in blocks, or a block of channels for itself: [O/B, I, H, W, B].
        return (
            stored.reshape(o // block, i, h, w, block).transpose(0, 4, 1, 2, 3).reshape(o, i, h, w)
        )
    blocks = stored.reshape(o // block, i // block, h, w, block, block)
    return blocks.transpose(0, 5, 1, 4, 2, 3).reshape(o, i, h, w)


def _first(e: Expansion) -> bool:
    if e.attributes.get("channels_last", 0):
        e.add("Transpose", [e.input(0)], e.node.output[0], perm=FIRST)
    else:
        e.add("Identity", [e.input(0)], e.node.output[0])
    return True


def _last(e: Expansion) -> bool:
    """The channels that are there, without those that fill up the last block."""
    channels, last = int(e.attributes["channels"]), bool(e.attributes.get("channels_last", 0))
    output = "" if last else e.node.output[0]
    if e.opset < _SLICE_BY_INPUTS:
        y = e.main("Slice", [e.input(0)], output, starts=[0], ends=[channels], axes=[1])
    else:
        y = e.main("Slice", [e.input(0), *map(e.whole, (0, channels, 1))], output)
    if last:
        e.add("Transpose", [y], e.node.output[0], perm=LAST)
    return True


def _pool(op: str, e: Expansion) -> bool:
    """A pool; attributes that ONNX's own has not yet in this opset have their defaults."""
    known: Any = defs.get_schema(op, e.opset, "")
    attributes = {name: a for name, a in e.attributes.items() if name in known.attributes}
    e.main(op, [e.input(0)], e.node.output[0], **attributes)
    return True


def _upsample(e: Expansion) -> bool:
    scales = e.constant(np.asarray(e.attributes["scales"], np.float32), "scales")
    mode = e.attributes.get("mode", b"nearest").decode()
    if e.opset < _RESIZE:
        return False
    turned = e.attributes.get("coordinate_transformation_mode", b"asymmetric").decode()
    e.main(
        "Resize",
        [e.input(0), "", scales],
        e.node.output[0],
        mode=mode,
        coordinate_transformation_mode=turned if mode == "linear" else "asymmetric",
        nearest_mode="floor",
    )
    return True


def _layers(graph: onnx.GraphProto) -> dict[str, tuple[int, Array]]:
    """Groups and weights of convolutions, as the file has them, by their outputs."""
    stored = {tensor.name: tensor for tensor in graph.initializer}
    found = {}
    for node in graph.node:
        tensor = stored.get(node.input[1]) if _is(node, "Conv") else None
        if tensor is not None and len(tensor.dims) == 4 and tensor.dims[0] % 8 == 0:
            with library_call("a tensor cannot be read"):
                weights = np.asarray(numpy_helper.to_array(tensor))
            found[node.output[0]] = (_groups(node), weights)
    return found


def _block(layers: Mapping[str, tuple[int, Array]], graph: onnx.GraphProto) -> int | None:
    """Channels of a block: 8, 16, or None where nothing says which."""
    if any(weights.shape[0] % 16 for _, weights in layers.values()):
        return 8
    whole = {name for node in graph.node if not _is(node, *_BLOCKED) for name in node.output}
    whole |= {info.name for info in graph.input}
    for node in graph.node:
        groups, weights = layers.get(node.output[0], (0, None)) if node.output else (0, None)
        if weights is None or groups > 1 or node.input[0] not in whole:
            continue
        if 8 <= weights.shape[1] < 16:  # images of fewer channels than a block has stay whole
            return 16
    gain = sum(
        _likelihood(in_order(weights, groups, 16)) - _likelihood(in_order(weights, groups, 8))
        for groups, weights in layers.values()
    )
    return None if abs(gain) < _CERTAIN else 16 if gain > 0 else 8


def _read_channels(graph: onnx.GraphProto, weights: Mapping[str, Array]) -> dict[str, int]:
    """Numbers of channels that are read, by tensor; those after them fill up a block.

    Tensors that a node reads and writes channel by channel have as many.
    """
    same: dict[str, str] = {}

    def first(name: str) -> str:
        while same.setdefault(name, name) != name:
            name = same[name]
        return name

    ends = (*graph.input, *graph.output)
    reads: list[tuple[str, int | None]] = [(info.name, None) for info in ends]
    for node in graph.node:
        alike = [*node.input, *node.output]
        if _is(node, "Conv") and node.output[0] in weights:
            array = weights[node.output[0]]
            alike = [*node.output, *node.input[3:]]
            if _is_depthwise(node, array):
                alike.append(node.input[0])
            else:
                used = np.flatnonzero(np.any(array, axis=(0, 2, 3)))
                reads.append((node.input[0], int(used[-1]) + 1 if used.size else None))
        elif _is(node, "ReorderOutput"):
            alike = []
            channels = [int(a.i) for a in node.attribute if a.name == "channels"]
            reads.append((node.input[0], channels[0] if channels else None))
            reads.append((node.output[0], None))
        elif not _is(node, *_POOLS, "Upsample") and (node.domain or node.op_type not in _ELEMENTS):
            alike = []
            reads += [(name, None) for name in (*node.input, *node.output)]
        for name in alike[1:]:
            same[first(name)] = first(alike[0])
    most: dict[str, int | None] = {}
    for name, count in reads:
        known = most.get(first(name), 0)
        most[first(name)] = None if count is None or known is None else max(count, known)
    counts = {name: most.get(first(name)) for name in same}
    return {name: count for name, count in counts.items() if count is not None}


def _is(node: onnx.NodeProto, *ops: str) -> bool:
    return node.domain == DOMAIN and node.op_type in ops


def _is_depthwise(node: onnx.NodeProto, weights: Array) -> bool:
    return _groups(node) > 1 and weights.shape[1] == 1


def _groups(node: onnx.NodeProto) -> int:
    return next((int(a.i) for a in node.attribute if a.name == "group"), 1)


def _likelihood(weights: Array) -> float:
    """Logarithm of the likelihood of weights [O, I, H, W], up to what is the same in any order.

    They are normal, their variance the product of a number of each O and a number of each I: the
    most likely ones, which are found in turn.
    """
    energy = np.square(weights.astype(np.float64)).mean(axis=(2, 3))
    energy = np.maximum(energy, max(float(energy.mean()) * 1e-6, 1e-30))
    columns = np.ones((1, energy.shape[1]))
    for _ in range(_TURNS):
        rows = (energy / columns).mean(axis=1, keepdims=True)
        columns = (energy / rows).mean(axis=0, keepdims=True)
    variances = rows * columns
    size = weights.shape[2] * weights.shape[3]
    return float(-0.5 * size * (np.log(variances) + energy / variances).sum())
