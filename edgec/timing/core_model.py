"""Interface of every core's cycle model, and the rules that several cores share.

All models price one pass through one basic block with memory that answers at once.  A block is
priced alone:  nothing is known of the code before it (no load to pipeline with, no register
still on its way, no instruction to fold an IT onto), and what is on its way at its end costs
nothing.  A data-dependent divide is left out of a block and priced by `divide_cycles`.

In-order issue with results that take time: what the models of Cortex-M7 and M33 share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.errors import SimulationError
from edgec.target.cores import Fpu
from edgec.timing.decode import Instruction
from edgec.timing.decode_kinds import FP_KINDS, Kind

_MOVES = (
    *(Kind.FP_LOAD, Kind.FP_STORE, Kind.FP_LOAD_MULTIPLE, Kind.FP_STORE_MULTIPLE),
    *(Kind.FP_HALF_MOVE, Kind.FP_CORE_MOVE),
)


@dataclass(frozen=True, slots=True)
class CoreModel(ABC):
    """Cycle model of a core.

    Attributes:
        name: the core in words.
        sources: documents the rules come from.
        known_error: what is not modelled, and how far estimates can be from the truth.
        fpu: its floating-point unit.
    """

    name: str
    sources: tuple[str, ...]
    known_error: str
    fpu: Fpu

    @abstractmethod
    def cost(
        self, instructions: Sequence[Instruction], taken: bool, target: Instruction | None = None
    ) -> int:
        """Cycles of one pass through a block, divides left out.

        Args:
            instructions: all of the block, in order.
            taken: the branch at its end goes elsewhere than to the next address; an unconditional
                branch counts as taken in any case.
            target: first instruction of the block that runs next, if known: its width and
                alignment decide on the refill of the pipeline of Cortex-M3 and M4.

        Raises:
            SimulationError: an instruction that this core cannot execute.
        """

    @abstractmethod
    def divide_cycles(self, bits: int) -> int:
        """Cycles of UDIV or SDIV.

        Args:
            bits: bit length of the quotient's magnitude, 0 to 32; 0 for a division by zero.
        """

    def check(self, instruction: Instruction) -> None:
        """Refuse what cannot be priced.

        Raises:
            SimulationError: with the instruction's text and address.
        """
        if instruction.kind is Kind.TRAP:
            raise refusal(instruction, "an exception has no cycle model")
        if instruction.kind not in FP_KINDS:
            return
        if self.fpu is Fpu.NONE:
            raise refusal(instruction, f"{self.name} has no floating-point unit")
        computes = instruction.kind not in _MOVES
        if self.fpu is Fpu.SINGLE and instruction.is_double and computes:
            raise refusal(instruction, "the floating-point unit is single-precision")


def refusal(instruction: Instruction, why: str) -> SimulationError:
    """The error for an instruction that cannot be priced."""
    return SimulationError(
        f"cannot price the instruction {instruction.text!r}: {why}",
        where=f"{instruction.address:#010x}",
    )


def is_taken(instruction: Instruction, taken: bool) -> bool:
    """Whether this instruction, the last of its block, branches."""
    return taken or not instruction.is_conditional


def divide_between(least: int, most: int, bits: int) -> int:
    """Cycles of a divider with early termination.

    The manuals give the limits and say that leading zeros (ones) of the operands decide; the steps
    in between are not published, so they are spread evenly over the quotient's bits.
    """
    return least + -(-(most - least) * min(bits, 32) // 32)


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
