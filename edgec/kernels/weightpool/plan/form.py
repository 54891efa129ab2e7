"""The instructions that the kernels of pooled layers are made of on a board.

The kernels come in several forms: assembly for Armv6-M, for Armv7-M and for the DSP extension, and
C (`firmware/runtime/include/edgec/pool_*.h`).
"""

from __future__ import annotations

import enum

from edgec.target.board import Board
from edgec.target.cores import Core


class KernelForm(enum.Enum):
    """A form of the kernels."""

    ARMV6M = "Armv6-M"
    ARMV7M = "Armv7-M"
    ARMV7EM = "Armv7-M with DSP"
    ARMV7A = "Armv7-A"
    A64 = "A64"

    @classmethod
    def of(cls, board: Board) -> KernelForm:
        """On a board; the host plans as a Cortex-M4 does."""
        core = board.core
        if core.is_armv6m:
            return cls.ARMV6M
        if core.is_aarch64:
            return cls.A64
        if core.is_cortex_a:
            return cls.ARMV7A
        return cls.ARMV7EM if board.dsp or core is Core.HOST else cls.ARMV7M

    @property
    def is_thumb2(self) -> bool:
        """Builders of responses have assembly with 32-bit Thumb instructions."""
        return self in (KernelForm.ARMV7M, KernelForm.ARMV7EM, KernelForm.ARMV7A)

    @property
    def has_dsp(self) -> bool:
        """They use the DSP extension."""
        return self in (KernelForm.ARMV7EM, KernelForm.ARMV7A)

    @property
    def gathers_in_assembly(self) -> bool:
        """Rows of the table are added up by assembly."""
        return self not in (KernelForm.ARMV7A, KernelForm.A64)
