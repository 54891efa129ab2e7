"""Processor cores: what each can do, and the compiler options that select it."""

from __future__ import annotations

import enum


class Fpu(enum.Enum):
    """Floating-point units of Cortex-M cores."""

    NONE = "none"
    SINGLE = "single"
    DOUBLE = "double"


class Core(enum.Enum):
    """Processor cores, named as GCC's -mcpu names them.

    Source: the Technical Reference Manual of each core (Arm DDI 0432, 0484, 0337, 0439, 0489,
    100230), section "Introduction: Features" or "Configurable options".
    """

    CORTEX_M0 = "cortex-m0"
    CORTEX_M0PLUS = "cortex-m0plus"
    CORTEX_M3 = "cortex-m3"
    CORTEX_M4 = "cortex-m4"
    CORTEX_M7 = "cortex-m7"
    CORTEX_M33 = "cortex-m33"
    HOST = "host"

    @property
    def is_armv6m(self) -> bool:
        """Armv6-M: no unaligned access, no UBFX, no 32x32->64 multiply, no fault registers."""
        return self in (Core.CORTEX_M0, Core.CORTEX_M0PLUS)

    @property
    def issues_two(self) -> bool:
        """A load and a product can start in one cycle."""
        return self is Core.CORTEX_M7

    @property
    def possible_fpus(self) -> tuple[Fpu, ...]:
        """The floating-point units this core can be made with."""
        return _FPUS.get(self, (Fpu.NONE,))

    @property
    def possible_dsp(self) -> tuple[bool, ...]:
        """Whether the DSP extension can be absent (False), present (True), or either."""
        if self in (Core.CORTEX_M4, Core.CORTEX_M7):
            return (True,)
        return (False, True) if self is Core.CORTEX_M33 else (False,)

    def gcc_flags(self, fpu: Fpu, *, dsp: bool) -> tuple[str, ...]:
        """Options of GCC and Clang for this core with this FPU; empty on the host.

        Source: GCC manual, "ARM Options" (-mcpu extensions, -mfpu names).
        """
        if self is Core.HOST:
            return ()
        cpu = self.value if dsp or self is not Core.CORTEX_M33 else f"{self.value}+nodsp"
        if fpu is Fpu.NONE:
            return (f"-mcpu={cpu}", "-mthumb", "-mfloat-abi=soft")
        unit = "fpv4" if self is Core.CORTEX_M4 else "fpv5"
        suffix = "sp-d16" if fpu is Fpu.SINGLE else "d16"
        return (f"-mcpu={cpu}", "-mthumb", "-mfloat-abi=hard", f"-mfpu={unit}-{suffix}")


_FPUS = {
    Core.CORTEX_M4: (Fpu.NONE, Fpu.SINGLE),
    Core.CORTEX_M7: (Fpu.NONE, Fpu.SINGLE, Fpu.DOUBLE),
    Core.CORTEX_M33: (Fpu.NONE, Fpu.SINGLE),
}
