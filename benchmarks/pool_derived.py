"""Prices of instructions that the cycle model of a core states: nothing is measured or fitted.

A few instructions as they stand in the kernels' inner loops (`edgec/weight_pool/gather.h`,
`weight_pool/products.h`, `weight_pool/rows.h`) are assembled and priced, once and many times; the
difference is what one more of them costs.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from edgec.kernels.common.layer_end import KernelForm
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.timing.core import core_model
from edgec.timing.decode import decode_block

_REPEATS = 20
_LANES = (
    "and r12, r0, #0x00FF00FF; and r0, r0, #0xFF00FF00; "
    "add r4, r4, r12, lsl #1; add r5, r5, r0, lsr #7; "
    "and r12, r1, #0x00FF00FF; and r1, r1, #0xFF00FF00; "
    "add r6, r6, r12, lsl #1; add r7, r7, r1, lsr #7;"
)
_LOOK_UP = (
    "ldr r3, [r0]; ldr r4, [r0, #4]; ldr r5, [r0, #8]; "
    "add r6, r3; add r7, r4; add r8, r5; "
    "ldr r3, [r0, #12]; ldr r4, [r0, #16]; ldr r5, [r0, #20]; "
    "add r9, r3; add r10, r4; add r11, r5; "
    "ldr r3, [r0, #24]; ldr r4, [r0, #28]; ldrh r0, [r1, #2]; "
    "add r12, r3; add r0, r2; add lr, r4;"
)
_LOOK_UP_V6M = (
    "ldrh r0, [r1, #2]; add r0, r2; ldmia r0!, {r3-r5}; add r6, r3; add r7, r4; add r8, r5; "
    "ldmia r0!, {r3-r5}; add r9, r3; add r10, r4; add r11, r5; "
    "ldmia r0!, {r3-r4}; add r12, r3; add lr, r4;"
)
_LOADS = 9
"""Of a look-up; it has as many additions."""
_SMLAD = (
    "smlad r12, r4, r0, lr; smlad lr, r8, r0, lr; smlad r12, r5, r3, r12; smlad lr, r9, r3, lr;"
)
_MLA = "mla r12, r5, r3, r12; mla r12, r6, lr, r12;"
_TURN = "cmp r0, r1; bne .-8"


def derived(board: Board) -> dict[str, float]:
    """Cycles of a step, a load, a product and a turn of a loop.

    Of Cortex-A cores, of which instructions are counted, each is 1.
    """
    form = KernelForm.of(Target.of(board))
    if board.core.is_cortex_a:
        return {"step": 1.0, "load": 1.0, "product": 1.0, "turn": 1.0}
    old = form is KernelForm.ARMV6M
    step = 1.0 if old else _marginal(board, _LANES, 8)
    look_up = _marginal(board, _LOOK_UP_V6M if old else _LOOK_UP, 1)
    products = {
        KernelForm.ARMV6M: ("muls r0, r1;", 1),
        KernelForm.ARMV7M: (_MLA, 2),
        KernelForm.ARMV7EM: (_SMLAD, 4),
    }
    text, count = products[form]
    return {
        "step": step,
        "load": look_up / _LOADS - step,
        "product": _marginal(board, text, count),
        "turn": _cycles(board, _TURN, taken=True) - _cycles(board, "cmp r0, r1", taken=False),
    }


def _marginal(board: Board, text: str, count: int) -> float:
    """Cycles of one of the `count` things that `text` does, in a row of many."""
    many = _cycles(board, text * (2 * _REPEATS), taken=False)
    few = _cycles(board, text * _REPEATS, taken=False)
    return (many - few) / _REPEATS / count


def _cycles(board: Board, text: str, *, taken: bool) -> int:
    model = core_model(board.core, board.fpu)
    return model.cost(decode_block(_assembled(board, text), 0), taken)


def _assembled(board: Board, text: str) -> bytes:
    """The machine code of instructions."""
    core = board.core
    with tempfile.TemporaryDirectory() as name:
        source, elf, image = (Path(name) / part for part in ("a.s", "a.o", "a.bin"))
        source.write_text(f".syntax unified\n.thumb\n{text.replace(';', chr(10))}\n", "utf-8")
        flags = core.gcc_flags(board.fpu, dsp=board.dsp)
        subprocess.run([f"{core.gcc_prefix}gcc", *flags, "-c", source, "-o", elf], check=True)
        copy = [f"{core.gcc_prefix}objcopy", "-O", "binary", "-j", ".text", elf, image]
        subprocess.run(copy, check=True)
        return image.read_bytes()
