"""Weights in RAM from start-up on: which ones, and in which region of the board.

Where flash makes the core wait for weights, a copy of them in RAM saves that waiting.  A constant
is the hotter the more cycles of a run a byte of it saves; the hottest come first, into the fastest
region.  What the core waits for follows from the parts that families count
(`kernels.choice.estimate`), with the flash of the board file and what its data cache holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.errors import MemoryPlanError
from edgec.base.options import Placement
from edgec.kernels.choice.estimate import Estimator, constant_waits
from edgec.kernels.common.parts import (
    COPY_CYCLES,
    FULL_WIDTH,
    UNCACHED_BYTES,
    WORD_BYTES,
    Run,
    per_word,
)
from edgec.lower.bind import Bound, BoundCall
from edgec.lower.program import Resident
from edgec.memory import MemoryPlan
from edgec.target.board import Board
from edgec.target.memory_map import Flash, MemoryMap, Region
from edgec.target.target import Target

FIRMWARE_BYTES = 4096
"""Room for the variables of the main programs that edgec has, and of the port."""
_CACHED_RAM_CYCLES = 32
"""A bound, not a measurement, of what a miss of the core's data cache in RAM waits: a line of 32
bytes is four words of the bus between core and RAM, of half the core's clock, and the way there.
The cycle model prices it with nothing, since no manual tells."""
_WORTH = 100
"""Weights are placed if they save at least this part of the multiply-accumulates, in cycles."""


@dataclass(frozen=True, slots=True)
class Share:
    """RAM that weights may take.

    Attributes:
        placement: where they shall lie.
        kept: with AUTO, one part in this many of what is free stays so, for programs of the user.
        ram_bytes: most RAM that the whole firmware may take; None: what the board has.
    """

    placement: Placement
    kept: int = 4
    ram_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Residence:
    """Constants in RAM, and the region of the arena.

    Attributes:
        arena_in: region of the arena.
        constants: those that are copied to RAM, the hottest first.
        saved_cycles: cycles of a run that this saves, estimated.
    """

    arena_in: str
    constants: tuple[Resident, ...]
    saved_cycles: float


@dataclass(slots=True)
class _Room:
    """RAM of a region that is left for weights.

    `gain` is the part of the waiting for flash that it saves, 0 to 1.
    """

    region: Region
    free_bytes: int
    gain: float


@dataclass(frozen=True, slots=True)
class _Heat:
    """A constant, and the cycles of a run that are waited for it in flash."""

    constant: int
    size_bytes: int
    cycles: float

    @property
    def density(self) -> float:
        return self.cycles / self.size_bytes


def arena_region(memory: MemoryMap, arena_bytes: int, share: Share) -> Region:
    """Choose the region of the arena.

    Tightly coupled memory takes it where that leaves one part in `share.kept` of it free, unless
    all is to stay as the board file has it.
    """
    for region in memory.used:
        if share.placement is not Placement.FLASH and region.is_tightly_coupled:
            own = _own_bytes(memory, region)
            left = region.size_bytes - own - arena_bytes
            if left >= (region.size_bytes - own) // share.kept:
                return region
    return memory.region(memory.arena_in)


def residence(bound: Bound, plan: MemoryPlan, board: Board, share: Share) -> Residence:
    """Choose the regions of arena and constants while the firmware runs.

    Args:
        bound: the calls of the program.
        plan: what they need of the arena with all constants in flash.
        board: a microcontroller.
        share: what weights may have of RAM.

    Raises:
        MemoryPlanError: all of them shall lie in RAM, and do not fit.
    """
    memory = board.memory
    if memory is None:
        return Residence("", (), 0.0)
    # The state lies beside the arena.
    needed = plan.arena_bytes + plan.state_bytes
    arena = arena_region(memory, needed, share)
    if share.placement is Placement.FLASH:
        return Residence(arena.name, (), 0.0)
    rooms = _rooms(board, memory, needed, arena, share)
    heats = sorted(_heats(bound, plan, board, memory), key=lambda each: -each.density)
    if share.placement is Placement.SRAM:
        placed = _all_placed(arena, heats, rooms)
        if placed is None:
            raise _no_room(bound, rooms, board)
        return placed
    found = _placed(arena, heats, rooms)
    return found if found.saved_cycles * _WORTH >= bound.macs else Residence(arena.name, (), 0.0)


def _no_room(bound: Bound, rooms: Sequence[_Room], board: Board) -> MemoryPlanError:
    """The error for weights that do not fit."""
    needed = sum(_aligned(constant.array.nbytes) for constant in bound.constants)
    left = " and ".join(f"{max(room.free_bytes, 0):,} in {room.region.name}" for room in rooms)
    return MemoryPlanError(
        f"the weights do not fit into RAM: they need {needed:,} bytes, beside arena, stack and "
        f"variables there are {left}",
        where=f"{board.name}: --placement sram",
        hint="--placement auto takes those that gain most",
    )


def _rooms(
    board: Board, memory: MemoryMap, arena_bytes: int, arena: Region, share: Share
) -> list[_Room]:
    rooms = []
    kept = share.kept if share.placement is Placement.AUTO else 0
    limit = board.ram_bytes if share.ram_bytes is None else share.ram_bytes
    allowed = (limit or 0) - memory.stack_bytes - FIRMWARE_BYTES - arena_bytes
    for name, whole in free_bytes(memory, arena, arena_bytes).items():
        region = memory.region(name)
        free = min(whole - whole // kept if kept else whole, allowed)
        allowed -= max(free, 0)
        rooms.append(_Room(region, free, _gain(board, memory.flash, region)))
    return rooms


def free_bytes(memory: MemoryMap, arena: Region, arena_bytes: int) -> dict[str, int]:
    """Bytes of each region that arena, stack and variables leave, the fastest region first."""
    return {
        region.name: region.size_bytes
        - _own_bytes(memory, region)
        - (arena_bytes if region == arena else 0)
        for region in memory.used
    }


def _own_bytes(memory: MemoryMap, region: Region) -> int:
    """Bytes that stack and variables of the firmware take of a region."""
    return memory.stack_bytes + FIRMWARE_BYTES if region.name == memory.data_in else 0


def _gain(board: Board, flash: Flash, region: Region) -> float:
    """The part of the waiting for flash that a copy in a region saves."""
    if not board.core.facts.has_level1_caches or region.is_tightly_coupled:
        return 1.0
    reads = flash.cache_line / flash.line_bytes if flash.line_bytes else 1.0
    line_waits = flash.wait_states * max(reads, 1.0)
    return max(0.0, 1 - _CACHED_RAM_CYCLES / line_waits) if line_waits else 0.0


def _heats(bound: Bound, plan: MemoryPlan, board: Board, memory: MemoryMap) -> list[_Heat]:
    """Cycles waited for each constant in all steps that read it."""
    cycles = dict.fromkeys(range(len(bound.constants)), 0.0)
    sizes = [constant.array.nbytes for constant in bound.constants]
    estimator = Estimator.of(Target.of(board))
    for number, call in enumerate(bound.calls):
        read = sum(sizes[index] for index in call.reads)
        copy = plan.slots.get(call.copy)
        copied = 0 if copy is None else copy.size_bytes
        times = bound.times(number)
        waits = _waits(call, copied, read, estimator, memory.flash, times) if read else 0.0
        if copy is not None and copy.lives_for_a_step:
            waits *= times
        for index in call.reads:
            cycles[index] += waits * sizes[index] / max(read, 1)
    return [
        _Heat(index, _aligned(sizes[index]), waited)
        for index, waited in cycles.items()
        if sizes[index]
    ]


def _waits(
    call: BoundCall, copied: int, read: int, estimator: Estimator, flash: Flash, times: int
) -> float:
    """Cycles that `times` calls of a step wait for its constants in flash, `read` bytes."""
    once = read / WORD_BYTES * per_word(flash, UNCACHED_BYTES)
    if copied:
        return once + copied / WORD_BYTES * COPY_CYCLES
    if read <= flash.data_cache_bytes:
        return once
    family, spec = call.choice.family, call.choice.spec
    bits = family.runtime_bits(call.choice.node, spec) or FULL_WIDTH
    parts = family.parts(spec, Run(estimator.form, bits))
    waits = 0.0 if parts is None else constant_waits(parts, flash, copies=False)
    return times * max(once, waits)


def _placed(
    arena: Region, heats: Sequence[_Heat], rooms: Sequence[_Room], *, gainless: bool = False
) -> Residence:
    """The constants that find room, each in the first region that has it.

    Args:
        arena: region of the arena.
        heats: constants in the order in which they are placed.
        rooms: what is free, the fastest first.
        gainless: also those that save nothing there.
    """
    free = [room.free_bytes for room in rooms]
    found, saved = [], 0.0
    for heat in heats:
        gains = [room.gain * heat.cycles for room in rooms]
        fits = (
            number
            for number, bytes_left in enumerate(free)
            if heat.size_bytes <= bytes_left and (gainless or gains[number] > 0)
        )
        number = next(fits, None)
        if number is None:
            continue
        free[number] -= heat.size_bytes
        found.append(Resident(heat.constant, rooms[number].region.name))
        saved += gains[number]
    return Residence(arena.name, tuple(found), saved)


def _all_placed(arena: Region, heats: Sequence[_Heat], rooms: Sequence[_Room]) -> Residence | None:
    """All constants in RAM: the hottest first, or else the largest first; None: no room for all.

    The hottest first may leave two regions with room that together would do for a large one.
    """
    for order in (heats, sorted(heats, key=lambda each: -each.size_bytes)):
        found = _placed(arena, order, rooms, gainless=True)
        if len(found.constants) == len(heats):
            return found
    return None


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // WORD_BYTES) * WORD_BYTES
