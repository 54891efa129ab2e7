"""The least cycles per multiply-accumulate that a core's own instructions allow."""

from __future__ import annotations

from edgec.profile.types import Floor
from edgec.target.board import Board

_TWO_A_CYCLE = "one SMLAD a cycle does two multiply-accumulates"
_MUL_AND_ADD = "MULS and ADDS, one cycle each (single-cycle multiplier)"


def floor_of(board: Board) -> Floor:
    """The floor of int8 kernels that multiply: arithmetic alone, and loads alone.

    A layer cannot be faster than either; widening bytes, addresses and loops come on top.  Kernels
    that replace multiplications (weight pools) can be faster than the arithmetic floor.

    Source: `edgec.target.cores`, which names the Technical Reference Manual of each core.
    """
    core = board.core.facts
    wide, cycles = core.bus_bytes, float(core.multiply_add_cycles)
    if board.dsp:
        cycles, reason = 0.5, _TWO_A_CYCLE
    elif not core.instruction_set.has_wide_thumb:
        reason = _MUL_AND_ADD
    else:
        reason = "one MLA a cycle" if cycles == 1 else f"MLA takes {cycles:g} cycles"
    return Floor(cycles, wide, f"{reason}; loads bring at most {wide} bytes a cycle")
