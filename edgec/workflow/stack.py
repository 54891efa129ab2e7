"""Does the stack that the firmware used leave enough of what the board file reserves for it?

Start-up code paints the stack and the protocol reports how deep it was overwritten, so the number
comes from the very firmware: drivers, protocol and kernels, as the compiler built them.  There are
no interrupt handlers with frames of their own and no data-dependent depth (no recursion, no VLA),
so one traced run reaches the deepest path of every kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from edgec.base.errors import MemoryPlanError
from edgec.report.model import CheckReport
from edgec.target.board import Board

_COMFORTABLE_SHARE = 0.75


def stack_warnings(checks: Sequence[CheckReport], board: Board) -> tuple[str, ...]:
    """Warnings about a stack that is nearly full.

    Args:
        checks: checks of the compilation; only those that measured the stack count.
        board: says what is reserved.

    Raises:
        MemoryPlanError: all of the reserve was used, so it may have overflowed.
    """
    measured = [check.stack_bytes for check in checks if check.stack_bytes is not None]
    if not measured or board.memory is None:
        return ()
    used, reserved = max(measured), board.memory.stack_bytes
    facts = f"the firmware used {used:,} of {reserved:,} bytes reserved for the stack"
    if used >= reserved:
        hint = "raise memory.stack_bytes in a copy of the board's file and compile for that"
        raise MemoryPlanError(facts, where=board.name, hint=hint)
    if used > _COMFORTABLE_SHARE * reserved:
        return (f"{facts}; raise memory.stack_bytes in the board's file",)
    return ()
