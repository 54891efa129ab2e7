"""int16 codes of what a network computes from its own past: the cells of recurrent networks.

A carried value of int8 codes is rounded to one of 256 numbers in each turn, and every later turn
computes from what that left; with int16 codes the rounding is 256 times smaller.  Layers that read
such codes cost what int16 costs; those that read the input of a cell keep its int8 codes.
"""

from __future__ import annotations

from collections.abc import Mapping

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.real import RealOperator
from edgec.quant.cnn.calibrate import roomy_ranges
from edgec.quant.convert.codes import Codes16
from edgec.quant.precision.codes import int16_codes
from edgec.quant.scales.groups import code_groups


def feedback_values(graph: Graph) -> frozenset[str]:
    """Values that an operator computes from a carried value, and that one is computed from again;
    and what layers with weights add to them.

    Values that are only moved on their way, as the past frames of a stream are, are none.

    Args:
        graph: REAL or ANNOTATED stage.
    """
    updates = [
        ops.Update.Inputs.of(node.inputs)
        for node in graph.nodes
        if isinstance(node.attrs, ops.Update)
    ]
    carried = {update.carry for update in updates}
    after = graph.reached(carried)
    leading = {update.x for update in updates}
    for node in reversed(graph.nodes):
        if leading.intersection(node.outputs) and not node.carries:
            leading.update(node.inputs)
    computing = [node for node in graph.nodes if not _moves(node)]
    inside = {name for node in computing for name in (after & leading).intersection(node.outputs)}
    read = {name for node in computing if inside.intersection(node.outputs) for name in node.inputs}
    layers = (node for node in computing if isinstance(node.attrs, ops.Weighted))
    return frozenset(
        inside.union(name for node in layers for name in read.intersection(node.outputs))
    )


def feedback_codes(real: Graph, annotated: Graph, data: Mapping[str, Array]) -> dict[str, Codes16]:
    """int16 codes of these values, and of those that share them.

    None of a network whose weights come from a pool: its layers read int8 codes.  What a file
    gives codes to keeps them.

    Args:
        real: REAL stage; what has codes there has them from the file.
        annotated: ANNOTATED stage of it.
        data: from `checked_calibration`.
    """
    values = feedback_values(annotated)
    if not values or any(constant.pooled for constant in annotated.constants.values()):
        return {}
    groups = [
        group
        for group in code_groups(annotated)
        if values.intersection(group.members)
        and not any(_is_given(real, annotated, name) for name in group.members)
    ]
    names = [name for group in groups for name in group.sources]
    ranges = roomy_ranges(annotated, names, data)
    return int16_codes(annotated, groups, ranges)


def _is_given(real: Graph, annotated: Graph, name: str) -> bool:
    """Whether the file says the codes of a value, or it is an input that layers read.

    An input that is nothing but the first number of a carried value is the state that a program
    hands from run to run itself: it has the codes of the state.
    """
    if name in real.inputs:
        return not _only_begins(annotated, name)
    return name in real.values and real.values[name].quant is not None


def _only_begins(graph: Graph, name: str) -> bool:
    """Whether all readers of a value move it on to where a carried value begins."""
    return name not in graph.outputs and all(
        isinstance(node.attrs, ops.Carry)
        or (_moves(node) and all(_only_begins(graph, each) for each in node.outputs))
        for node in graph.consumers[name]
    )


def _moves(node: Node) -> bool:
    return isinstance(node.attrs, RealOperator) and node.attrs.moves_codes
