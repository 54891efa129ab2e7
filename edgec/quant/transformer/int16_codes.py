"""Values of a network whose scales are searched that could have int16 codes, and these codes.

A value of the stream has int16 numbers anyway; what can have int16 codes in place of int8 ones is
the copy of it that layers read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT16_MAX
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.observers import MARGIN
from edgec.quant.common.params import LEAST_SCALE
from edgec.quant.common.weights import layer_weights
from edgec.quant.convert.codes import Codes16
from edgec.quant.convert.takes16 import TAKES16
from edgec.quant.precision.candidates import Candidates
from edgec.quant.precision.codes import code_limit, layer_reach
from edgec.quant.scales.groups import Group, code_groups
from edgec.quant.scales.least import scales_of
from edgec.quant.scales.ranges import source_range, with_constants
from edgec.quant.transformer.layers import Layer
from edgec.quant.transformer.plan import Plan
from edgec.quant.transformer.pooled import pooled_weight
from edgec.quant.transformer.residual import NORMS, TIES
from edgec.quant.transformer.samples import Seen


def searched_candidates(graph: Graph, plan: Plan, seen: Mapping[str, Seen]) -> Candidates:
    """The candidates of a network whose scales are searched.

    A group takes part where an operator can write its int16 codes and another one read them; what
    has one form only, as attention has, reads and writes int8 copies.

    Args:
        graph: REAL stage.
        plan: with int8 codes alone.
        seen: samples of every value.
    """
    groups: list[Group] = []
    codes: dict[str, Codes16] = {}
    narrow: dict[str, QuantParams] = {}
    for group in code_groups(graph, plan.held):
        readers = _readers(group, frozenset(plan.stream))
        if not _can_widen(graph, plan, group, readers):
            continue
        found = _codes_of(graph, plan, group, readers, seen)
        if found is None:
            continue
        groups.append(group)
        codes.update(dict.fromkeys(group.members, found))
        narrow.update((name, plan.codes[name]) for name in group.sources)
    return Candidates(tuple(groups), codes, narrow)


def widened(plan: Plan, int16: Mapping[str, Codes16], seen: Mapping[str, Seen]) -> Plan:
    """The plan with int16 codes for some values.

    A layer that reads or writes them leaves its function to a table of int16 codes, and one that
    reads them leaves the residual addition to an operator of its own.

    Args:
        plan: with int8 codes alone.
        int16: the values, by name.
        seen: samples of every value.
    """
    layers, codes = [], dict(int16)
    for layer in plan.layers:
        reads, writes = layer.node.first in int16, layer.output in int16
        tabled = layer.activation is not None and isinstance(layer.activation.attrs, ops.Unary)
        if (tabled and (reads or writes)) or (reads and layer.add is not None):
            layers.append(Layer(layer.node, None, None, "", layer.node.output))
        else:
            layers.append(layer)
        if tabled and (reads or writes):
            codes[layer.node.output] = _codes(seen[layer.node.output], INT16_MAX)
    return replace(plan, layers=tuple(layers), int16=codes)


def _readers(group: Group, stream: frozenset[str]) -> list[tuple[Node, str]]:
    """Readers of a group's codes, except those that take a value of the stream in its own form."""
    return [
        (node, operand)
        for node, operand in group.readers
        if group.members[0] not in stream
        or not (
            isinstance(node.attrs, NORMS)
            or (isinstance(node.attrs, TIES) and node.output in stream)
        )
    ]


def _can_widen(graph: Graph, plan: Plan, group: Group, readers: list[tuple[Node, str]]) -> bool:
    if any(name in graph.input_features for name in group.members):
        return False
    if any(pooled_weight(graph, node) is not None for node, _ in readers):
        return False  # pooled layers read int8 codes
    makers = [graph.producers.get(name) for name in group.sources]
    written = any(maker is None or type(maker.attrs) in TAKES16 for maker in makers)
    reading = [_reads16(plan, node) for node, _ in readers]
    if plan.codes[group.members[0]].axis is not None and not all(reading):
        return False  # no copy with a scale a channel is made
    return written and (group.is_output or any(reading))


def _reads16(plan: Plan, node: Node) -> bool:
    """Whether an operator reads int16 codes: no layer does whose output has scales by channel."""
    own = plan.codes.get(node.output)
    by_channel = own is not None and own.axis is not None and node.output not in plan.stream
    return type(node.attrs) in TAKES16 and not (
        isinstance(node.attrs, ops.Conv | ops.Gemm) and by_channel
    )


def _codes_of(
    graph: Graph,
    plan: Plan,
    group: Group,
    readers: list[tuple[Node, str]],
    seen: Mapping[str, Seen],
) -> Codes16 | None:
    """The codes of a group; None where the user's could be too large for what reads them."""
    held = with_constants(graph, group, source_range(group, lambda name: seen[name].range))
    least = scales_of(graph, group, plan.codes, plan.stream).least * INT16_MAX
    magnitude = max(held.magnitude, least, *(_magnitude(seen[name]) for name in group.members))
    limits = [float(INT16_MAX)]
    for node, _ in readers:
        if isinstance(node.attrs, ops.Conv | ops.Gemm):
            limits.append(_layer_limit(graph, node, magnitude))
        elif isinstance(node.attrs, ops.MatMul):
            limits.append(code_limit(graph, node))
    reach = int(min(limits))
    if any(name in graph.inputs for name in group.members):
        if reach < INT16_MAX:
            return None
        reach += 1
    return Codes16(_params(magnitude, reach), reach)


def _layer_limit(graph: Graph, node: Node, magnitude: float) -> float:
    inputs = ops.layer_inputs(node)
    bias = None if inputs.b is None else graph.constants[inputs.b]
    finest = magnitude / INT16_MAX
    found = layer_weights(graph.constants[inputs.w], bias, finest, node.name)
    rows = np.abs(found.weight.astype(np.float64)).reshape(len(found.weight), -1).sum(axis=1)
    steps = np.zeros(len(rows)) if found.bias is None else np.abs(found.bias.astype(np.float64))
    return layer_reach(rows, steps * finest / magnitude)


def _codes(seen: Seen, reach: int) -> Codes16:
    return Codes16(_params(_magnitude(seen), reach), reach)


def _magnitude(seen: Seen) -> float:
    """The largest number that int16 codes of a value hold."""
    return max(seen.range.magnitude * MARGIN, LEAST_SCALE * INT16_MAX)


def _params(magnitude: float, reach: int) -> QuantParams:
    scale = float(np.float32(max(magnitude / min(reach, INT16_MAX), LEAST_SCALE)))
    return QuantParams.per_tensor(scale, 0, DType.INT16)
