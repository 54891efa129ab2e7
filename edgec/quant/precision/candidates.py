"""Which tensors of a network could have int16 codes, and which codes they would have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edgec.base.dtypes import Array
from edgec.base.options import Observer, QuantSettings
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.ties import TieGroup, tie_groups
from edgec.quant.common.calibrate import calibrate
from edgec.quant.convert.mixed.context import Codes16
from edgec.quant.precision.codes import int16_codes


@dataclass(frozen=True, slots=True)
class Candidate:
    """Values that share their codes.

    Attributes:
        members: all of them, in graph order.
        sources: those that an operator computes or the user gives; the others only move them.
    """

    members: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What there is to choose from.

    Attributes:
        groups: in graph order.
        codes: the int16 codes of every member.
        narrow: the int8 parameters of every source.
    """

    groups: tuple[Candidate, ...]
    codes: Mapping[str, Codes16]
    narrow: Mapping[str, QuantParams]


def observed_candidates(annotated: Graph, data: Mapping[str, Array]) -> Candidates:
    """The candidates of a network whose ranges are observed.

    Args:
        annotated: ANNOTATED stage.
        data: from `checked_calibration`.
    """
    groups = [group for group in tie_groups(annotated) if _can_widen(annotated, group)]
    names = [name for group in groups for name in group.members]
    ranges = calibrate(annotated, names, data, QuantSettings(observer=Observer.MINMAX))
    codes = int16_codes(annotated, groups, ranges)
    found = [Candidate(g.members, g.sources) for g in groups if g.members[0] in codes]
    narrow = {name: annotated.quant(name) for group in found for name in group.sources}
    return Candidates(tuple(found), codes, narrow)


def _can_widen(graph: Graph, group: TieGroup) -> bool:
    """Whether the values of a group can have int16 codes."""
    return group.members[0] not in graph.input_features
