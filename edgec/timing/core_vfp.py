"""Single-precision floating point of Cortex-M4, also used where Cortex-M33 is not documented."""

from __future__ import annotations

from edgec.timing.decode import Instruction
from edgec.timing.decode_kinds import Kind

_CYCLES = {
    Kind.FP_ARITHMETIC: 1,
    Kind.FP_MULTIPLY: 1,
    Kind.FP_MULTIPLY_ADD: 3,
    Kind.FP_DIVIDE: 14,
    Kind.FP_ROOT: 14,
    Kind.FP_COMPARE: 1,
    Kind.FP_MOVE: 1,
    Kind.FP_HALF_MOVE: 1,
    Kind.FP_CORE_MOVE: 2,
    Kind.FP_STATUS: 1,
}

_LATE_RESULTS = (
    *(Kind.FP_ARITHMETIC, Kind.FP_MULTIPLY, Kind.FP_MULTIPLY_ADD),
    *(Kind.FP_DIVIDE, Kind.FP_ROOT),
)


def fp_cycles(instruction: Instruction, after: Instruction | None) -> int:
    """Cycles of a floating-point instruction, one more if the next one needs an arithmetic result.

    Loads and stores take 1 + one a word.  VDIV and VSQRT are priced at 14 although integer
    instructions after them may overlap.

    Source: Arm DDI 0439B, table 7-1 and section 7.2.3.
    """
    if instruction.kind not in _CYCLES:
        return 1 + instruction.words
    is_late = instruction.kind in _LATE_RESULTS and after is not None
    needed = is_late and after is not None and bool(instruction.writes & after.reads)
    return _CYCLES[instruction.kind] + (1 if needed else 0)
