"""Progress reports of long work: the current step, and the part that is finished."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A function that is told what is being done, and how much of it is finished."""

    def __call__(self, text: str, done: int = 0, total: int = 0) -> None:
        """Say that `text` is being done; `done` of `total` pieces are finished (0: not known)."""


def no_progress(text: str, done: int = 0, total: int = 0) -> None:
    """A `Progress` that nobody watches."""
