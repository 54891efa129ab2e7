"""Parameters that follow from those of an operator's inputs, for models that pin only some."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgec.floatrun.tabled import unary_function
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.ties import TieGroup
from edgec.quant.common.params import Range, activation_params, range_of
from edgec.quant.common.tables import codes_real


def derived_params(
    graph: Graph, groups: tuple[TieGroup, ...], known: Mapping[str, QuantParams]
) -> dict[str, QuantParams]:
    """`known`, and what follows from it without data.

    A group with one source follows when that is computed from one tensor of known parameters and
    cannot leave a range they give: averages keep the parameters, element functions have the range
    of their 256 values.

    Args:
        graph: REAL stage.
        groups: all tie groups, in graph order.
        known: parameters by value.
    """
    params = dict(known)
    for group in groups:
        if group.members[0] in params or len(group.sources) != 1:
            continue
        node = graph.producers.get(group.sources[0])
        if node is None or node.first not in params:
            continue
        found = _derived(node, params[node.first])
        if found is not None:
            params.update(dict.fromkeys(group.members, found))
    return params


def _derived(node: Node, x: QuantParams) -> QuantParams | None:
    attrs = node.attrs
    if isinstance(attrs, ops.AveragePool):
        return x
    if isinstance(attrs, ops.Reduce) and attrs.kind is ops.ReduceKind.MEAN:
        return x
    if isinstance(attrs, ops.Unary | ops.Clip):
        reals = unary_function(attrs)(codes_real(x))
        finite = reals[np.isfinite(reals)]
        return (
            activation_params(range_of(finite)) if finite.size else activation_params(Range(0, 0))
        )
    return None
