"""Memory of a build: flash, RAM, and what lies in the arena."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from edgec.base.compiler_level import CompilerLevel


@dataclass(frozen=True, slots=True)
class BufferReport:
    """A tensor (with its reshaped views) or a step's scratch memory, in the arena.

    Attributes:
        name: edgec's name for it, from the model.
        offset_bytes: from the arena's start.
        first_step, end_step: it lives on steps [first_step, end_step).
    """

    name: str
    offset_bytes: int
    size_bytes: int
    first_step: int
    end_step: int


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """Bytes of flash and RAM.

    Attributes:
        arena_bytes: static arena of all activations and scratch.
        arena_disjoint_bytes: least arena if no tensors could overlap, the largest sum at one step.
        weight_bytes: all constants of the model.
        flash_limit_bytes, ram_limit_bytes: what the board has; None: no limit (host).
        flash_bytes: the image in flash, as long as firmware.bin; None if not built, as the others.
        code_bytes: the flash that is not weights, alignment between sections included.
        ram_bytes: arena + state + stack + variables + weights in RAM.
        stack_bytes: reserved for the stack.
        variable_bytes: variables of the firmware, with and without initial values.
        ram_weight_bytes: weights that start-up copies to RAM.
        state_bytes: what the model keeps from run to run.
        run_stack: stack that the library needs at most when GCC compiles it for the board's core,
            by level, without the step hook and functions of other libraries; empty: not measured.
    """

    arena_bytes: int
    arena_disjoint_bytes: int
    weight_bytes: int
    flash_limit_bytes: int | None = None
    ram_limit_bytes: int | None = None
    flash_bytes: int | None = None
    code_bytes: int | None = None
    ram_bytes: int | None = None
    stack_bytes: int | None = None
    variable_bytes: int | None = None
    ram_weight_bytes: int | None = None
    state_bytes: int = 0
    run_stack: Mapping[CompilerLevel, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RamWeightsReport:
    """A constant that start-up copies to RAM.

    Attributes:
        symbol: its name in C.
        region: name of the board's RAM region.
        size_bytes: its size.
        steps: the layers that read it, by number.
    """

    symbol: str
    region: str
    size_bytes: int
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlacementReport:
    """Regions of arena and weights while the firmware runs.

    Attributes:
        placement: "auto", "flash" or "sram".
        arena_in: RAM region of the arena.
        weights: constants in RAM, those that gain most for a byte first; all others lie in flash.
        saved_cycles: cycles of a run that they save, estimated from the flash of the board file.
        possible_bytes, possible_cycles: what auto would place and save; 0 where it is in force.
    """

    placement: str
    arena_in: str
    weights: tuple[RamWeightsReport, ...]
    saved_cycles: int
    possible_bytes: int = 0
    possible_cycles: int = 0

    @property
    def ram_bytes(self) -> int:
        """Bytes of the constants in RAM."""
        return sum(each.size_bytes for each in self.weights)

    @property
    def regions(self) -> tuple[str, ...]:
        """The regions of constants."""
        return tuple(dict.fromkeys(each.region for each in self.weights))
