"""Split of calibration samples: those that a network is fitted to, and those that judge the fit.

Scales, the rounding of weights and biases suit the samples that they were found on better than
others, so a figure from these samples promises too much.  The samples are dealt out in parts: each
part judges a fit to all the others, so every sample judges, and none a fit that has seen it.

A network fitted to samples, on which a choice of int16 codes is made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.streams import RESETS
from edgec.ir.graph import Graph
from edgec.quant.convert.codes import Codes16
from edgec.quant.precision.candidates import Candidates
from edgec.quant.scales.groups import Group

LEAST_SAMPLES = 8
"""Least number of samples for a split."""
_FEW, _MANY = 4, 2
"""Parts of few samples (fits use three quarters), and of many (fits use half)."""
_PLENTY = 64


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Calibration samples for two uses; graph input name to [N, ...].

    Attributes:
        fitted: those that a network is fitted to.
        judged: those that it is judged by.
    """

    fitted: Mapping[str, Array]
    judged: Mapping[str, Array]

    @property
    def swapped(self) -> Fold:
        """These samples, each used for the other."""
        return Fold(self.judged, self.fitted)


def folds(data: Mapping[str, Array], parts: int | None = None) -> tuple[Fold, ...]:
    """The uses of the samples, each of which judges once; none for too few samples.

    Steps of a stream that follow one another stay together.

    Args:
        data: graph input name to [N, ...].
        parts: how many; None: by the number of samples.
    """
    count = len(next(iter(data.values())))
    if count < LEAST_SAMPLES:
        return ()
    parts = parts or (_FEW if count < _PLENTY else _MANY)
    place = np.arange(count)
    turns = place * parts // count if RESETS in data else place % parts
    return tuple(Fold(_of(data, turns != part), _of(data, turns == part)) for part in range(parts))


def _of(data: Mapping[str, Array], chosen: Array) -> dict[str, Array]:
    found = {name: array[chosen] for name, array in data.items()}
    if RESETS in data:
        # A part that follows a gap does not go on where the part before it ended.
        gaps = np.diff(np.flatnonzero(chosen), prepend=-2) > 1
        found[RESETS] = found[RESETS] | gaps
    return found


T = TypeVar("T")

Convert = Callable[[Mapping[str, Codes16]], Graph]


@dataclass(frozen=True, slots=True, eq=False)
class Fit(Generic[T]):
    """A network whose scales, weights and biases were found.

    Attributes:
        made: what holds them.
        real: REAL stage that it stands for.
        candidates: the tensors that could have int16 codes.
        convert: makes the integer graph with int16 codes for some values.
    """

    made: T
    real: Graph
    candidates: Candidates
    convert: Convert

    def integer(self, groups: tuple[Group, ...]) -> Graph:
        """The integer graph with int16 codes for some groups, of this fit or of another one.

        Args:
            groups: what is to have int16 codes; what cannot have them here keeps int8 codes.
        """
        codes = self.candidates.codes
        names = [name for group in groups for name in group.members if name in codes]
        return self.convert({name: codes[name] for name in names})


class Fits(ABC, Generic[T]):
    """The fits of a network to the same samples, each found once."""

    @cached_property
    def narrow(self) -> Fit[T]:
        """As for int8 codes everywhere."""
        return self._narrow()

    @cached_property
    def wide(self) -> Fit[T]:
        """As for int16 codes wherever they can be."""
        return self._wide()

    @abstractmethod
    def _narrow(self) -> Fit[T]: ...

    @abstractmethod
    def _wide(self) -> Fit[T]: ...
