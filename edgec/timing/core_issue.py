"""In-order issue with results that take time: what the models of Cortex-M7 and M33 share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from edgec.timing.core_model import CoreModel
from edgec.timing.decode import Instruction


@dataclass(frozen=True, slots=True)
class Result:
    """A register's new value, which is not ready yet.

    Attributes:
        ready: first cycle in which an ordinary data operation that reads it may issue.
        maker: the instruction that computes it.
    """

    ready: int
    maker: Instruction


@dataclass(frozen=True, slots=True)
class InOrderModel(CoreModel, ABC):
    """A core whose instructions wait in order until their operands are ready."""

    @abstractmethod
    def latency(self, instruction: Instruction, register: int) -> int:
        """Cycles from issue until an ordinary data operation can read `register`."""

    @abstractmethod
    def wait(self, reader: Instruction, register: int, result: Result) -> int:
        """Cycles by which `reader` needs the register later (negative) or earlier (positive)."""

    def earliest(self, reader: Instruction, results: dict[int, Result]) -> int:
        """First cycle in which the operands of `reader` are ready."""
        return max(
            (
                results[register].ready + self.wait(reader, register, results[register])
                for register in reader.reads
                if register in results
            ),
            default=0,
        )

    def retire(self, instruction: Instruction, cycle: int, results: dict[int, Result]) -> None:
        """Note the results of an instruction that issues in `cycle`."""
        for register in instruction.writes:
            ready = cycle + self.latency(instruction, register)
            results[register] = Result(ready, instruction)
