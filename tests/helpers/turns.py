"""With which tests a run begins that may not have the time for all of them."""

from pathlib import Path
from typing import Protocol, TypeVar

_DAYS = 4


class Collected(Protocol):
    """What pytest collects."""

    path: Path


_Test = TypeVar("_Test", bound=Collected)


def begin_elsewhere(items: list[_Test], day: int) -> None:
    """Begin with another file each day, so that it is not always the same tests that come late.

    Args:
        items: file after file; put into another order.
        day: a number that grows by one each day; after about four the same file is first again.
    """
    files = list(dict.fromkeys(item.path for item in items))
    first = files[day * (len(files) // _DAYS + 1) % len(files)]
    at = next(number for number, item in enumerate(items) if item.path == first)
    items[:] = items[at:] + items[:at]
