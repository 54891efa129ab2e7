"""Cortex-M7: six stages, two instructions a cycle in order, branch prediction.

Arm's manual (DDI 0489F) describes the pipeline but gives no cycles.  The rules are Arm's own
scheduling model in LLVM (llvm/lib/Target/ARM/ARMScheduleM7.td: units, stages, single issue) and
measurements on STM32H743 with caches, published at github.com/jnk0le/random, "pipeline cycle
test/doc/cortex_m7.md"; each rule says which.  Issue is counted in the stage of the ALUs: a result
of latency 1 is ready for any ALU in the next cycle.

Branch prediction (assumed): the branch target cache and predictor know all branches, so that a
branch costs its issue slot alone, but for a loop's last pass (a conditional branch backwards
that is not taken) and for table branches, which are mispredicted.

Execution units of Cortex-M7 that an instruction occupies, and rules of dual issue.

Sources: LLVM (llvm/lib/Target/ARM/ARMScheduleM7.td) and measurements on STM32H743
(github.com/jnk0le/random, "pipeline cycle test/doc/cortex_m7.md").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.target.cores import Fpu
from edgec.timing.core_model import InOrderModel, Result, divide_between
from edgec.timing.decode import FLAGS, Branch, Instruction
from edgec.timing.decode_kinds import FP_KINDS, LOADS, MULTIPLIES, Kind

_NONE: frozenset[str] = frozenset()
_SHIFT = frozenset({"shift"})
_SIMD = frozenset({"simd"})
_SHIFT_SIMD = _SHIFT | _SIMD
_MAC_OR_STORE = frozenset({"mac or store"})
_FP_PORT = frozenset({"fp port"})

# There are two ALUs, so that plain data operations occupy nothing that could run short.
_UNITS: dict[Kind, frozenset[str]] = {
    **dict.fromkeys(
        (Kind.BITFIELD, Kind.REVERSE, Kind.PACK, Kind.EXTEND_ADD, Kind.SATURATE), _SHIFT_SIMD
    ),
    **dict.fromkeys((Kind.EXTEND, Kind.SIMD, Kind.COUNT, Kind.SATURATING_ADD), _SIMD),
    **dict.fromkeys(
        (
            *(Kind.MULTIPLY, Kind.MULTIPLY_ADD, Kind.LONG_MULTIPLY, Kind.LONG_MULTIPLY_ADD),
            Kind.STORE,
        ),
        _MAC_OR_STORE,
    ),
    **dict.fromkeys((Kind.LOAD, Kind.LOAD_EXCLUSIVE, Kind.PRELOAD), frozenset({"load"})),
    Kind.BRANCH: frozenset({"branch"}),
    **dict.fromkeys(
        (Kind.FP_ARITHMETIC, Kind.FP_MULTIPLY, Kind.FP_DIVIDE, Kind.FP_ROOT, Kind.FP_COMPARE),
        frozenset({"fp"}),
    ),
    Kind.FP_MULTIPLY_ADD: frozenset({"fp", "fp port"}),
    **dict.fromkeys((Kind.FP_MOVE, Kind.FP_HALF_MOVE, Kind.FP_CORE_MOVE), _FP_PORT),
    Kind.FP_LOAD: _FP_PORT | {"load"},
    Kind.FP_STORE: _FP_PORT | _MAC_OR_STORE,
}

_ALONE = frozenset(
    {
        *(Kind.DIVIDE, Kind.LOAD_DOUBLE, Kind.STORE_DOUBLE, Kind.LOAD_MULTIPLE),
        *(Kind.STORE_MULTIPLE, Kind.STORE_EXCLUSIVE, Kind.TABLE_BRANCH, Kind.STATUS),
        *(Kind.DATA_BARRIER, Kind.INSTRUCTION_BARRIER, Kind.FP_STATUS),
        *(Kind.FP_LOAD_MULTIPLE, Kind.FP_STORE_MULTIPLE),
    }
)

_OCCUPIED = {
    Kind.DIVIDE: 0,  # counted by `divide_cycles`
    Kind.TABLE_BRANCH: 2,
    Kind.STATUS: 3,
    Kind.DATA_BARRIER: 3,
    Kind.INSTRUCTION_BARRIER: 8,
    Kind.FP_DIVIDE: 16,
    Kind.FP_ROOT: 14,
}

_OCCUPIED_DOUBLE = {
    Kind.FP_ARITHMETIC: 2,
    Kind.FP_MULTIPLY: 5,
    Kind.FP_MULTIPLY_ADD: 8,
    Kind.FP_DIVIDE: 30,
    Kind.FP_ROOT: 30,
}

_LISTS = (
    *(Kind.LOAD_MULTIPLE, Kind.STORE_MULTIPLE),
    *(Kind.FP_LOAD_MULTIPLE, Kind.FP_STORE_MULTIPLE),
)


def units(instruction: Instruction) -> frozenset[str]:
    """Units of which there is one (LLVM; multiplier against stores: measured)."""
    if instruction.kind is Kind.ALU:
        return _SHIFT if instruction.has_shift else _NONE
    return _UNITS.get(instruction.kind, _NONE)


def is_alone(instruction: Instruction) -> bool:
    """True for an instruction that never issues together with another one (LLVM: SingleIssue)."""
    if instruction.kind in (Kind.FP_LOAD, Kind.FP_STORE):
        return instruction.is_double
    if instruction.kind is Kind.FP_CORE_MOVE:
        return len(instruction.writes) > 1 or len(instruction.reads) > 1
    return instruction.kind in _ALONE


def is_first_only(instruction: Instruction) -> bool:
    """True for what can only be the older of two that issue together.

    Source: LLVM (BeginGroup); measured: bit fields, SIMD, double precision.
    """
    is_double = instruction.is_double and instruction.kind in _OCCUPIED_DOUBLE
    return "simd" in units(instruction) or is_double


def occupied(instruction: Instruction) -> int:
    """Cycles in which no later instruction issues.

    Lists move two registers a cycle.  Dividers and double precision hold the pipeline (measured;
    LLVM's latencies for double-precision sums of equal exponents are shorter).
    """
    kind = instruction.kind
    if kind in _LISTS:
        return max(1, -(-instruction.words // 2))
    if instruction.is_double and kind in _OCCUPIED_DOUBLE:
        return _OCCUPIED_DOUBLE[kind]
    return _OCCUPIED.get(kind, 1)


_ERROR = (
    "Arm publishes no cycle table: rules are Arm's scheduling model in LLVM and measurements on "
    "one chip (STM32H743). Optimistic: forward branches and returns are always predicted, "
    "misaligned code never starves the decoder. Pessimistic: results of the early ALU are not "
    "forwarded within a cycle, loads pair only if their banks are seen to differ, blocks start "
    "on a fresh cycle. Not modelled: full store buffers, unaligned accesses. Not checked on "
    "silicon by us."
)

_MISPREDICTED = 8
_MISPREDICTED_EARLY_FLAGS = 6
_EARLY_FLAGS = 3
_LATE_RESULT = (*MULTIPLIES, Kind.SATURATE, Kind.SATURATING_ADD)


@dataclass(slots=True)
class _Group:
    """Instructions that issue in one cycle."""

    cycle: int
    members: list[Instruction]

    @property
    def end(self) -> int:
        """First cycle after the group."""
        return self.cycle + max((occupied(member) for member in self.members), default=0)


@dataclass(frozen=True, slots=True)
class CortexM7Model(InOrderModel):
    """Cycles of Armv7E-M instructions on Cortex-M7."""

    def cost(
        self, instructions: Sequence[Instruction], taken: bool, target: Instruction | None = None
    ) -> int:
        """See `CoreModel.cost`; `target` does not matter."""
        results: dict[int, Result] = {}
        group = _Group(0, [])
        flags_cycle = -_EARLY_FLAGS
        for instruction in instructions:
            self.check(instruction)
            ready = 0 if _is_predicted(instruction) else self.earliest(instruction, results)
            if not _joins(group, instruction) or ready > group.cycle:
                group = _Group(max(group.end, ready), [])
            group.members.append(instruction)
            self.retire(instruction, group.cycle, results)
            if instruction.sets_flags:
                flags_cycle = group.cycle
        return group.end + _penalty(instructions[-1], taken, group.cycle - flags_cycle)

    def divide_cycles(self, bits: int) -> int:
        """2 to 12, by leading zeros; steps in between: `divide_between`; nothing issues meanwhile.

        Assumed: the range of Cortex-M3 and M4; LLVM has single issue and 7 cycles for all.
        """
        return divide_between(2, 12, bits)

    def latency(self, instruction: Instruction, register: int) -> int:
        """Cycles until an ALU can read `register`.

        ALU, shifts, bit fields, SIMD 1; multiplies, saturation and USAD8 2; flags of a shifted
        comparison 2; loads of words 1, of bytes and halfwords 2; an updated base 0 (bypassed out
        of address generation).  FPU: 3; VFMA 5, VMLA 6; VLDR 1; to a core register 1.
        Source: LLVM, and for FPU results also the measurements.
        """
        kind, memory = instruction.kind, instruction.memory
        if memory is not None and memory.writes_base and register == memory.base:
            return 0
        if kind in LOADS:
            return max(occupied(instruction), 1 if instruction.is_word else 2)
        if kind in FP_KINDS:
            return _fp_latency(instruction)
        if kind in (Kind.STATUS, Kind.DIVIDE):
            return occupied(instruction)  # of a divide all is in `divide_cycles`
        is_late_flag = register == FLAGS and kind is Kind.ALU and bool(instruction.early)
        is_late = kind in _LATE_RESULT or instruction.name.startswith("usad")
        return 2 if is_late or is_late_flag else 1

    def wait(self, reader: Instruction, register: int, result: Result) -> int:
        """Stages in which operands are read, relative to the ALU.

        Addresses and shifted operands one earlier, addends of products one later, stored data
        two later (LLVM: EX1, EX3; measured: stores take any result of the same cycle).  A product
        cannot use a word loaded in the cycle before (measured).
        """
        if register in reader.early or register in reader.address_registers:
            return 1
        if register in reader.stored:
            return -2
        if reader.kind is Kind.FP_MULTIPLY_ADD and register in reader.addends:
            return _fp_addend_wait(result.maker)
        if reader.kind in MULTIPLIES:
            if register in reader.addends:
                return -1
            return 1 if result.maker.kind is Kind.LOAD and result.maker.is_word else 0
        return 0


def _joins(group: _Group, instruction: Instruction) -> bool:
    """Whether an instruction may issue in the cycle of the group, operands apart."""
    if not group.members:
        return True
    first = group.members[0]
    if len(group.members) > 1 or is_alone(first) or is_alone(instruction):
        return False
    if is_first_only(instruction):
        return False
    shared = units(first) & units(instruction)
    return not shared or (shared == {"load"} and _other_bank(first, instruction))


def _other_bank(first: Instruction, second: Instruction) -> bool:
    """Two loads whose addresses surely differ in the bit that selects the bank of words.

    Source: measured: two loads issue together if each goes to another bank (even, odd words).
    """
    a, b = first.memory, second.memory
    if a is None or b is None or a.base != b.base or a.writes_base:
        return False
    return a.index is None and b.index is None and (b.offset - a.offset) % 8 == 4


def _is_predicted(instruction: Instruction) -> bool:
    """Branches do not wait for their condition or address."""
    return instruction.branch in (Branch.DIRECT, Branch.REGISTER)


def _penalty(last: Instruction, taken: bool, flags_age: int) -> int:
    """Cycles lost by a wrong prediction: 8, or 6 with flags set at least 3 cycles before.

    Source: measured.  Which branches are mispredicted: see the module.
    """
    if last.branch is Branch.TABLE:
        return _MISPREDICTED
    is_loop = last.target is not None and last.target <= last.address
    if not (is_loop and last.is_conditional) or taken:
        return 0
    return _MISPREDICTED_EARLY_FLAGS if flags_age >= _EARLY_FLAGS else _MISPREDICTED


def _fp_latency(instruction: Instruction) -> int:
    kind = instruction.kind
    if kind is Kind.FP_MULTIPLY_ADD:
        return occupied(instruction) + (4 if "f" in instruction.name[:3] else 5)
    if kind in (Kind.FP_COMPARE, Kind.FP_STATUS):
        return 1
    to_core = kind is Kind.FP_CORE_MOVE and all(register < 16 for register in instruction.writes)
    return 1 if to_core else occupied(instruction) + 2


def _fp_addend_wait(maker: Instruction) -> int:
    """VFMA and VMLA need their addend 2 or 3 later than factors; a loaded addend takes 3 in all."""
    if maker.kind is Kind.FP_MULTIPLY_ADD:
        return -2 if "f" in maker.name[:3] else -3
    return 2 if maker.kind in LOADS else 0


def cortex_m7(fpu: Fpu) -> CortexM7Model:
    """Cortex-M7 with the DSP extension, with or without an FPU."""
    return CortexM7Model(
        name="Arm Cortex-M7" if fpu is Fpu.NONE else "Arm Cortex-M7 with FPU",
        sources=(
            "Arm DDI 0489F, sections 1.1 and 2.1: pipeline in words",
            "llvm/lib/Target/ARM/ARMScheduleM7.td (LLVM 19): units, stages, single issue",
            'github.com/jnk0le/random, "pipeline cycle test": measured on STM32H743',
        ),
        known_error=_ERROR,
        fpu=fpu,
    )
