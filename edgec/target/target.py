"""Abilities of the processor that runs a kernel: `Target`.

A kernel asks for abilities, never for a core by its name: an instruction set, an extension, a cache
of a size.  So a new core serves itself from the kernels that its abilities allow, and a core made
without an extension never gets code that uses it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.base.options import Optimize, TunedKernels
from edgec.target.board import Board
from edgec.target.cores import Fpu, InstructionSet
from edgec.target.memory_map import Flash

_SCRATCH_BYTES = 16 * 1024
"""Widened activations are read again for every filter, so they should stay in the nearest memory.
Source: the level 1 data cache of the Cortex-M7 in the STM32H7A3, 16 KB (RM0455, section 2.1)."""
_ARENA_SHARE = 2
"""Scratch memory never takes more than this part of the arena: tensors need the other half."""


class Sharing(enum.Enum):
    """Code that layers of several shapes share: none, loops around products, products as well."""

    NOTHING = "nothing"
    LOOPS = "loops"
    PRODUCTS = "products"


_SHARING: Mapping[Optimize, Sharing] = MappingProxyType(
    {
        Optimize.SPEED: Sharing.NOTHING,
        Optimize.BALANCED: Sharing.LOOPS,
        Optimize.SIZE: Sharing.PRODUCTS,
    }
)


@dataclass(frozen=True, slots=True)
class Target:
    """The processor of a board, with its memories.

    Attributes:
        instruction_set: the architecture whose instructions it executes.
        has_dsp: the DSP extension with its products of two pairs of int16 (SMLAD, SXTB16).
        has_mve: the vector extension of Armv8.1-M (Helium).
        has_neon: the Advanced SIMD extension.
        has_dot_product: the products of four pairs of int8 (SDOT) of Armv8.2-A.
        has_long_multiply: a product of two 32-bit numbers with all 64 bits (SMULL).
        dual_issue: a load and a product can start in one cycle.
        fpu: the floating-point unit.
        price_key: the name under which tables of measured prices have its core; "": in none.
        instruction_cache_bytes: size of the cache of instructions; 0: there is none, or the board
            file does not tell.
        data_cache_bytes: the same for data.
        flash_wait_states: extra cycles of a read from flash that no cache holds.
        flash_bytes: flash for code and weights; None: programs are loaded into RAM.
        ram_bytes: RAM that the firmware uses; None: no limit is known.
        arena_limit_bytes: the largest arena; None: no limit is known.
        optimize: what is preferred where fast code and small code differ.
        flash: what reading code and weights takes; None: programs are loaded into RAM.
        tuned: kernels of layers as they were measured on it; None: nobody measured.
    """

    instruction_set: InstructionSet
    has_dsp: bool
    has_mve: bool
    has_neon: bool
    has_dot_product: bool
    has_long_multiply: bool
    dual_issue: bool
    fpu: Fpu
    price_key: str
    instruction_cache_bytes: int
    data_cache_bytes: int
    flash_wait_states: int
    flash_bytes: int | None
    ram_bytes: int | None
    arena_limit_bytes: int | None
    optimize: Optimize = Optimize.SPEED
    flash: Flash | None = None
    tuned: TunedKernels | None = None

    @classmethod
    def of(
        cls,
        board: Board,
        optimize: Optimize = Optimize.SPEED,
        tuned: TunedKernels | None = None,
    ) -> Target:
        """The target of a board: the abilities of its core, the sizes and options of its file.

        Args:
            board: the board.
            optimize: what is preferred where fast code and small code differ.
            tuned: kernels of layers as they were measured; None: nobody measured.
        """
        flash = None if board.memory is None else board.memory.flash
        facts = board.core.facts
        return cls(
            instruction_set=facts.instruction_set,
            has_dsp=board.dsp,
            has_mve=facts.has_mve,
            has_neon=facts.has_neon,
            has_dot_product=facts.has_dot_product,
            has_long_multiply=facts.has_long_multiply,
            dual_issue=facts.dual_issue,
            fpu=board.fpu,
            price_key=board.core.price_key,
            instruction_cache_bytes=0 if flash is None else flash.instruction_cache_bytes,
            data_cache_bytes=0 if flash is None else flash.data_cache_bytes,
            flash_wait_states=0 if flash is None else flash.wait_states,
            flash_bytes=board.flash_bytes,
            ram_bytes=board.ram_bytes,
            arena_limit_bytes=board.arena_limit_bytes,
            optimize=optimize,
            flash=flash,
            tuned=tuned,
        )

    @property
    def is_aarch64(self) -> bool:
        """The core executes A64 code, which has 32 vector registers."""
        return self.instruction_set is InstructionSet.ARMV8_A

    @property
    def is_cortex_m(self) -> bool:
        """The core is one of a microcontroller."""
        return self.instruction_set.is_m_profile

    @property
    def has_fpu(self) -> bool:
        """There is a floating-point unit."""
        return self.fpu is not Fpu.NONE

    @property
    def has_wide_thumb(self) -> bool:
        """Every instruction reaches the upper eight registers (32-bit Thumb encodings)."""
        return self.instruction_set.has_wide_thumb

    @property
    def sharing(self) -> Sharing:
        """Code that layers of several shapes share on this target."""
        return _SHARING[self.optimize]

    @property
    def unrolls_little(self) -> bool:
        """Loops are as short as those of functions that layers share."""
        return self.optimize is Optimize.SIZE

    @property
    def takes_few_kernels(self) -> bool:
        """A kernel that serves more layers is preferred to a faster one for some of them."""
        return self.optimize is Optimize.SIZE

    @property
    def scratch_limit_bytes(self) -> int:
        """The most scratch memory that a kernel may take for the sake of speed."""
        return self.scratch_limit(_SCRATCH_BYTES)

    def scratch_limit(self, most_bytes: int) -> int:
        """The most scratch memory of a kernel that may take `most_bytes` of a large arena."""
        if self.arena_limit_bytes is None:
            return most_bytes
        return min(most_bytes, self.arena_limit_bytes // _ARENA_SHARE)

    def runs_from_cache(self, code_bytes: int) -> bool:
        """Whether a loop of this size runs again and again without waiting for flash."""
        return self.flash_wait_states == 0 or self.instruction_cache_bytes >= code_bytes
