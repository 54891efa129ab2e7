"""Parameters that need no calibration: those of the file, of functions, and what follows of them.

A group of one source follows when that is computed from one tensor of known parameters and cannot
leave a range they give: averages keep the parameters, element functions have the range of their 256
values.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from edgec.floatrun.codes import unary_function
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import Range, activation_params, code_range, codes_real, range_of
from edgec.quant.scales.groups import Group, code_groups, split_conflicts
from edgec.quant.scales.planner import Rule, pinned, planned
from edgec.quant.scales.ranges import holds_constants

SOFTMAX = QuantParams.per_tensor(1 / 256, -128)
"""Probabilities.  Source of all three: TensorFlow Lite 8-bit quantization specification."""
_FIXED: Mapping[object, QuantParams] = MappingProxyType(
    {
        "Softmax": SOFTMAX,
        ops.UnaryKind.SIGMOID: QuantParams.per_tensor(1 / 256, -128),
        ops.UnaryKind.TANH: QuantParams.per_tensor(1 / 128, 0),
        # Codes of one magnitude, as `passes.pack_signs` asks; a large one, for it is a part of the
        # scale of biases, whose rounding can turn the sign of a sum.
        ops.UnaryKind.BINARIZE: QuantParams.per_tensor(float(np.float32(1 / 127)), 0),
    }
)
"""Functions with a known range."""


def has_open_ranges(graph: Graph, has_data: bool) -> bool:
    """Whether ranges of some values come from calibration, rather than from the model.

    Args:
        graph: REAL stage, as for `annotate`.
        has_data: there are calibration data.
    """
    graph = split_conflicts(graph)
    groups = code_groups(graph)
    return len(open_groups(groups, data_free_params(graph, groups, has_data=has_data))) > 0


def calibrated_groups(graph: Graph) -> tuple[Group, ...]:
    """The groups of values whose parameters calibration chooses: neither the model nor an operator.

    Args:
        graph: REAL stage, from `split_conflicts`.
    """
    groups = code_groups(graph)
    return open_groups(groups, data_free_params(graph, groups, has_data=True))


def open_groups(groups: tuple[Group, ...], known: Mapping[str, QuantParams]) -> tuple[Group, ...]:
    """The groups whose parameters are not known."""
    return tuple(group for group in groups if group.members[0] not in known)


def data_free_params(
    graph: Graph, groups: tuple[Group, ...], *, has_data: bool
) -> dict[str, QuantParams]:
    """Parameters that need no data, by value; without data, derived ones as well."""
    rules = pinned, _fixed(graph)
    return planned(groups, *rules) if has_data else planned(groups, *rules, _derived(graph))


def _fixed(graph: Graph) -> Rule:
    """The rule of functions with a known range, where the same one computes all sources."""

    def rule(group: Group, _known: Mapping[str, QuantParams]) -> QuantParams | None:
        found = {_of_function(graph.producers.get(name)) for name in group.sources}
        params = found.pop() if len(found) == 1 else None
        fits = params is not None and holds_constants(graph, group, code_range(params))
        return params if fits else None

    return rule


def _of_function(node: Node | None) -> QuantParams | None:
    if node is None:
        return None
    return _FIXED.get(node.attrs.kind if isinstance(node.attrs, ops.Unary) else node.op)


def _derived(graph: Graph) -> Rule:
    """The rule of what follows from an operator's input."""

    def rule(group: Group, known: Mapping[str, QuantParams]) -> QuantParams | None:
        node = graph.producers.get(group.sources[0]) if len(group.sources) == 1 else None
        return None if node is None or node.first not in known else _after(node, known[node.first])

    return rule


def _after(node: Node, x: QuantParams) -> QuantParams | None:
    attrs = node.attrs
    if isinstance(attrs, ops.AveragePool):
        return x
    if isinstance(attrs, ops.Reduce) and attrs.kind is ops.ReduceKind.MEAN:
        return x
    if isinstance(attrs, ops.Unary | ops.Clip):
        reals = unary_function(attrs)(codes_real(x))
        finite = reals[np.isfinite(reals)]
        return activation_params(range_of(finite) if finite.size else Range(0, 0))
    return None
