"""The smallest of several networks that is good enough, with few of them made.

They are sorted by their bytes, and accuracy grows with bytes, nearly: a network with other pools
may be worse than a smaller one.  So halves are taken first, as if accuracy always grew, and then
smaller networks one after the other, until some in a row are not good enough.
"""

from __future__ import annotations

from collections.abc import Callable

_MISSES = 3
"""This many smaller networks in a row that are not good enough end the search."""


def most_trials(count: int) -> int:
    """The most networks of `count` that a search makes where accuracy grows with bytes.

    It makes more where a smaller one is good enough after larger ones were not.
    """
    return min(count, count.bit_length() + _MISSES - 1)


def smallest(count: int, holds: Callable[[int], bool]) -> int | None:
    """The number of the smallest network that is good enough, as far as the search goes.

    Args:
        count: networks, numbered in the order of their bytes.
        holds: whether a network is good enough; called once for each that is tried.

    Returns:
        None where none that was tried is good enough; the largest is among these.
    """
    tried: dict[int, bool] = {}

    def is_good(number: int) -> bool:
        if number not in tried:
            tried[number] = holds(number)
        return tried[number]

    low, best = -1, count
    while best - low > 1:
        middle = (low + best) // 2
        if is_good(middle):
            best = middle
        else:
            low = middle
    number, misses = best - 1, 0
    while number >= 0 and misses < _MISSES:
        if is_good(number):
            best, misses = number, 0
        else:
            misses += 1
        number -= 1
    return best if best < count else None
