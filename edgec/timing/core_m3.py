"""Cortex-M3 and Cortex-M4: three stages, one instruction at a time, pipelined loads.

Source of every rule unless named otherwise: Arm DDI 0337I (Cortex-M3) and DDI 0439B (Cortex-M4),
section 3.3.1 "table of processor instructions" and section 3.3.2 "load/store timings".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.target.cores import Fpu
from edgec.timing.core_model import CoreModel, divide_between, is_taken
from edgec.timing.core_vfp import fp_cycles
from edgec.timing.decode import Branch, Instruction
from edgec.timing.decode_kinds import FP_KINDS, LOADS, STORES, Kind

_ERROR = (
    "Not modelled: accesses that are not aligned, bus contention (an instruction fetch or DMA to "
    "the same memory), literal loads that meet a fetch, loads that pipeline across a block's "
    "border. Instructions skipped in an IT block are priced as executed. Tables of this kind "
    "agreed with published board figures to about 15 %; not checked on silicon by us."
)

# Cycles that do not depend on neighbours: everything else costs 1.
_FIXED = {
    Kind.DIVIDE: 0,  # counted by `divide_cycles`
    Kind.STATUS: 2,  # "1 or 2"
    Kind.DATA_BARRIER: 1,  # 1 + B, B at least 0
    Kind.INSTRUCTION_BARRIER: 4,  # 1 + B, B at least a refill of the pipeline
}

_SINGLE = (Kind.LOAD, Kind.LOAD_EXCLUSIVE, Kind.STORE, Kind.STORE_EXCLUSIVE)
_WORST_REFILL = 3
_LR = 14
_TABLE_BRANCH = 6


@dataclass(frozen=True, slots=True)
class ArmV7MModel(CoreModel):
    """Cycles of Armv7-M instructions on a three-stage pipeline.

    Attributes:
        multiply_add: MLA, MLS.
        long_multiply: SMULL, UMULL.
        long_multiply_add: SMLAL, UMLAL.
        chains_updates: loads and stores that update their base pipeline like others.
    """

    multiply_add: int
    long_multiply: int
    long_multiply_add: int
    chains_updates: bool

    def cost(
        self, instructions: Sequence[Instruction], taken: bool, target: Instruction | None = None
    ) -> int:
        """See `CoreModel.cost`.

        Without `target`, a branch to the block's own start has the width of its first
        instruction, and any other target is taken to be one that one fetch gives whole.
        """
        total = 0
        before: Instruction | None = None
        following = [*instructions[1:], None]
        for instruction, after in zip(instructions, following, strict=True):
            self.check(instruction)
            if instruction.branch is Branch.NONE:
                total += self._straight(instruction, before, after)
            else:
                known = target or _own_start(instructions, instruction)
                total += self._branch(instruction, before, taken, known)
            before = instruction
        return total

    def divide_cycles(self, bits: int) -> int:
        """2 to 12, by leading zeros.

        Source: DDI 0337I and 0439B, table of processor instructions, note on division; steps
        in between: `divide_between`.
        """
        return divide_between(2, 12, bits)

    def _straight(
        self, instruction: Instruction, before: Instruction | None, after: Instruction | None
    ) -> int:
        kind = instruction.kind
        if kind is Kind.IF_THEN:
            return if_then_cycles(before)
        if kind in FP_KINDS:
            return fp_cycles(instruction, after) + _address_stall(instruction, before)
        if kind in LOADS or kind in STORES:
            return self._transfer(instruction, before) + _address_stall(instruction, before)
        if kind is Kind.MULTIPLY_ADD:
            return self.multiply_add
        if kind is Kind.LONG_MULTIPLY:
            return self.long_multiply
        if kind is Kind.LONG_MULTIPLY_ADD:
            return self.long_multiply_add
        return _FIXED.get(kind, 1)

    def _transfer(self, instruction: Instruction, before: Instruction | None) -> int:
        """Integer loads and stores, without stalls.

        One load or store: 2, or 1 after a load whose result it does not need for its address.
        A store with an immediate offset: 1 anywhere.  Nothing pipelines after a store, and
        pairs and lists (1 + N) pipeline with nothing.
        """
        if instruction.kind not in _SINGLE:
            return 1 + instruction.words
        if instruction.kind is Kind.STORE and not _has_index(instruction):
            is_late = _updates(instruction) and not self.chains_updates
            return 2 if is_late and before is not None and before.kind is Kind.LOAD else 1
        return 1 if self._pipelines(instruction, before) else 2

    def _pipelines(self, instruction: Instruction, before: Instruction | None) -> bool:
        """Whether its first cycle is hidden by the load before it.

        On Cortex-M3 a load that updates its base is never hidden; on both cores an updated base
        is not ready for the next address.  A store that updates its base takes 2 after a load
        on Cortex-M3.
        Source: DDI 0337I and 0439B, 3.3.2; on base updates measurements on STM32F103 and
        STM32F407, github.com/jnk0le/random, "pipeline cycle test/doc/cortex_m3m4.md".
        """
        if before is None or before.kind not in (Kind.LOAD, Kind.LOAD_EXCLUSIVE):
            return False
        if _updates(instruction) and not self.chains_updates:
            return False
        return not before.writes & instruction.address_registers

    def _branch(
        self,
        instruction: Instruction,
        before: Instruction | None,
        taken: bool,
        target: Instruction | None,
    ) -> int:
        """1 not taken; 1 + P taken; loads to PC the load + P; TBB and TBH 6.

        P, the refill of the pipeline, is 1 to 3 "depending on the alignment and width of the
        target instruction, and whether the processor manages to speculate the address early".
        Read as: what `_refill` says, and one more for a 32-bit target that is not word-aligned,
        whose halves two fetches bring.
        """
        if instruction.branch is Branch.TABLE:
            return _TABLE_BRANCH
        if not is_taken(instruction, taken):
            return 1
        refill = _refill(instruction, before)
        if target is not None and not target.is_16_bit and target.address % 4:
            refill = min(refill + 1, _WORST_REFILL)
        if instruction.branch is Branch.LOADED:
            load = self._transfer(instruction, before)
            return load + _address_stall(instruction, before) + refill
        return 1 + refill


def _refill(instruction: Instruction, before: Instruction | None) -> int:
    """P by the stage that issues the target: decode 1, execute 2, a load to PC 3.

    Source: DDI 0337G, table 15-3: decode for B, BL, and for BX, BLX and MOV PC from an LR that
    is not just being written; execute for all others, CBZ and CBNZ among them; section 3.3.2 of
    DDI 0337I: loads to PC take "three cycles for the pipeline reload".
    """
    if instruction.branch is Branch.LOADED:
        return 3
    if instruction.branch is Branch.DIRECT:
        return 2 if instruction.name in ("cbz", "cbnz") else 1
    is_written = before is not None and _LR in before.writes
    is_move = instruction.name in ("bx", "blx", "mov")
    return 1 if is_move and _LR in instruction.reads and not is_written else 2


def if_then_cycles(before: Instruction | None) -> int:
    """IT: 0, folded onto a 16-bit instruction before it, else 1.

    Source: DDI 0337I and 0439B, table of processor instructions, note on IT: it can be folded
    onto a preceding 16-bit instruction.  The conditions that prevent it are not published.
    """
    return 0 if before is not None and before.is_16_bit else 1


def _has_index(instruction: Instruction) -> bool:
    return instruction.memory is not None and instruction.memory.index is not None


def _updates(instruction: Instruction) -> bool:
    return instruction.memory is not None and instruction.memory.writes_base


def _address_stall(instruction: Instruction, before: Instruction | None) -> int:
    """1 when an address needs the result of the data operation before.

    Source: DDI 0337I and 0439B, 3.3.2: "there is no forwarding path for this scenario".
    """
    if before is None or before.kind in LOADS or before.kind in STORES:
        return 0
    return 1 if before.writes & instruction.address_registers else 0


def _own_start(instructions: Sequence[Instruction], instruction: Instruction) -> Instruction | None:
    return instructions[0] if instruction.target == instructions[0].address else None


def cortex_m3() -> ArmV7MModel:
    """Cortex-M3: MLA 2; SMULL 3 to 5 and SMLAL 4 to 7 by operand size, priced at the most.

    Source: Arm DDI 0337I, section 3.3.
    """
    return ArmV7MModel(
        name="Arm Cortex-M3",
        sources=(
            "Arm DDI 0337I, sections 3.3.1 and 3.3.2",
            'github.com/jnk0le/random, "pipeline cycle test" (measured), for base updates',
        ),
        known_error=f"Long multiplies are priced at their longest (5 and 7 cycles). {_ERROR}",
        fpu=Fpu.NONE,
        multiply_add=2,
        long_multiply=5,
        long_multiply_add=7,
        chains_updates=False,
    )


def cortex_m4(fpu: Fpu) -> ArmV7MModel:
    """Cortex-M4: all multiplies 1.

    Source: Arm DDI 0439B, section 3.3; FPU: section 7.2.3.
    """
    return ArmV7MModel(
        name="Arm Cortex-M4" if fpu is Fpu.NONE else "Arm Cortex-M4 with FPU",
        sources=(
            "Arm DDI 0439B, sections 3.3.1, 3.3.2 and 7.2.3",
            'github.com/jnk0le/random, "pipeline cycle test" (measured), for base updates',
        ),
        known_error=_ERROR,
        fpu=fpu,
        multiply_add=1,
        long_multiply=1,
        long_multiply_add=1,
        chains_updates=True,
    )
