"""The parameters of every value: one scale for the stream, codes of int8 tensors by their role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MIN, INT16_MAX
from edgec.base.options import Residual
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import SCALE_FLOOR, Range, activation_params
from edgec.quant.convert.mixed.context import Codes16
from edgec.quant.transformer.groups import QKV, Group, code_groups, only_read_by
from edgec.quant.transformer.heads import attention_scales
from edgec.quant.transformer.int8_stream import int8_stream
from edgec.quant.transformer.layers import Layer
from edgec.quant.transformer.pooled import reads_pooled
from edgec.quant.transformer.samples import Seen
from edgec.quant.transformer.search import (
    CLIPS,
    EXPONENTS,
    LEAST_CODE,
    ONE_SCALE,
    UNCLIPPED,
    channel_params,
    tensor_params,
)
from edgec.quant.transformer.stream import NORMS, TIES

SOFTMAX_PARAMS = QuantParams.per_tensor(1 / 256, INT8_MIN)
"""Quantization of the output of `QSoftmaxOctaves`."""
MAKERS = (*NORMS, ops.Add, ops.Gemm, ops.Conv, ops.Embedding)
"""Operators that write a stream in its own form."""
_STREAM_MARGIN = 1.25
"""Room of the stream beyond the calibration data: a third of one of its 16 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What is chosen before anything is converted.

    Attributes:
        layers: every Conv and Gemm with what ends it.
        stream: parameters of the values of the stream, in its form.
        codes: int8 parameters of every value that has codes, those of the stream included.
        int16: values that have int16 codes, which all readers take that can (`--precision`).
    """

    layers: tuple[Layer, ...]
    stream: Mapping[str, QuantParams]
    codes: Mapping[str, QuantParams]
    int16: Mapping[str, Codes16] = field(default_factory=dict)


def stream_params(
    graph: Graph,
    groups: tuple[tuple[str, ...], ...],
    seen: Mapping[str, Seen],
    residual: Residual = Residual.INT16,
) -> dict[str, QuantParams]:
    """The parameters of each group of values of the stream.

    Args:
        graph: REAL stage.
        groups: from `stream_groups`.
        seen: samples of every value.
        residual: INT16: one scale a group; INT8: one and a power of two for each channel.
    """
    params: dict[str, QuantParams] = {}
    for names in groups:
        if residual is Residual.INT8:
            found = int8_stream(graph, names, seen)
            params.update((name, _on_last_axis(graph, name, found)) for name in names)
            continue
        magnitude = max(seen[name].range.magnitude for name in names)
        scale = max(magnitude * _STREAM_MARGIN / INT16_MAX, SCALE_FLOOR)
        params.update(dict.fromkeys(names, QuantParams.per_tensor(scale, 0, DType.INT16)))
    return params


def make_plan(
    graph: Graph,
    layers: tuple[Layer, ...],
    stream: Mapping[str, QuantParams],
    seen: Mapping[str, Seen],
) -> Plan:
    """Choose the codes of every int8 tensor.

    Args:
        graph: REAL stage.
        layers: from `find_layers`.
        stream: from `stream_params`.
        seen: samples of every value.
    """
    groups = code_groups(graph, frozenset(stream), layers)
    scales = attention_scales(graph, groups, layers, seen)
    codes: dict[str, QuantParams] = {}
    for group in groups:
        params = scales.get(group.members[0]) or _codes_of_stream(graph, group, stream)
        if params is None:
            params = _group_params(graph, group, frozenset(stream), seen)
        codes.update((name, _on_last_axis(graph, name, params)) for name in group.members)
    return Plan(layers, stream, codes)


def _codes_of_stream(
    graph: Graph, group: Group, stream: Mapping[str, QuantParams]
) -> QuantParams | None:
    """The parameters of a value of a stream of int8 whose codes its readers take as they are."""
    params = stream.get(group.members[0])
    if len(group.members) > 1 or params is None or params.dtype is not DType.INT8:
        return None
    producer = graph.producers.get(group.members[0])
    if producer is None or not isinstance(producer.attrs, MAKERS) or group.is_output:
        return None
    # Norms, and sums and moves within the stream, read its own form.
    readers = [
        (node, operand)
        for node, operand in group.readers
        if not isinstance(node.attrs, NORMS)
        and not (isinstance(node.attrs, TIES) and node.output in stream)
    ]
    layers = all(isinstance(node.attrs, ops.Gemm) and name == "x" for node, name in readers)
    return params if readers and layers and not reads_pooled(graph, readers) else None


def _on_last_axis(graph: Graph, name: str, params: QuantParams) -> QuantParams:
    if params.axis is None:
        return params
    return replace(params, axis=len(graph.shape(name)) - 1)


def _group_params(
    graph: Graph, group: Group, stream: frozenset[str], seen: Mapping[str, Seen]
) -> QuantParams:
    first = group.sources[0]
    values = seen[first].range
    for name in group.sources[1:]:
        values = values.union(seen[name].range)
    weights = _reader_weights(graph, group)
    producer = graph.producers.get(first)
    normed = producer is not None and isinstance(producer.attrs, NORMS)
    alone = group.keeps_channels and len(group.sources) == 1 and first not in stream
    if normed and alone and only_read_by(group, ops.Gemm):
        found = seen[first]
        # Codes from a pool cannot take up differences between channels.
        exponents = ONE_SCALE if reads_pooled(graph, group.readers) else EXPONENTS
        clips = UNCLIPPED if found.is_scarce else CLIPS
        return channel_params(*found.reach, found.rows, weights, exponents, clips)
    symmetric = any(isinstance(n.attrs, ops.Attention) and name in QKV for n, name in group.readers)
    makers = [graph.producers.get(name) for name in group.sources]
    symmetric |= any(m is not None and isinstance(m.attrs, ops.Attention) for m in makers)
    if producer is not None and isinstance(producer.attrs, ops.Softmax):
        return SOFTMAX_PARAMS
    if group.is_output or any(isinstance(node.attrs, ops.Softmax) for node, _ in group.readers):
        # Never clipped: the largest logit is the one that counts.
        most = values.magnitude
        return activation_params(Range(-most, most) if symmetric else values, LEAST_CODE)
    rows = seen[first].rows
    fits = all(w.shape[1] == rows.shape[1] for w in weights)
    # The user's codes may be any.
    least = INT8_MIN if any(name in graph.inputs for name in group.sources) else LEAST_CODE
    return tensor_params(values, rows, weights if fits else (), symmetric=symmetric, least=least)


def _reader_weights(graph: Graph, group: Group) -> list[Array]:
    """Weights [N, C] of the matrix products that read a group, if nothing else does."""
    if not only_read_by(group, ops.Gemm):
        return []
    return [graph.constants[ops.layer_inputs(node).w].real64() for node, _ in group.readers]
