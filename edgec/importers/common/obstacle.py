"""What stands in the way of an operator."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why an operator is not supported, and what to do."""

    reason: str
    remedy: str
