"""Operators that read what a run before has left: ordinary operators, beside state.

What they read is an input and what they leave an output of the model, which are its state
(`importers.common.states`) or the caller's.

Keys that a query of Attention sees by position: causal order, windows, padding.

A query at place i of S queries sees the key at place j if ``low <= n <= high``, n being the number
of keys up to the last query, that is the number of keys that are no padding where the node says it
(`nonpad_kv_seqlen`), else S and those of the past; low and high are whole numbers of i and j.
Source: ONNX operator documentation of Attention, versions 23 to 25.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx import helper

from edgec.base.dtypes import Array, DType
from edgec.importers.common import masks
from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.boundary import library_call
from edgec.importers.common.masks import Relation
from edgec.importers.common.scattered import Reduction, check_places, scattered
from edgec.importers.common.tensors import Tensor, UnknownTensorError, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.ir.graph import Constant, Value


def defined_by_onnx(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """Becomes the operators that ONNX defines it by."""
    with library_call("the definition of the operator in ONNX cannot be read"):
        proto = node.proto()
        for i in range(len(proto.output)):
            proto.output[i] = proto.output[i] if node.is_used(i) else ""
        inputs = [node.tensor(i) for i in range(node.input_count) if node.has(i)]
        graph = _definition(proto, inputs, node.opset)
    source, prefix = ctx.current, f"{ctx.loop_name(node.name)}/"
    found = ctx.translate(graph, prefix, inputs)
    ctx.begin(source)
    outputs = iter([tensor for tensor in found if tensor is not None])
    if None in found:
        raise UnknownTensorError(node.name)
    nothing = Constant("", np.zeros((), np.float32))
    return tuple(next(outputs) if node.is_used(i) else nothing for i in range(len(node.outputs)))


def tensor_scatter(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant places to write at, or none; linear and circular."""
    past, update = node.tensor(0), node.tensor(1)
    axis = normal_axis(node.integer("axis", -2), len(past.shape))
    first = node.ints_input(2, "write_indices") if node.has(2) else (0,) * past.shape[0]
    fits = len(update.shape) == len(past.shape) and all(
        a == b or i == axis for i, (a, b) in enumerate(zip(past.shape, update.shape, strict=False))
    )
    if not fits or len(first) != past.shape[0] or axis == 0:
        raise UnsupportedError("its update does not fit what is written to", "correct the model")
    places = np.asarray(first)[:, None] + np.arange(update.shape[axis])
    mode = node.text("mode", "linear")
    if mode == "circular":
        places = places % past.shape[axis]
    if mode not in ("linear", "circular") or places.min() < 0 or places.max() >= past.shape[axis]:
        raise UnsupportedError("it writes outside of the tensor", "correct the model")
    check_places(math.prod(update.shape))
    where: list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]] = list(np.indices(update.shape))
    where[axis] = places[where[0], where[axis]]
    flat = np.ravel_multi_index(tuple(where), past.shape)
    return scattered(ctx, past, flat, update, Reduction.NONE, node.outputs[0])


def _definition(node: onnx.NodeProto, inputs: list[Tensor], opset: int) -> ir.Graph:
    """The operators that ONNX defines a node by, as a graph."""
    schema: Any = onnx.defs.get_schema(node.op_type, opset, node.domain)
    given = iter(inputs)
    types = [
        helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, next(given).shape)
        if name
        else onnx.TypeProto()
        for name in node.input
    ]
    version = max(v for v in schema.context_dependent_function_opset_versions if v <= opset)
    function = onnx.FunctionProto.FromString(
        schema.get_context_dependent_function_with_opset_version(
            version, node.SerializeToString(), [each.SerializeToString() for each in types]
        )
    )
    attributes = {each.name: each for each in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in attributes and attribute.default_value.name:
            attributes[name] = attribute.default_value
    absent = {
        name: ""
        for i, name in enumerate(function.input)
        if i >= len(node.input) or not node.input[i]
    }
    _bind(function.node, attributes, absent)
    given = iter(inputs)
    infos = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, next(given).shape)
        for name in function.input
        if name not in absent
    ]
    outputs = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
        for name, read in zip(function.output, node.output, strict=False)
        if read
    ]
    graph = helper.make_graph(list(function.node), "definition", infos, outputs)
    return ir.serde.deserialize_graph(graph)


def _bind(
    nodes: Iterable[onnx.NodeProto],
    attributes: Mapping[str, onnx.AttributeProto],
    absent: Mapping[str, str],
) -> None:
    """Put the attributes of a node and its absent inputs into the operators of its definition."""
    for node in nodes:
        node.input[:] = [absent.get(name, name) for name in node.input]
        bound = []
        for attribute in node.attribute:
            if attribute.g.node:
                _bind(attribute.g.node, attributes, absent)
            if not attribute.ref_attr_name:
                bound.append(attribute)
            elif attribute.ref_attr_name in attributes:
                copy = onnx.AttributeProto()
                copy.CopyFrom(attributes[attribute.ref_attr_name])
                copy.name = attribute.name
                bound.append(copy)
        kept = [onnx.AttributeProto.FromString(each.SerializeToString()) for each in bound]
        del node.attribute[:]
        node.attribute.extend(kept)


PAST_KEY, LENGTHS = 4, 6
"""The inputs that hold the keys of the past, and the numbers of keys that are no padding."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyPlaces:
    """Bounds of the number of keys between which a query sees a key, int64 [queries, keys].

    Attributes:
        low: the fewest; None where there is no such bound.
        high: the most; None where there is no such bound.
    """

    low: Array | None
    high: Array | None

    @classmethod
    def of(cls, node: OnnxNode, queries: int, keys: int) -> KeyPlaces:
        """The bounds of a node.

        Raises:
            UnsupportedError: a window has a negative size.
        """
        check_places(queries * keys)
        far = queries + keys
        left, right = (
            min(node.integer(f"{side}_window_size", -1), far) for side in ("left", "right")
        )
        if min(left, right) < -1:
            raise UnsupportedError("a window has a negative size", "correct the model")
        if node.flag("is_causal", False):
            right = 0
        place = np.arange(keys) - np.arange(queries)[:, None] + queries
        low = place - right if right >= 0 else None
        if node.has(LENGTHS):
            inside = np.broadcast_to(np.arange(keys) + 1, place.shape)
            low = inside if low is None else np.maximum(low, inside)
        return cls(_by_key(low), _by_key(place + left if left >= 0 else None))

    def seen(self, count: Array) -> Array | None:
        """Mask of the keys that are seen; None where all are.

        Args:
            count: the number n, broadcasts against [queries, keys].
        """
        above = None if self.low is None else self.low <= count
        below = None if self.high is None else count <= self.high
        if above is None or below is None:
            return above if below is None else below
        return np.asarray(above & below)

    def mask(self, ctx: Context, count: Value, name: str) -> Value:
        """A mask of the run, int32 [N, 1, queries, keys] or, where they are equal, one row.

        Args:
            ctx: the graph under construction.
            count: the number n, int32 [N, 1, 1, 1].
            name: what names of constants begin with.
        """
        parts: list[tuple[Tensor, Tensor]] = []
        if self.low is not None:
            parts.append((Constant(f"{name}/low", self.low), count))
        if self.high is not None:
            parts.append((count, Constant(f"{name}/high", self.high)))
        found = [masks.related(ctx, Relation.LESS_OR_EQUAL, *part) for part in parts]
        mask = found[0]
        for other in found[1:]:
            mask = masks.combined(ctx, mask, other, absorbing=False, stem=name)
        if isinstance(mask, Constant):
            raise UnsupportedError("its mask is a constant", "correct the model")
        return mask


def _by_key(bounds: Array | None) -> Array | None:
    """Bounds as one row where all rows are equal."""
    if bounds is None or not (bounds == bounds[:1]).all():
        return bounds
    return bounds[:1]


def key_count(ctx: Context, node: OnnxNode, samples: int, queries: int) -> Array | Value:
    """The number n of a node: [N, 1, 1, 1], or one number for all samples.

    Raises:
        UnsupportedError: there is not one for each sample.
    """
    if not node.has(LENGTHS):
        past = node.tensor(PAST_KEY).shape[2] if node.has(PAST_KEY) else 0
        return np.asarray(past + queries)
    lengths = node.tensor(LENGTHS)
    if lengths.shape != (samples,):
        raise UnsupportedError(
            f"{list(lengths.shape)} lengths of keys do not fit {samples} samples", "correct it"
        )
    if isinstance(lengths, Constant):
        return lengths.array.astype(np.int64).reshape(samples, 1, 1, 1)
    if lengths.dtype is not DType.INT32:
        raise UnsupportedError("the lengths of its keys are no integers", "correct the model")
    counted = ctx.reshape(lengths, (samples, 1, 1, 1))
    return masks.require_mask(counted) if isinstance(counted, Value) else counted.array
