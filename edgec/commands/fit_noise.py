"""Noise of choices of `compile --fit`: what int8 codes add, scaled to what was measured.

What the int8 codes of each tensor add is measured alone.  Measurements of whole choices then scale
the tensors until all of them are met as well as can be, by iterative proportional fitting (Deming
and Stephan, Annals of Mathematical Statistics 11 (1940)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from edgec.fit.problem import State
from edgec.quant.precision.goal import Space

_FARTHEST = 4.0
"""A tensor's noise in a whole choice is at most this many times that alone, or a part of it."""
_SWEEPS = 10


class Noises:
    """Noises of one network; `floor` and `singles` add up to that of a choice."""

    def __init__(self, space: Space | None) -> None:
        """Measure the tensors.

        Args:
            space: tensors that could have int16 codes; None: none can.
        """
        self._space = space
        self._names = () if space is None else space.names
        alone = () if space is None else space.added()
        self._alone = dict(zip(self._names, alone, strict=True))
        self.floor = 0.0 if space is None else space.noise(self._names)
        self.int8 = math.nan if space is None else space.noise(())
        self._scales = dict.fromkeys(self._names, 1.0)
        self._scaled = 0  # measurements that the scales meet
        self._measured: dict[State, float] = {}

    @property
    def singles(self) -> Mapping[str, float]:
        """Noise that the int8 codes of each tensor add."""
        if self._scaled < len(self._measured):
            self._fit()
        return {name: self._scales[name] * noise for name, noise in self._alone.items()}

    def known(self, chosen: State) -> bool:
        """Whether the noise of a choice was measured, or nobody can measure any."""
        return self._space is None or not chosen or chosen in self._measured

    def measured(self, chosen: State) -> float:
        """Noise of a choice, measured, and learned from; NaN where nobody can."""
        if self._space is None:
            return math.nan
        if not chosen:
            return self.int8
        if chosen not in self._measured:
            names = [name for name in self._names if name in chosen]
            self._measured[chosen] = self._space.noise(names)
        return self._measured[chosen]

    def _fit(self) -> None:
        self._scaled = len(self._measured)
        self._scales = dict.fromkeys(self._names, 1.0)
        for _ in range(_SWEEPS):
            for chosen, noise in self._measured.items():
                others = [name for name in self._names if name not in chosen]
                added = math.fsum(self._scales[name] * self._alone[name] for name in others)
                if added <= 0.0 or noise <= self.floor:
                    continue
                for name in others:
                    scale = self._scales[name] * (noise - self.floor) / added
                    self._scales[name] = min(max(scale, 1.0 / _FARTHEST), _FARTHEST)
