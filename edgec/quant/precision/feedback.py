"""int16 codes of what a network computes from its own past: the cells of recurrent networks.

A carried value of int8 codes is rounded to one of 256 numbers in each turn, and every later turn
computes from what that left; with int16 codes the rounding is 256 times smaller.  Layers that read
such codes cost what int16 costs; those that read the input of a cell keep its int8 codes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT16_MAX
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.real import RealOperator
from edgec.quant.cnn.calibrate import roomy_ranges
from edgec.quant.convert.codes import Codes16
from edgec.quant.precision.codes import group_codes, int16_codes
from edgec.quant.scales.groups import code_groups

_HUSHED = 2.0**-4
"""Recordings whose loudest sample is below this part of 1 get finer codes."""


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


def sound_values(graph: Graph) -> frozenset[str]:
    """Samples of sound that logarithms of energies are taken of: their quiet parts count, too.

    Args:
        graph: REAL or ANNOTATED stage.
    """
    return frozenset(node.first for node in graph.nodes if isinstance(node.attrs, ops.LogMel))


def feedback_codes(real: Graph, annotated: Graph, data: Mapping[str, Array]) -> dict[str, Codes16]:
    """int16 codes of `feedback_values` and `sound_values`, and of values that share them.

    None of the first of a network whose weights come from a pool: its layers read int8 codes.  What
    a file gives codes to keeps them.

    Args:
        real: REAL stage; what has codes there has them from the file.
        annotated: ANNOTATED stage of it.
        data: from `checked_calibration`.
    """
    values = sound = sound_values(annotated)
    if not any(constant.pooled for constant in annotated.constants.values()):
        values |= feedback_values(annotated)
    if not values:
        return {}
    groups = [
        group
        for group in code_groups(annotated)
        if values.intersection(group.members)
        and not any(_is_given(real, annotated, name) for name in group.members)
    ]
    names = [name for group in groups for name in group.sources]
    ranges = roomy_ranges(annotated, names, data)
    found = int16_codes(annotated, groups, ranges)
    for group in groups:
        given = [data[name] for name in group.members if name in data]
        if given and sound.intersection(group.members):
            codes = group_codes(annotated, group, _full_scale(given) * INT16_MAX / 2.0**15)
            found.update({} if codes is None else dict.fromkeys(group.members, codes))
    return found


def _full_scale(given: Sequence[Array]) -> float:
    """The number that sound reaches at most: 1, or a power of 2 where samples are louder or hushed.

    So samples that a recording has in 16 bits keep their codes.
    """
    peak = max(float(np.abs(array).max(initial=0.0)) for array in given)
    if _HUSHED <= peak <= 1.0 or not 0.0 < peak < math.inf:
        return 1.0
    return float(2.0 ** math.ceil(math.log2(peak)))


def _is_given(real: Graph, annotated: Graph, name: str) -> bool:
    """Whether the file says the codes of a value, or it is an input that layers read.

    An input that is nothing but the first number of a carried value is the state that a program
    hands from run to run itself: it has the codes of the state.  One that is nothing but sound has
    those of its samples.
    """
    if name in real.inputs:
        return not _only_begins(annotated, name)
    return name in real.values and real.values[name].quant is not None


def _only_begins(graph: Graph, name: str) -> bool:
    """Whether all readers of a value move it on to where a carried value begins."""
    return name not in graph.outputs and all(
        isinstance(node.attrs, ops.Carry | ops.LogMel)
        or (_moves(node) and all(_only_begins(graph, each) for each in node.outputs))
        for node in graph.consumers[name]
    )


def _moves(node: Node) -> bool:
    return isinstance(node.attrs, RealOperator) and node.attrs.moves_codes
