"""The least cycles per multiply-accumulate that a core's own instructions allow."""

from __future__ import annotations

from edgec.profile.types import Floor
from edgec.target.board import Board
from edgec.target.cores import Core

_TWO_A_CYCLE = "one SMLAD a cycle does two multiply-accumulates"
_MUL_AND_ADD = "MULS and ADDS, one cycle each (single-cycle multiplier)"


def floor_of(board: Board) -> Floor:
    """The floor of int8 kernels that multiply: arithmetic alone, and loads alone.

    A layer cannot be faster than either; widening bytes, addresses and loops come on top.  Kernels
    that replace multiplications (weight pools) can be faster than the arithmetic floor.

    Source: instruction timing tables of the cores' Technical Reference Manuals: Cortex-M0+ (Arm
    DDI 0484) table 3-1, M3 (DDI 0337) table 3-1, M4 (DDI 0439) table 3-1; the M7 (DDI 0489) has one
    multiplier and a 64-bit data path, the M33 (100230) one multiplier.
    """
    wide = 8 if board.core is Core.CORTEX_M7 else 4
    if board.dsp:
        cycles, reason = 0.5, _TWO_A_CYCLE
    elif board.core is Core.CORTEX_M3:
        cycles, reason = 2.0, "MLA takes two cycles"
    elif board.core.is_armv6m:
        cycles, reason = 2.0, _MUL_AND_ADD
    else:
        cycles, reason = 1.0, "one MLA a cycle"
    return Floor(cycles, wide, f"{reason}; loads bring at most {wide} bytes a cycle")
