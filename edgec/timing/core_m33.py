"""Cortex-M33: three stages in order, loads and ALU results early, a little dual issue.

Arm documents the pipeline in words only (DDI 100230, section 1.1: in-order, three stages, limited
dual issue of common 16-bit pairs) and no cycles.  The rules are measurements on RP2350
(Cortex-M33 r1p0) with zero wait states, published at github.com/jnk0le/random, "pipeline cycle
test/doc/cortex_m33.md".  What neither tells is marked *assumed*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.target.cores import Fpu
from edgec.timing.core_model import InOrderModel, Result, divide_between, is_taken
from edgec.timing.core_vfp import fp_cycles
from edgec.timing.decode import Branch, Instruction
from edgec.timing.decode_kinds import FP_KINDS, LOADS, MULTIPLIES, STORES, Kind

_ERROR = (
    "Arm publishes no cycle table: rules are measurements on one chip (RP2350) and, for returns, "
    "indirect branches, SIMD latency, divides and most of the FPU, assumptions. Not modelled: "
    "alignment of branch targets, fetch bandwidth, bus contention. Instructions skipped in an IT "
    "block are priced as executed. Not checked on silicon by us."
)

_TWO_STAGES = (
    *(Kind.EXTEND_ADD, Kind.PACK, Kind.SIMD, Kind.SATURATE, Kind.SATURATING_ADD),
    *MULTIPLIES,
)
_FOLDED = (Kind.IF_THEN, Kind.HINT)
_TAKEN = 2
_RETURN_EXTRA = 2
_TABLE_BRANCH = 4
_FUSED_BLOCK = 2


@dataclass(frozen=True, slots=True)
class CortexM33Model(InOrderModel):
    """Cycles of Armv8-M Mainline instructions on Cortex-M33."""

    def cost(
        self, instructions: Sequence[Instruction], taken: bool, target: Instruction | None = None
    ) -> int:
        """See `CoreModel.cost`; `target` does not matter.

        IT, NOP and branches fold onto a 16-bit instruction before them that is not itself the
        second of a pair; other pairs never issue together.
        """
        results: dict[int, Result] = {}
        free = 0  # first cycle that can still issue an instruction
        fp_free = 0
        partner: Instruction | None = None
        for instruction in instructions:
            self.check(instruction)
            if instruction.branch is not Branch.NONE:
                return self._finish(instruction, partner, is_taken(instruction, taken), free)
            folds = partner is not None and instruction.is_16_bit
            if folds and instruction.kind in _FOLDED:
                partner = None
                continue
            issue = max(free, self.earliest(instruction, results))
            if instruction.kind in FP_KINDS:
                issue = max(issue, fp_free)
            self.retire(instruction, issue, results)
            free = issue + _occupied(instruction)
            if instruction.kind is Kind.FP_MULTIPLY_ADD:
                fp_free = free + _FUSED_BLOCK
            partner = instruction if instruction.is_16_bit else None
        return free

    def divide_cycles(self, bits: int) -> int:
        """2 to 11, by leading zeros; steps in between: `divide_between`.

        Assumed: the range of Arm's product overview; the manual tells none.
        """
        return divide_between(2, 11, bits)

    def latency(self, instruction: Instruction, register: int) -> int:
        """Cycles until an ALU operation can read `register`.

        1 after one stage; 2 for loads, multiplies, extend-and-add and shifted operands or
        constants.  Assumed: 2 for SIMD and saturation, 1 for an updated base.
        """
        kind = instruction.kind
        if instruction.memory is not None and register == instruction.memory.base:
            updates = instruction.memory.writes_base and register not in _loaded(instruction)
            return 1 if updates else 2
        if kind in LOADS:
            return max(2, _occupied(instruction) + 1)
        if kind in FP_KINDS:
            # Assumed: as on Cortex-M4, one cycle more for a result that is needed at once.
            return 3 if kind is Kind.FP_MULTIPLY_ADD else _occupied(instruction) + 1
        if kind is Kind.DIVIDE:
            return 0  # all of it is in `divide_cycles`
        is_shifted = kind is Kind.ALU and instruction.has_shift
        return 2 if kind in _TWO_STAGES or is_shifted else 1

    def wait(self, reader: Instruction, register: int, result: Result) -> int:
        """Addends and stored data are needed a stage later.

        An addend takes a result of the second stage at once, and a load's where it is added to a
        product; a store takes any.  FP multiply-add has no such path.
        """
        if register in reader.address_registers or result.maker.kind in FP_KINDS:
            return 0
        if register in reader.stored:
            return -1
        if register in reader.addends:
            if result.maker.kind in LOADS:
                return -1 if reader.kind in MULTIPLIES else 0
            is_late = self.latency(result.maker, register) == 2
            return -1 if is_late else 0
        return 0

    def _finish(
        self, branch: Instruction, partner: Instruction | None, goes: bool, free: int
    ) -> int:
        """The block's cycles with its branch.

        A 16-bit branch folds onto a 16-bit instruction: not taken 0; taken 1, unless that
        instruction makes the condition.  Otherwise not taken 1, taken 2.  Assumed: the same for
        addresses in registers; one cycle a word + 2 for returns from memory; 4 for TBB and TBH.
        """
        if branch.branch is Branch.TABLE:
            return free + _TABLE_BRANCH
        folds = partner is not None and branch.is_16_bit
        if not goes:
            return free + (0 if folds else 1)
        if branch.branch is Branch.LOADED:
            return free + branch.words + _RETURN_EXTRA
        makes = partner is not None and bool(partner.writes & branch.reads)
        return free + (1 if folds and not makes else _TAKEN)


def _occupied(instruction: Instruction) -> int:
    """Cycles before the next instruction can issue.

    Pairs 2, lists one a register; MULS (16 bits) and constants that are rotated and set flags
    2, MOVS apart.
    """
    kind = instruction.kind
    if kind is Kind.DIVIDE:
        return 0  # counted by `divide_cycles`
    if kind in LOADS or kind in STORES:
        return max(1, instruction.words)
    if kind is Kind.FP_MULTIPLY_ADD:
        return 1
    if kind in FP_KINDS:
        return fp_cycles(instruction, None)
    if kind is Kind.MULTIPLY and instruction.sets_flags:
        return 2
    is_constant = kind is Kind.ALU and instruction.has_shift and not instruction.early
    is_slow = is_constant and instruction.sets_flags and instruction.name not in ("mov", "movs")
    return 2 if is_slow else 1


def _loaded(instruction: Instruction) -> frozenset[int]:
    """Registers written with what was loaded, when the base may be one of them."""
    if instruction.memory is None or instruction.kind not in LOADS:
        return frozenset()
    return frozenset() if instruction.memory.writes_base else instruction.writes


def cortex_m33(fpu: Fpu) -> CortexM33Model:
    """Cortex-M33, with or without the single-precision FPU."""
    return CortexM33Model(
        name="Arm Cortex-M33" if fpu is Fpu.NONE else "Arm Cortex-M33 with FPU",
        sources=(
            "Arm 100230 (Cortex-M33 TRM), section 1.1: pipeline in words",
            'github.com/jnk0le/random, "pipeline cycle test": measured on RP2350',
            "Arm DDI 0439B, table 7-1, for the FPU where nothing else is known",
        ),
        known_error=_ERROR,
        fpu=fpu,
    )
