"""Instruction traces and inputs of cycle models: the contract of the profile's parts.

`edgec.sim.trace` fills a `Trace`, the core models price its blocks, `edgec.profile` adds up.
Addresses are absolute, without the Thumb bit; times are core clock cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class MemoryMode(Enum):
    """Assumed place of code and constants in a profile.

    Attributes:
        FLASH: in flash, as the board runs it: wait states, prefetch, caches.
        SRAM: in RAM without wait states; bus rules of the core (shared code/data bus) stay.
        IDEAL: memory without wait states of any kind.
    """

    FLASH = "flash"
    SRAM = "sram"
    IDEAL = "ideal"


class CodeKind(Enum):
    """Instruction sets of Cortex-A cores."""

    A64 = "A64"
    A32 = "A32"
    T32 = "T32"


@dataclass(frozen=True, slots=True)
class Edge:
    """One way out of a basic block.

    A block ends at a branch, at the emulator's longest block, or in front of a page's end;
    the branch at its end, if any, was taken iff `next_start != start + size_bytes`.

    Attributes:
        start: first instruction of the block.
        size_bytes: size of the block's instructions.
        next_start: block that ran next; `NO_BLOCK` when nothing is known about it.
    """

    start: int
    size_bytes: int
    next_start: int

    @property
    def falls_through(self) -> bool:
        """The next block is the next code in memory: no branch was taken."""
        return self.next_start == self.start + self.size_bytes


NO_BLOCK = -1
"""`Edge.next_start` of a block after which tracing stopped."""


@dataclass(frozen=True, slots=True)
class CacheShape:
    """A set-associative cache with least-recently-used replacement (exact for one way).

    Attributes:
        size_bytes: size; a multiple of `line_bytes * ways`.
        line_bytes: size of a line, a power of two.
        ways: lines of a set; all lines for a fully associative cache.
        fill_bytes: aligned part of a line that one miss reads; `line_bytes` for most.
    """

    size_bytes: int
    line_bytes: int
    ways: int
    fill_bytes: int

    @property
    def sets(self) -> int:
        """Number of sets."""
        return self.size_bytes // (self.line_bytes * self.ways)


@dataclass(frozen=True, slots=True)
class FlashTiming:
    """Cost of reads of code and constants; see `edgec.timing.memory` for the model.

    Attributes:
        origin: first address.
        size_bytes: size.
        wait_states: cycles that one read of `line_bytes` takes beyond the first; 0: none.
        line_bytes: bytes that one read of the flash gives, a power of two.
        prefetch: while the core executes out of one line, the flash reads the next.
        instruction_cache: None: only the line that was read last is held.
        data_cache: None: every read costs.
        unified: instructions and data share `instruction_cache` (then `data_cache` is equal).
        cached_ram: first address and size of RAM whose reads and writes use `data_cache` too.
    """

    origin: int
    size_bytes: int
    wait_states: int
    line_bytes: int
    prefetch: bool
    instruction_cache: CacheShape | None
    data_cache: CacheShape | None
    unified: bool = False
    cached_ram: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Counts of one part of a run.

    Attributes:
        edges: executions of each block, by where it went.
        fetch_stalls: block start -> cycles waited for its instructions, all executions.
        data_stalls: block start -> cycles waited for its data reads from flash, all executions.
        divides: instruction address -> {quotient bits: executions}; quotient bits is the bit
            length of the quotient's magnitude, 0 for a quotient of 0 or a divisor of 0.
    """

    edges: Mapping[Edge, int]
    fetch_stalls: Mapping[int, int]
    data_stalls: Mapping[int, int]
    divides: Mapping[int, Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class ArenaUse:
    """Bytes of the arena that the run wrote.

    Attributes:
        origin: address of the arena.
        size_bytes: its size as the firmware states it.
        low: offset of the first byte that was written.
        high: offset after the last byte that was written; `low == high == 0`: none.
    """

    origin: int
    size_bytes: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One inference, block by block.

    Attributes:
        segments: one per step of the program, in order, of all turns of loops together: all that
            runs between the step hooks before and after it.  The compiler puts kernels into the run
            function, so the calls between kernels cannot be told from them and belong to the step
            they lead to.
        outside: what runs after the last step; belongs to the run's total and to no layer.
        stack_bytes: most stack used since start, as the firmware measured it.
        arena: bytes of the arena that were written.
        timing: memory that the stalls were simulated with.
    """

    segments: tuple[Segment, ...]
    outside: Segment
    stack_bytes: int
    arena: ArenaUse
    timing: FlashTiming
