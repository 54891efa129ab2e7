"""The instructions that kernels are made of on a target.

Kernels of layers with a weight pool come in several forms: assembly for Armv6-M, for
Armv7-M and for the DSP extension, and C
(`firmware/runtime/include/edgec/pool_*.h`).
"""

from __future__ import annotations

import enum

from edgec.target.target import Target


class KernelForm(enum.Enum):
    """A form of the kernels."""

    ARMV6M = "Armv6-M"
    ARMV7M = "Armv7-M"
    ARMV7EM = "Armv7-M with DSP"
    ARMV7A = "Armv7-A"
    A64 = "A64"

    @classmethod
    def of(cls, target: Target) -> KernelForm:
        """The form on a target; a computer that is no Arm core plans as a Cortex-M4 does."""
        if target.is_aarch64:
            return cls.A64
        if not target.has_long_multiply:
            return cls.ARMV6M
        if target.is_cortex_m:
            return cls.ARMV7EM if target.has_dsp else cls.ARMV7M
        return cls.ARMV7A if target.has_wide_thumb else cls.ARMV7EM

    @property
    def is_thumb2(self) -> bool:
        """Builders of responses have assembly with 32-bit Thumb instructions."""
        return self in (KernelForm.ARMV7M, KernelForm.ARMV7EM, KernelForm.ARMV7A)

    @property
    def has_dsp(self) -> bool:
        """They use the DSP extension."""
        return self in (KernelForm.ARMV7EM, KernelForm.ARMV7A)
