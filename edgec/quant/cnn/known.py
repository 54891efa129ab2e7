"""Parameters that need no calibration: those of the file, and of functions with a known range."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.derive import derived_params
from edgec.quant.cnn.ties import TieGroup, split_conflicts, tie_groups

_FIXED: Mapping[object, QuantParams] = MappingProxyType(
    {
        "Softmax": QuantParams.per_tensor(1 / 256, -128),
        ops.UnaryKind.SIGMOID: QuantParams.per_tensor(1 / 256, -128),
        ops.UnaryKind.TANH: QuantParams.per_tensor(1 / 128, 0),
    }
)
"""Functions with a known range.  Source: TensorFlow Lite 8-bit quantization specification."""


def has_open_ranges(graph: Graph, has_data: bool) -> bool:
    """Whether ranges of some values come from calibration, rather than from the model.

    Args:
        graph: REAL stage, as for `annotate`.
        has_data: there are calibration data.
    """
    graph = split_conflicts(graph)
    groups = tie_groups(graph)
    params = data_free_params(graph, groups, has_data=has_data)
    return any(group.members[0] not in params for group in groups)


def calibrated_groups(graph: Graph) -> tuple[TieGroup, ...]:
    """The groups of values whose parameters calibration chooses: neither the model nor an operator.

    Args:
        graph: REAL stage, from `split_conflicts`.
    """
    groups = tie_groups(graph)
    known = _known_params(graph, groups)
    return tuple(group for group in groups if group.members[0] not in known)


def data_free_params(
    graph: Graph, groups: tuple[TieGroup, ...], *, has_data: bool
) -> dict[str, QuantParams]:
    """Parameters that need no data, by value; without data, derived ones as well."""
    params = _known_params(graph, groups)
    return params if has_data else derived_params(graph, groups, params)


def _known_params(graph: Graph, groups: tuple[TieGroup, ...]) -> dict[str, QuantParams]:
    """Parameters that need no data, by value."""
    known = {}
    for group in groups:
        found = group.pinned
        if found is None:
            fixed = {_fixed(graph, name) for name in group.sources}
            found = fixed.pop() if len(fixed) == 1 else None
        if found is not None:
            known.update(dict.fromkeys(group.members, found))
    return known


def _fixed(graph: Graph, name: str) -> QuantParams | None:
    node = graph.producers.get(name)
    if node is None:
        return None
    return _FIXED.get(node.attrs.kind if isinstance(node.attrs, ops.Unary) else node.op)
