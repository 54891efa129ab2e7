"""Processor cores: what each can do, and the compiler options that select it."""

from __future__ import annotations

import enum


class Fpu(enum.Enum):
    """Floating-point units of Arm cores."""

    NONE = "none"
    SINGLE = "single"
    DOUBLE = "double"


class Core(enum.Enum):
    """Processor cores, named as GCC's -mcpu names them.

    The Cortex-A53 and A72 run AArch64 code, the Cortex-A7 and A8 run Armv7-A code.

    Source: the Technical Reference Manual of each core (Arm DDI 0432, 0484, 0337, 0439, 0489,
    100230; Cortex-A: 0464, 0344, 0500, 100095), section "Introduction: Features" or "Configurable
    options".
    """

    CORTEX_M0 = "cortex-m0"
    CORTEX_M0PLUS = "cortex-m0plus"
    CORTEX_M3 = "cortex-m3"
    CORTEX_M4 = "cortex-m4"
    CORTEX_M7 = "cortex-m7"
    CORTEX_M33 = "cortex-m33"
    CORTEX_A7 = "cortex-a7"
    CORTEX_A8 = "cortex-a8"
    CORTEX_A53 = "cortex-a53"
    CORTEX_A72 = "cortex-a72"
    HOST = "host"

    @property
    def is_armv6m(self) -> bool:
        """Armv6-M: no unaligned access, no UBFX, no 32x32->64 multiply, no fault registers."""
        return self in (Core.CORTEX_M0, Core.CORTEX_M0PLUS)

    @property
    def is_cortex_a(self) -> bool:
        """An application processor: runs Linux, has virtual memory and caches."""
        return self.is_aarch64 or self in (Core.CORTEX_A7, Core.CORTEX_A8)

    @property
    def is_aarch64(self) -> bool:
        """Runs A64 code with 64-bit addresses."""
        return self in (Core.CORTEX_A53, Core.CORTEX_A72)

    @property
    def has_neon(self) -> bool:
        """The Advanced SIMD extension; optional on the Cortex-A7, where every board here has it."""
        return self.is_cortex_a

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
        """Whether the DSP extension can be absent (False), present (True), or either.

        Armv7-A has its instructions (SMLAD and so on) always, A64 never.
        """
        if self in (Core.CORTEX_M4, Core.CORTEX_M7, Core.CORTEX_A7, Core.CORTEX_A8):
            return (True,)
        return (False, True) if self is Core.CORTEX_M33 else (False,)

    @property
    def gcc_prefix(self) -> str:
        """What the names of GCC and its tools for this core begin with, as Debian calls them."""
        if self is Core.HOST:
            return ""
        if self.is_aarch64:
            return "aarch64-linux-gnu-"
        return "arm-linux-gnueabihf-" if self.is_cortex_a else "arm-none-eabi-"

    def gcc_flags(self, fpu: Fpu, *, dsp: bool) -> tuple[str, ...]:
        """Options of GCC and Clang for this core with this FPU; empty on the host.

        Source: GCC manual, "ARM Options" (-mcpu extensions, -mfpu names), "AArch64 Options".
        """
        if self is Core.HOST:
            return ()
        if self.is_aarch64:
            return (f"-mcpu={self.value}",)
        if self in _NEON_UNITS:
            unit = f"-mfpu={_NEON_UNITS[self]}"
            return (f"-mcpu={self.value}", "-mthumb", "-mfloat-abi=hard", unit)
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
    Core.CORTEX_A7: (Fpu.DOUBLE,),
    Core.CORTEX_A8: (Fpu.DOUBLE,),
    Core.CORTEX_A53: (Fpu.DOUBLE,),
    Core.CORTEX_A72: (Fpu.DOUBLE,),
}
_NEON_UNITS = {Core.CORTEX_A7: "neon-vfpv4", Core.CORTEX_A8: "neon"}
