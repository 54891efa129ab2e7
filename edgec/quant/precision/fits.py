"""A network fitted to samples, ready to get int16 codes: what a choice of precision is made on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from edgec.ir.graph import Graph
from edgec.quant.convert.mixed.context import Codes16
from edgec.quant.precision.candidates import Candidate, Candidates

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

    def integer(self, groups: tuple[Candidate, ...]) -> Graph:
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
