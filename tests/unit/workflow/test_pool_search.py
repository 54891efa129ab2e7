"""The smallest good network, with few of them made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgec.workflow.pool_search import most_trials, smallest


class Networks:
    """Networks by size, of which some are good; remembers which were made."""

    def __init__(self, good: list[bool]) -> None:
        self.good = good
        self.made: list[int] = []

    def holds(self, number: int) -> bool:
        assert number not in self.made
        self.made.append(number)
        return self.good[number]


@given(st.integers(1, 40), st.integers(0, 40))
def test_where_accuracy_grows_the_smallest_is_found(count: int, bad: int) -> None:
    networks = Networks([number >= bad for number in range(count)])
    found = smallest(count, networks.holds)
    assert found == (bad if bad < count else None)
    assert len(networks.made) <= most_trials(count)


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_what_is_found_is_good(good: list[bool]) -> None:
    networks = Networks(good)
    found = smallest(len(good), networks.holds)
    if found is None:
        assert not good[-1]
    else:
        assert good[found]
        assert not any(good[number] for number in networks.made if number < found)


@pytest.mark.parametrize("gap", [1, 2])
def test_a_smaller_one_that_surprises_is_found(gap: int) -> None:
    """Number 5 holds, those right below do not, and one further below does."""
    good = [number >= 5 or number == 4 - gap for number in range(9)]
    assert smallest(9, Networks(good).holds) == 4 - gap


def test_the_same_networks_are_made_every_time() -> None:
    runs = [Networks([False, True, False, True, True]) for _ in range(2)]
    assert smallest(5, runs[0].holds) == smallest(5, runs[1].holds)
    assert runs[0].made == runs[1].made
