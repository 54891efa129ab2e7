"""Tests with many like cases, of which the default set runs a few.

    @pytest.mark.few_cases(2)
    @pytest.mark.parametrize("core", ["m0plus", "m3", "m4", "m7", "m33"])
    def test_on_an_emulated_core(core): ...

The other cases are slow tests.
"""

import zlib
from collections.abc import Sequence
from typing import TypeVar

import pytest

MARKER = "few_cases"
_Case = TypeVar("_Case")


def mark_others_slow(items: Sequence[pytest.Item]) -> None:
    """Mark as slow what the default set does without."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker(MARKER) and not item.get_closest_marker("slow"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, cases in tests.items():
        marker = cases[0].get_closest_marker(MARKER)
        assert marker is not None
        (count,) = marker.args
        kept = few(cases, count, name)
        for case in cases:
            if case not in kept:
                case.add_marker(pytest.mark.slow)


def few(cases: Sequence[_Case], count: int, name: str) -> list[_Case]:
    """So many of the cases, equally far apart; other tests keep others.

    Args:
        cases: in their order.
        count: 1 or more.
        name: decides with which case they begin.
    """
    first = zlib.crc32(name.encode()) % len(cases)
    places = {(first + len(cases) * number // count) % len(cases) for number in range(count)}
    return [case for place, case in enumerate(cases) if place in places]
