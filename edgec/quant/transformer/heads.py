"""Scales of attention: one for each head, and balanced channels of q and k.

A head's logits are ``sum_d q_d k_d``: a factor on channel d of q that is taken out of channel d of
k changes nothing, so each channel may have a scale of its own as long as the product of q's and k's
is the head's.  Zero points of k add the same number to all logits of a row, which softmax does not
see: each channel of k may have its own, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, round_half_up
from edgec.base.portable_functions import LOG2_E
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.quant.common.numbers import LEAST_RATIO, LOGIT_BITS, MOST_RATIO
from edgec.quant.common.params import EMPTY_SCALE, LEAST_SHARE
from edgec.quant.scales.columns import columns_of, keep_columns
from edgec.quant.scales.groups import Group, only_read_by
from edgec.quant.transformer.layers import Layer
from edgec.quant.transformer.pooled import reads_pooled
from edgec.quant.transformer.samples import Seen
from edgec.quant.transformer.search import symmetric_scale

QKV = ("q", "k", "v")
"""Operands of attention that are activations."""


def attention_scales(
    graph: Graph, groups: tuple[Group, ...], layers: tuple[Layer, ...], seen: Mapping[str, Seen]
) -> dict[str, QuantParams]:
    """Parameters per channel around attention, by the first member of each group that has them.

    Groups that something else reads, or that cannot hold a scale a channel, are left out.

    Args:
        graph: REAL stage.
        groups: from `code_groups`.
        layers: from `find_layers`.
        seen: samples of every value.
    """
    of = {name: group for group in groups for name in group.members}
    plain = {layer.output for layer in layers if layer.activation is None}
    scales = {
        group.members[0]: _Channels.empty(graph.shape(group.members[0])[-1])
        for group in groups
        if keep_columns(graph, group.moves)
        and only_read_by(group, ops.Attention, QKV)
        and all(name in plain for name in group.sources)
    }
    nodes = [node for node in graph.nodes if isinstance(node.attrs, ops.Attention)]
    for node in nodes:
        inputs = ops.Attention.Inputs.of(node.inputs)
        operands = [_operand(graph, n, of, seen) for n in (inputs.q, inputs.k, inputs.v)]
        _set_operands(node, operands, scales)
    found = {first: c.params for first, c in scales.items() if not c.clash}
    for node in nodes:
        group = of.get(node.output)
        if group is None or not _has_channels(graph, group, node.output):
            continue
        value = _operand(graph, ops.Attention.Inputs.of(node.inputs).v, of, seen)
        params = _output_params(node, value, found, seen[node.output])
        if params is not None:
            found[group.members[0]] = params
    return found


def _has_channels(graph: Graph, group: Group, output: str) -> bool:
    """True when an output of attention, read by matrix products alone, can have a scale a head."""
    alone = group.sources == (output,) and keep_columns(graph, group.moves)
    # Weights from a pool cannot take up differences between channels.
    free = only_read_by(group, ops.Gemm, ("x",)) and not reads_pooled(graph, group.readers)
    return alone and free


@dataclass(slots=True, eq=False)
class _Channels:
    """Scales of a tensor in the making."""

    scale: Array
    zero_point: Array
    set_: Array
    clash: bool = False

    @classmethod
    def empty(cls, channels: int) -> _Channels:
        return cls(np.ones(channels), np.zeros(channels, np.int64), np.zeros(channels, np.bool_))

    def put(self, start: int, scale: Array, zero_point: Array) -> None:
        columns = slice(start, start + len(scale))
        self.clash = self.clash or bool(self.set_[columns].any())
        self.scale[columns], self.zero_point[columns] = scale, zero_point
        self.set_[columns] = True

    @property
    def params(self) -> QuantParams:
        scale = tuple(float(s) for s in np.where(self.set_, self.scale, self.scale.max()))
        return QuantParams(scale, tuple(int(z) for z in self.zero_point), DType.INT8, axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class _Operand:
    """An operand of attention: its columns, and the group that decides about them."""

    group: str
    start: int
    low: Array
    high: Array
    rows: Array


def _operand(
    graph: Graph, name: str, of: Mapping[str, Group], seen: Mapping[str, Seen]
) -> _Operand | None:
    """None for a constant."""
    columns, width = columns_of(graph, name), graph.shape(name)[-1]
    if columns.root not in of:
        return None
    found, part = seen[columns.root], slice(columns.start, columns.start + width)
    low, high = found.reach
    return _Operand(
        of[columns.root].members[0],
        columns.start,
        low[part],
        high[part],
        found.rows[:, part],
    )


def _set_operands(
    node: Node, operands: list[_Operand | None], scales: Mapping[str, _Channels]
) -> None:
    q, k, v = operands
    heads = node.attrs_as(ops.Attention).heads
    if v is not None and v.group in scales:
        per_head = head_scales(v.rows, np.maximum(np.abs(v.low), np.abs(v.high)), heads)
        width = len(v.low) // heads
        scales[v.group].put(v.start, per_head.repeat(width), np.zeros(len(v.low), np.int64))
    if q is None or k is None or q.group not in scales or k.group not in scales:
        for operand in (q, k):
            if operand is not None and operand.group in scales:
                scales[operand.group].clash = True
        return
    _set_logits(node, q, k, scales)


def _set_logits(node: Node, q: _Operand, k: _Operand, scales: Mapping[str, _Channels]) -> None:
    attrs = node.attrs_as(ops.Attention)
    heads, width = attrs.heads, len(q.low) // attrs.heads
    most_q = _not_empty(np.maximum(np.abs(q.low), np.abs(q.high)))
    middle, most_k = (k.low + k.high) / 2, _not_empty((k.high - k.low) / 2)
    balance = np.sqrt(most_q / most_k)
    # Never clipped: the largest logits are those that count.
    even_q = _largest(most_q / balance, heads) / INT8_MAX
    even_k = _largest(most_k * balance, heads) / INT8_MAX
    octaves = np.abs(attrs.scale) * even_q * even_k * LOG2_E
    # Rounded up to what the integer operator can say: its factor then is exact.
    exact = np.ceil(octaves * 2.0**LOGIT_BITS) / 2.0**LOGIT_BITS
    scale_q = (even_q * exact / octaves).repeat(width) * balance
    scale_k = even_k.repeat(width) / balance
    zero = round_half_up(-middle / scale_k)
    scales[q.group].put(q.start, scale_q, np.zeros(len(scale_q), np.int64))
    scales[k.group].put(k.start, scale_k, zero)


def _not_empty(magnitude: Array) -> Array:
    """Magnitudes of channels, those of channels without numbers next to nothing."""
    return np.maximum(magnitude, float(magnitude.max()) * LEAST_SHARE or EMPTY_SCALE)


def head_scales(rows: Array, magnitude: Array, heads: int) -> Array:
    """The scale of each head with zero point 0 that loses least; float64 [heads].

    Args:
        rows: [R, heads*D].
        magnitude: magnitude of each column, [heads*D].
        heads: number of heads.
    """
    split = rows.reshape(len(rows), heads, -1)
    most = _largest(magnitude, heads)
    return np.array([symmetric_scale(split[:, h], float(most[h])) for h in range(heads)])


def _largest(magnitude: Array, heads: int) -> Array:
    """Largest magnitude of each head; float64 [heads]."""
    return np.asarray(magnitude.reshape(heads, -1).max(axis=1))


def _output_params(
    node: Node, v: _Operand | None, found: Mapping[str, QuantParams], seen: Seen
) -> QuantParams | None:
    if v is None or v.group not in found:
        return None
    heads = node.attrs_as(ops.Attention).heads
    own = head_scales(seen.rows, seen.magnitude, heads)
    width = len(seen.low) // heads
    value = np.asarray(found[v.group].scale)[v.start : v.start + len(v.low)][::width]
    scale = np.clip(own, value / (MOST_RATIO - 1), value / LEAST_RATIO).repeat(width)
    return QuantParams(tuple(map(float, scale)), (0,) * len(scale), DType.INT8, axis=0)
