"""The average of parameters over the last steps of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

_LEAST_SHARE = 0.002
"""A step's share of the average once it is an exponential one."""


class Average:
    """Averages tensors; meaningful once the indices are frozen.

    Attributes:
        count: steps averaged so far.
        values: the averages; empty before the first step.
    """

    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        self._parameters = list(parameters)
        self.count = 0
        self.values: list[torch.Tensor] = []

    def update(self) -> None:
        """Take the parameters of a step in."""
        self.count += 1
        current = [parameter.detach() for parameter in self._parameters]
        if self.count == 1:
            self.values = [value.clone() for value in current]
            return
        share = max(_LEAST_SHARE, 1 / self.count)
        for value, new in zip(self.values, current, strict=True):
            value.lerp_(new, share)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Lets the parameters be their averages for a while."""
        if not self.values:
            yield
            return
        own = [parameter.detach().clone() for parameter in self._parameters]
        self._set(self.values)
        try:
            yield
        finally:
            self._set(own)

    def state(self) -> dict[str, int | list[torch.Tensor]]:
        """The state that a checkpoint holds."""
        return {"count": self.count, "values": self.values}

    def restore(self, count: int, values: Sequence[torch.Tensor]) -> None:
        """Take up the state of a checkpoint."""
        self.count, self.values = count, list(values)

    def _set(self, values: Sequence[torch.Tensor]) -> None:
        with torch.no_grad():
            for parameter, value in zip(self._parameters, values, strict=True):
                parameter.copy_(value)
