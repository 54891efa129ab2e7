"""The parameters of groups of tensors: those of the first rule that has some for a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from edgec.ir.qparams import QuantParams
from edgec.quant.scales.groups import Group

Rule: TypeAlias = Callable[[Group, Mapping[str, QuantParams]], QuantParams | None]
"""The parameters of a group, told those of the groups before it; None: left to the next rule."""


def planned(
    groups: Iterable[Group], *rules: Rule, known: Mapping[str, QuantParams] = MappingProxyType({})
) -> dict[str, QuantParams]:
    """The parameters of all members of groups.

    Args:
        groups: in graph order.
        rules: the first ones come first: what the file pins, what operators ask for, what is found
            from data.
        known: parameters of other values, by value.

    Returns:
        `known` and what was found, by value; values of a group that no rule knows are left out.
    """
    params = dict(known)
    for group in groups:
        found = (rule(group, params) for rule in rules)
        first = next((each for each in found if each is not None), None)
        if first is not None:
            params.update(dict.fromkeys(group.members, first))
    return params


def pinned(group: Group, _known: Mapping[str, QuantParams]) -> QuantParams | None:
    """The rule of what the model prescribes."""
    return group.pinned
