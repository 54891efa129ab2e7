"""Sets of int16 tensors that show every layer in all states of the tensors at its ends."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from edgec.fit.program.problem import State

MOST_TENSORS = 6
"""Layers between more tensors are shown in the states that come by the way."""
_MOST_SETS = 96


def first_sets(names: Sequence[str], ends: Iterable[State]) -> list[State]:
    """Sets that show layers between two tensors in all states.

    Colours of a greedy colouring, no two at one layer alike: each colour alone, and all others.

    Args:
        names: the tensors, in graph order.
        ends: those at each layer.
    """
    beside: dict[str, set[str]] = defaultdict(set)
    for tensors in ends:
        for name in tensors:
            beside[name] |= tensors - {name}
    colours: dict[str, int] = {}
    for name in names:
        taken = {colours[other] for other in beside[name] if other in colours}
        colours[name] = next(n for n in range(len(names)) if n not in taken)
    everything = frozenset(names)
    sets = [frozenset(n for n in names if colours[n] == c) for c in sorted(set(colours.values()))]
    found = [frozenset[str](), everything, *sets, *(everything - each for each in sets)]
    return list(dict.fromkeys(found))


def covering_sets(cells: Collection[State], seen: Iterable[State]) -> list[State]:
    """Further sets, so that every layer is shown in every state.

    Each set fixes the tensors of one layer after the other, those with most states to show first,
    as far as they are open.

    Args:
        cells: the tensors at each layer.
        seen: sets that show layers already.
    """
    shown = list(seen)
    few = {cell for cell in cells if 0 < len(cell) <= MOST_TENSORS}
    missing = {
        cell: set(states(cell)) - {cell & each for each in shown}
        for cell in sorted(few, key=sorted)
    }
    found: list[State] = []
    while any(missing.values()) and len(shown) + len(found) < _MOST_SETS:
        new = _next_set(missing)
        found.append(new)
        for cell, left in missing.items():
            left.discard(cell & new)
    return found


def told_apart(cell: State, seen: Sequence[tuple[State, Hashable]], near: State) -> State:
    """The tensors of a layer, and those near it without which nobody can say whether it is there.

    A convolution that ends in a sum where the other operand has int8 codes, too, is there or not by
    the codes of a tensor that it neither reads nor writes.

    Args:
        cell: the tensors at the layer's ends.
        seen: sets of int16 tensors, and whether the layer is there, or what it is.
        near: tensors that may matter, too.

    Returns:
        `cell` and as few of `near` as tell unlike layers apart, `MOST_TENSORS` at most.
    """
    found = cell

    def mixed(tensors: State) -> int:
        """Pairs of unlike layers that these tensors do not tell apart."""
        pairs = itertools.combinations(seen, 2)
        return sum(a[1] != b[1] and a[0] & tensors == b[0] & tensors for a, b in pairs)

    while mixed(found) and len(found) < MOST_TENSORS:
        ways = sorted((mixed(found | {name}), name) for name in near - found)
        if not ways or ways[0][0] >= mixed(found):
            break
        found |= {ways[0][1]}
    return found


def states(cell: State) -> list[State]:
    """All sets of int16 tensors of a layer, the smallest ones first."""
    names = sorted(cell)
    counts = range(len(names) + 1)
    return [frozenset(each) for n in counts for each in itertools.combinations(names, n)]


def _next_set(missing: Mapping[State, Collection[State]]) -> State:
    fixed: dict[str, bool] = {}
    for cell in sorted(missing, key=lambda each: (-len(missing[each]), sorted(each))):
        fitting = (
            state
            for state in sorted(missing[cell], key=lambda each: (len(each), sorted(each)))
            if all(fixed.get(name, name in state) is (name in state) for name in cell)
        )
        chosen = next(fitting, None)
        if chosen is not None:
            fixed |= {name: name in chosen for name in cell}
    return frozenset(name for name, is_int16 in fixed.items() if is_int16)
