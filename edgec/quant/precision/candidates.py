"""Tensors of a network that could have int16 codes, and these codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.calibrate import roomy_ranges
from edgec.quant.convert.codes import Codes16
from edgec.quant.precision.codes import int16_codes
from edgec.quant.scales.groups import Group, code_groups


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Groups of tensors to choose from, with their codes.

    Attributes:
        groups: in graph order.
        codes: the int16 codes of every member.
        narrow: the int8 parameters of every source.
    """

    groups: tuple[Group, ...]
    codes: Mapping[str, Codes16]
    narrow: Mapping[str, QuantParams]


def observed_candidates(annotated: Graph, data: Mapping[str, Array]) -> Candidates:
    """The candidates of a network whose ranges are observed.

    Args:
        annotated: ANNOTATED stage.
        data: from `checked_calibration`.
    """
    groups = [group for group in code_groups(annotated) if _can_widen(annotated, group)]
    names = [name for group in groups for name in group.sources]
    ranges = roomy_ranges(annotated, names, data)
    codes = int16_codes(annotated, groups, ranges)
    found = [group for group in groups if group.members[0] in codes]
    narrow = {name: annotated.quant(name) for group in found for name in group.sources}
    return Candidates(tuple(found), codes, narrow)


def _can_widen(graph: Graph, group: Group) -> bool:
    """Whether the values of a group can have int16 codes."""
    return group.members[0] not in graph.input_features
