"""Cortex-M0 and Cortex-M0+: one table each, every instruction costs the same anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.target.cores import Fpu
from edgec.timing.core_model import CoreModel, is_taken, refusal
from edgec.timing.decode import Branch, Instruction
from edgec.timing.decode_kinds import Kind

_ERROR = (
    "The manual's table is complete for zero wait states; not modelled: wait states of "
    "peripherals and contention of other bus masters. Not checked on silicon by us."
)


@dataclass(frozen=True, slots=True)
class ArmV6MModel(CoreModel):
    """Cycles of Armv6-M instructions.

    Attributes:
        branch: a taken branch, to an address in the instruction or in a register.
        branch_link: BL.
        return_extra: cycles beyond one a register of POP {..., pc}.
        special: MRS, MSR and barriers.
        multiply: MULS: 1 or 32, chosen by the chip's maker.
    """

    branch: int
    branch_link: int
    return_extra: int
    special: int
    multiply: int

    def cost(
        self, instructions: Sequence[Instruction], taken: bool, target: Instruction | None = None
    ) -> int:
        """See `CoreModel.cost`; `target` does not matter."""
        return sum(self._cycles(instruction, taken) for instruction in instructions)

    def divide_cycles(self, bits: int) -> int:
        """There is no divide instruction: 0 (division is a library function)."""
        return 0

    def _cycles(self, instruction: Instruction, taken: bool) -> int:
        self.check(instruction)
        kind = instruction.kind
        if instruction.branch in (Branch.DIRECT, Branch.REGISTER):
            if instruction.links and instruction.branch is Branch.DIRECT:
                return self.branch_link
            return self.branch if is_taken(instruction, taken) else 1
        if kind in (Kind.LOAD_MULTIPLE, Kind.STORE_MULTIPLE):
            is_return = instruction.branch is Branch.LOADED
            return instruction.words + (self.return_extra if is_return else 1)
        if kind in (Kind.LOAD, Kind.STORE):
            return 2
        if kind is Kind.MULTIPLY:
            return self.multiply
        if kind in (Kind.DATA_BARRIER, Kind.INSTRUCTION_BARRIER) or (
            kind is Kind.STATUS and instruction.name != "cps"
        ):
            return self.special
        if kind in (Kind.ALU, Kind.SHIFT, Kind.EXTEND, Kind.REVERSE, Kind.HINT, Kind.STATUS):
            return 1
        raise refusal(instruction, f"{self.name} does not have it")


def cortex_m0(multiply_cycles: int = 1) -> ArmV6MModel:
    """Cortex-M0: three-stage pipeline.

    Source: Arm DDI 0432C, table 3-1: load and store 2, LDM/STM/PUSH/POP 1 + N, POP with PC 4 + N,
    taken branch 3, BL 4, BX and BLX 3, MRS/MSR/barriers 4, MULS 1 or 32.  nRF51 Series Reference
    Manual, section 2: single-cycle multiplier.
    """
    return ArmV6MModel(
        name="Arm Cortex-M0",
        sources=("Arm DDI 0432C, table 3-1",),
        known_error=_ERROR,
        fpu=Fpu.NONE,
        branch=3,
        branch_link=4,
        return_extra=4,
        special=4,
        multiply=multiply_cycles,
    )


def cortex_m0plus(multiply_cycles: int = 1) -> ArmV6MModel:
    """Cortex-M0+: two-stage pipeline.

    Source: Arm DDI 0484C, table 3-1: load and store 2 (1 only to a single-cycle I/O port),
    LDM/STM/PUSH/POP 1 + N, POP with PC 3 + N, taken branch 2, BL 3, BX and BLX 2,
    MRS/MSR/barriers 3, MULS 1 or 32.  STM32G0 (RM0444, section 1) and RP2040 (datasheet, section
    2.4.1) have the single-cycle multiplier.
    """
    return ArmV6MModel(
        name="Arm Cortex-M0+",
        sources=("Arm DDI 0484C, table 3-1",),
        known_error=_ERROR,
        fpu=Fpu.NONE,
        branch=2,
        branch_link=3,
        return_extra=3,
        special=3,
        multiply=multiply_cycles,
    )
