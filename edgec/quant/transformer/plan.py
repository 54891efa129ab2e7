"""The parameters of every value: one scale for the stream, codes of int8 tensors by their role."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MIN, INT16_MAX
from edgec.base.options import Residual
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import Range, Scales, activation_params
from edgec.quant.convert.codes import Codes16
from edgec.quant.scales.columns import keep_columns
from edgec.quant.scales.groups import Group, Held, code_groups, only_read_by
from edgec.quant.scales.known import SOFTMAX
from edgec.quant.scales.least import scales_of
from edgec.quant.scales.planner import Rule, planned
from edgec.quant.scales.ranges import source_range, with_constants
from edgec.quant.transformer.heads import QKV, attention_scales
from edgec.quant.transformer.int8_residual import int8_stream
from edgec.quant.transformer.layers import Layer
from edgec.quant.transformer.pooled import reads_pooled
from edgec.quant.transformer.residual import NORMS, TIES, least_of_stream
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

MAKERS = (*NORMS, ops.Add, ops.Gemm, ops.Conv, ops.Embedding)
"""Operators that write a stream in its own form."""
_STREAM_MARGIN = 1.25
"""Room of the stream beyond the calibration data: a third of one of its 16 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Decisions before anything is converted.

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

    @property
    def held(self) -> Held:
        """The values that have other forms than codes."""
        ends = {layer.output for layer in self.layers}
        inner = {node.output for layer in self.layers for node in layer.nodes} - ends
        return Held(frozenset(self.stream), frozenset(inner))


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
        least = least_of_stream(graph, names)
        scale = max((magnitude or 1.0) * _STREAM_MARGIN / INT16_MAX, least)
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
    plan = Plan(layers, stream, {})
    groups = code_groups(graph, plan.held)
    scales = attention_scales(graph, groups, layers, seen)

    def of_attention(group: Group, _known: Mapping[str, QuantParams]) -> QuantParams | None:
        return scales.get(group.members[0])

    def of_stream(group: Group, _known: Mapping[str, QuantParams]) -> QuantParams | None:
        return _codes_of_stream(graph, group, stream)

    def of_softmax(group: Group, _known: Mapping[str, QuantParams]) -> QuantParams | None:
        # Its rule gives codes of these parameters alone.
        makers = (graph.producers.get(name) for name in group.sources)
        return SOFTMAX if any(m and isinstance(m.attrs, ops.Softmax) for m in makers) else None

    found = _searched(graph, stream, seen)
    codes = planned(groups, of_attention, of_stream, of_softmax, found)
    placed = {name: _on_last_axis(graph, name, params) for name, params in codes.items()}
    return replace(plan, codes=placed)


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


def _searched(graph: Graph, stream: Mapping[str, QuantParams], seen: Mapping[str, Seen]) -> Rule:
    """The rule that gives groups the parameters that lose least."""

    def rule(group: Group, known: Mapping[str, QuantParams]) -> QuantParams:
        scales = scales_of(graph, group, known, stream)
        return _group_params(graph, group, stream, seen, scales)

    return rule


def _group_params(
    graph: Graph, group: Group, stream: Container[str], seen: Mapping[str, Seen], scales: Scales
) -> QuantParams:
    first = group.sources[0]
    seen_range = source_range(group, lambda name: seen[name].range)
    values = with_constants(graph, group, seen_range)
    weights = _reader_weights(graph, group)
    producer = graph.producers.get(first)
    normed = producer is not None and isinstance(producer.attrs, NORMS)
    alone = len(group.sources) == 1 and first not in stream and keep_columns(graph, group.moves)
    if normed and alone and only_read_by(group, ops.Gemm, ("x",)):
        found = seen[first]
        # Codes from a pool cannot take up differences between channels.
        exponents = ONE_SCALE if reads_pooled(graph, group.readers) else EXPONENTS
        clips = UNCLIPPED if found.is_scarce else CLIPS
        return channel_params(*found.reach, found.rows, weights, exponents, clips, scales)
    symmetric = any(isinstance(n.attrs, ops.Attention) and name in QKV for n, name in group.readers)
    makers = [graph.producers.get(name) for name in group.sources]
    symmetric |= any(m is not None and isinstance(m.attrs, ops.Attention) for m in makers)
    logits = any(isinstance(node.attrs, ops.Softmax) for node, _ in group.readers)
    if group.is_output or logits or values != seen_range:
        # Never clipped: the largest logit is the one that counts; rows do not show constants.
        most = values.magnitude
        values = Range(-most, most) if symmetric else values
        return activation_params(values, LEAST_CODE, scales)
    rows = seen[first].rows
    fits = all(w.shape[1] == rows.shape[1] for w in weights)
    # The user's codes may be any.
    least = INT8_MIN if any(name in graph.inputs for name in group.sources) else LEAST_CODE
    readers = weights if fits else ()
    return tensor_params(values, rows, readers, symmetric=symmetric, least=least, scales=scales)


def _reader_weights(graph: Graph, group: Group) -> list[Array]:
    """Weights [N, C] of the matrix products that read a group, if nothing else does."""
    if not only_read_by(group, ops.Gemm, ("x",)):
        return []
    return [graph.constants[ops.layer_inputs(node).w].real64() for node, _ in group.readers]
