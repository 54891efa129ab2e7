"""Processor cores: what each can do, and the compiler options that select it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


class Fpu(enum.Enum):
    """Floating-point units of Arm cores."""

    NONE = "none"
    SINGLE = "single"
    DOUBLE = "double"


class InstructionSet(enum.Enum):
    """Architectures whose instructions cores execute.

    The DSP extension makes Armv7E-M of Armv7-M; it is a fact of a board (`Board.dsp`), not listed
    here.
    """

    ARMV6_M = "armv6-m"
    ARMV7_M = "armv7-m"
    ARMV8_M = "armv8-m.main"
    ARMV7_A = "armv7-a"
    ARMV8_A = "armv8-a"
    HOST = "host"

    @property
    def is_m_profile(self) -> bool:
        """An architecture of microcontrollers, which execute Thumb code only."""
        return self in (InstructionSet.ARMV6_M, InstructionSet.ARMV7_M, InstructionSet.ARMV8_M)

    @property
    def is_a_profile(self) -> bool:
        """An architecture of application processors."""
        return self in (InstructionSet.ARMV7_A, InstructionSet.ARMV8_A)

    @property
    def has_wide_thumb(self) -> bool:
        """32-bit Thumb encodings, in which every instruction reaches all sixteen registers.

        Source: Armv6-M ARM (DDI 0419) A4.1, Armv7-M ARM (DDI 0403) A4.1.
        """
        wide = (InstructionSet.ARMV7_M, InstructionSet.ARMV8_M, InstructionSet.ARMV7_A)
        return self in wide


@dataclass(frozen=True, slots=True)
class CoreFacts:
    """Abilities of a core, in any chip.

    Attributes:
        instruction_set: the architecture.
        fpus: the floating-point units that it can be made with.
        dsp: whether the DSP extension can be absent (False), present (True), or either.  Armv7-A
            has its instructions (SMLAD and so on) always, A64 never.
        source: the document that says so.
        has_neon: the Advanced SIMD extension; optional on the Cortex-A7, where every board here
            has it.
        has_mve: the vector extension of Armv8.1-M.
        has_dot_product: the products of four pairs of int8 of Armv8.2-A.
        has_long_multiply: a product of two 32-bit numbers with all 64 bits.
        dual_issue: a load and a product can start in one cycle.
        bus_bytes: bytes that the data side can load in a cycle.
        multiply_add_cycles: cycles of MLA, or of MULS and ADDS where there is no MLA.
        has_vector_table_offset: the vector table can lie elsewhere than at address 0.
        has_level1_caches: caches are the core's own, so they hold RAM as well as flash.
    """

    instruction_set: InstructionSet
    fpus: tuple[Fpu, ...]
    dsp: tuple[bool, ...]
    source: str
    has_neon: bool = False
    has_mve: bool = False
    has_dot_product: bool = False
    has_long_multiply: bool = True
    dual_issue: bool = False
    bus_bytes: int = 4
    multiply_add_cycles: int = 1
    has_vector_table_offset: bool = True
    has_level1_caches: bool = False


class Core(enum.Enum):
    """Processor cores, named as GCC's -mcpu names them; `facts` says what each can do.

    The Cortex-A53, A72 and A76 run AArch64 code, the Cortex-A7 and A8 run Armv7-A code.
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
    CORTEX_A76 = "cortex-a76"
    HOST = "host"

    @property
    def facts(self) -> CoreFacts:
        """Abilities of the core."""
        return CORES[self]

    @property
    def is_armv6m(self) -> bool:
        """Armv6-M: no unaligned access, no UBFX, no 32x32->64 multiply, no fault registers."""
        return self.facts.instruction_set is InstructionSet.ARMV6_M

    @property
    def is_cortex_a(self) -> bool:
        """An application processor: runs Linux, has virtual memory and caches."""
        return self.facts.instruction_set.is_a_profile

    @property
    def is_aarch64(self) -> bool:
        """Runs A64 code with 64-bit addresses."""
        return self.facts.instruction_set is InstructionSet.ARMV8_A

    @property
    def has_neon(self) -> bool:
        """The Advanced SIMD extension."""
        return self.facts.has_neon

    @property
    def possible_fpus(self) -> tuple[Fpu, ...]:
        """The floating-point units this core can be made with."""
        return self.facts.fpus

    @property
    def possible_dsp(self) -> tuple[bool, ...]:
        """Whether the DSP extension can be absent (False), present (True), or either."""
        return self.facts.dsp

    @property
    def price_key(self) -> str:
        """The core whose prices planners take; a computer that is no Arm core plans as an M4."""
        core = Core.CORTEX_M4 if self is Core.HOST else self
        return str(core.value)

    @property
    def gcc_prefix(self) -> str:
        """Prefix of the names of GCC and its tools for this core, as Debian calls them."""
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


_ABSENT, _PRESENT, _OPTIONAL = (False,), (True,), (False, True)


def _application_core(
    instruction_set: InstructionSet, source: str, *, has_dot_product: bool = False
) -> CoreFacts:
    """A Cortex-A, as every board here has it: NEON, double precision, caches of its own."""
    dsp = _PRESENT if instruction_set is InstructionSet.ARMV7_A else _ABSENT
    return CoreFacts(
        instruction_set,
        (Fpu.DOUBLE,),
        dsp,
        source,
        has_neon=True,
        has_dot_product=has_dot_product,
        has_level1_caches=True,
    )


CORES: Mapping[Core, CoreFacts] = MappingProxyType(
    {
        Core.CORTEX_M0: CoreFacts(
            InstructionSet.ARMV6_M,
            (Fpu.NONE,),
            _ABSENT,
            "Cortex-M0 TRM (DDI 0432) 2.1, table 3-1: MULS and ADDS take a cycle each; no VTOR",
            has_long_multiply=False,
            multiply_add_cycles=2,
            has_vector_table_offset=False,
        ),
        Core.CORTEX_M0PLUS: CoreFacts(
            InstructionSet.ARMV6_M,
            (Fpu.NONE,),
            _ABSENT,
            "Cortex-M0+ TRM (DDI 0484) 1.1, table 3-1: MULS and ADDS take a cycle each",
            has_long_multiply=False,
            multiply_add_cycles=2,
        ),
        Core.CORTEX_M3: CoreFacts(
            InstructionSet.ARMV7_M,
            (Fpu.NONE,),
            _ABSENT,
            "Cortex-M3 TRM (DDI 0337) 1.2, table 3-1: MLA takes two cycles",
            multiply_add_cycles=2,
        ),
        Core.CORTEX_M4: CoreFacts(
            InstructionSet.ARMV7_M,
            (Fpu.NONE, Fpu.SINGLE),
            _PRESENT,
            "Cortex-M4 TRM (DDI 0439) 1.1 and 1.4, table 3-1: MLA and SMLAD take a cycle",
        ),
        Core.CORTEX_M7: CoreFacts(
            InstructionSet.ARMV7_M,
            (Fpu.NONE, Fpu.SINGLE, Fpu.DOUBLE),
            _PRESENT,
            "Cortex-M7 TRM (DDI 0489) 1.2, 1.4 and 5: two issue slots, 64-bit data path, caches",
            dual_issue=True,
            bus_bytes=8,
            has_level1_caches=True,
        ),
        Core.CORTEX_M33: CoreFacts(
            InstructionSet.ARMV8_M,
            (Fpu.NONE, Fpu.SINGLE),
            _OPTIONAL,
            "Cortex-M33 TRM (100230) 1.3 features, 1.6 configurable options: DSP, FPU",
        ),
        Core.CORTEX_A7: _application_core(
            InstructionSet.ARMV7_A,
            "Cortex-A7 MPCore TRM (DDI 0464) 1.2 features, 1.6 configurable options",
        ),
        Core.CORTEX_A8: _application_core(
            InstructionSet.ARMV7_A, "Cortex-A8 TRM (DDI 0344) 1.2 features"
        ),
        Core.CORTEX_A53: _application_core(
            InstructionSet.ARMV8_A,
            "Cortex-A53 MPCore TRM (DDI 0500) 1.2 features; Armv8.0-A, so no SDOT",
        ),
        Core.CORTEX_A72: _application_core(
            InstructionSet.ARMV8_A,
            "Cortex-A72 MPCore TRM (100095) 1.2 features; Armv8.0-A, so no SDOT",
        ),
        Core.CORTEX_A76: _application_core(
            InstructionSet.ARMV8_A,
            "Cortex-A76 Core TRM (100798) A1.2 features: Armv8.2-A with the dot product",
            has_dot_product=True,
        ),
        Core.HOST: CoreFacts(
            InstructionSet.HOST,
            (Fpu.NONE,),
            _ABSENT,
            "the computer that runs edgec, of which nothing is asked but C11",
        ),
    }
)
"""Abilities of each core."""
_NEON_UNITS = {Core.CORTEX_A7: "neon-vfpv4", Core.CORTEX_A8: "neon"}
