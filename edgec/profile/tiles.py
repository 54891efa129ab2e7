"""The figures at the top of a page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tile:
    """One of the figures at the top of the page."""

    name: str
    value: str
    detail: str
