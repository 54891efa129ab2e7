"""Noise of choices of `compile --fit`: what int8 codes add, scaled to what was measured.

What the int8 codes of each tensor add is measured alone.  Measurements of whole choices then scale
the tensors until all of them are met as well as can be, by iterative proportional fitting (Deming
and Stephan, Annals of Mathematical Statistics 11 (1940)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from edgec.fit.program.problem import State
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
        self._ways: dict[str, float] = {}
        self._space_of: Callable[[State], Space | None] = lambda _: space

    def offer(self, ways: Mapping[str, float], space_of: Callable[[State], Space | None]) -> None:
        """Let choices have weights of few bits.

        Args:
            ways: noise that those of each layer add, alone, by their names.
            space_of: the tensors of the network with the weights of a choice.
        """
        self._ways, self._space_of = dict(ways), space_of

    @property
    def singles(self) -> Mapping[str, float]:
        """Noise that the int8 codes of each tensor add, and weights of few bits of each layer."""
        if self._scaled < len(self._measured):
            self._fit()
        noises = self._alone | self._ways
        return {name: self._scales.get(name, 1.0) * noise for name, noise in noises.items()}

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
            space = self._space_of(chosen)
            assert space is not None
            names = [name for name in self._names if name in chosen]
            self._measured[chosen] = space.noise(names)
        return self._measured[chosen]

    def _fit(self) -> None:
        self._scaled = len(self._measured)
        alone = self._alone | self._ways
        scales = dict.fromkeys(alone, 1.0)
        for _ in range(_SWEEPS):
            for chosen, noise in self._measured.items():
                floor, parts = self._parts(chosen)
                added = math.fsum(scales[name] * alone[name] for name in parts)
                if added <= 0.0 or noise <= floor:
                    continue
                for name in parts:
                    scale = scales[name] * (noise - floor) / added
                    scales[name] = min(max(scale, 1.0 / _FARTHEST), _FARTHEST)
        self._scales = scales

    def _parts(self, chosen: State) -> tuple[float, list[str]]:
        """Noise that a choice has in any case, and what adds to it.

        A network without int16 codes is fitted for int8 codes alone.
        """
        narrow = [name for name in self._ways if name in chosen]
        if chosen.isdisjoint(self._names):
            return self.int8, narrow
        return self.floor, [name for name in self._names if name not in chosen] + narrow
