"""Cortex-M7: what an instruction occupies, and with what it can issue together.

Sources: LLVM (llvm/lib/Target/ARM/ARMScheduleM7.td) and measurements on STM32H743
(github.com/jnk0le/random, "pipeline cycle test/doc/cortex_m7.md").
"""

from __future__ import annotations

from edgec.timing.decode import Instruction
from edgec.timing.decode_kinds import Kind

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
    """True for what never issues together with another instruction (LLVM: SingleIssue)."""
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
