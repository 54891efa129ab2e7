"""Flash with wait states, prefetch buffer and caches: the waits of fetches and data reads.

The model, in core clock cycles.  The flash reads one aligned *line* (`line_bytes`) in
`wait_states + 1` cycles, of which the last is the cycle that a read without wait states takes too.

Instructions.  Code runs out of the current line; going to another line costs
- nothing when the instruction cache holds it;
- what is left of the prefetch when it is the line being prefetched: a sequential fetch;
- a whole read otherwise: a random fetch.
Taking up a line starts the prefetch of the next one, unless the cache holds that.  How far a
prefetch is when its line is needed follows from the time spent in the line before: `BlockPace`
prices a block's instructions without waiting, spread evenly over them.  The instruction cache keeps
the lines that the core waited for.  A line that the prefetch buffer has in time is no miss, so it
is not kept, and is read again next time; where instructions and data share one cache, which stands
between core and flash, every line is kept.

Data.  A read that the data cache misses costs a whole read; without a data cache each does.

The flash reads one line at a time.  A data read, or a random fetch, that meets a prefetch in
progress waits for its end.  Data reads of a block are taken to come after the block's fetches, so
they meet the last prefetch of it, where in truth they may meet several.

Caches are set-associative and replace the least recently used line of a set.  A miss reads
`fill_bytes`; the core waits for the whole fill, whose flash lines come one after the other.

Sources and readings, by board family:
- STM32F2, F4: RM0033 3.4.2, RM0390 3.4.2, ART accelerator: 64 + 8 lines of 128 bits, least
  recently used.  L4+: RM0432 3.3.5: 32 + 8 lines of 4 x 64 bits, of which a miss fills the 64 bits
  that were read.  Whether a line that comes out of the prefetch buffer is copied to the cache the
  manuals do not say outright; they call the cache useful for loops and the whole as fast as 0 wait
  states, which needs it, so it is.
- STM32F1: RM0008 3.3.3: prefetch buffer of two 64-bit words, no cache, data reads wait.
- STM32G0: RM0444 3.3.5: two lines of 64 bits, least recently used, the same definition of a miss,
  no data cache.
- STM32H7A3: RM0455 4.3 and Arm DDI 0489 (Cortex-M7 TRM) 5: flash words of 128 bits, caches of the
  core with 32-byte lines.  The core's random replacement is taken as least recently used.  RAM that
  is not tightly coupled goes through the data cache (Armv7-M ARM, DDI 0403E B3.1: write-back,
  write-allocate) and takes the weights' place there.
- STM32U5: RM0456 8: ICACHE between the core's code bus and flash, 2 ways, 128-bit lines, its
  pseudo least recently used is exact for 2 ways; prefetch in the flash interface.
- RP2040: datasheet 2.6.3: XIP cache, 2 ways of 8-byte lines, one 32-bit serial read at a time.

Ignored: critical word first; the core's own fetch buffer of a few words, which hides part of a
sequential fetch; buses between core and flash (AXI on the M7), and so also what the M7 waits for
RAM that its data cache misses, of which no manual tells.
"""

from __future__ import annotations

from collections.abc import Callable

from edgec.base.errors import InternalError
from edgec.target.board import Board
from edgec.timing.types import CacheShape, FlashTiming, MemoryMode

BlockPace = Callable[[int, bytes], int]
"""Cycles that the instructions of a block (address, code) take when nothing makes them wait."""

LineShares = tuple[tuple[int, int], ...]
"""Flash lines that a block's fetches touch, in order, and cycles spent in each.

A line is its number from the flash's origin; `NO_LINE` stands for code outside the flash.
"""

NO_LINE = -1


def flash_timing(board: Board, mode: MemoryMode = MemoryMode.FLASH) -> FlashTiming:
    """The board's flash; without wait states for any other mode than FLASH.

    Raises:
        InternalError: the board has no memory map (host).
    """
    if board.memory is None:
        raise InternalError("board without memory", where=board.name)
    flash = board.memory.flash
    if mode is not MemoryMode.FLASH or flash.wait_states == 0:
        return FlashTiming(flash.origin, flash.size_bytes, 0, 4, False, None, None)
    line = flash.cache_line
    fill = flash.cache_fill_bytes or line

    def shape(size_bytes: int, ways: int) -> CacheShape | None:
        if size_bytes == 0:
            return None
        return CacheShape(size_bytes, line, ways or size_bytes // line, fill)

    return FlashTiming(
        origin=flash.origin,
        size_bytes=flash.size_bytes,
        wait_states=flash.wait_states,
        line_bytes=flash.line_bytes or 4,
        prefetch=flash.prefetch,
        instruction_cache=shape(flash.instruction_cache_bytes, flash.instruction_cache_ways),
        data_cache=shape(flash.data_cache_bytes, flash.data_cache_ways),
        unified=flash.cache_is_unified,
        cached_ram=_cached_ram(board),
    )


def _cached_ram(board: Board) -> tuple[int, int] | None:
    """The RAM that the core's own data cache serves: what is not tightly coupled."""
    memory = board.memory
    if (
        memory is None
        or not board.core.facts.has_level1_caches
        or not memory.flash.data_cache_bytes
    ):
        return None
    served = (region for region in memory.used if not region.is_tightly_coupled)
    return next(((region.origin, region.size_bytes) for region in served), None)


def instruction_offsets(code: bytes) -> tuple[int, ...]:
    """Offsets of the Thumb instructions in a block's code.

    Source: Armv7-M ARM (DDI 0403E) A5.1, encoding of 16- and 32-bit instructions.
    """
    offsets = []
    offset = 0
    while offset < len(code):
        offsets.append(offset)
        offset += 4 if code[offset + 1] >> 3 in (0b11101, 0b11110, 0b11111) else 2
    return tuple(offsets)


def count_instructions(_address: int, code: bytes) -> int:
    """The simplest pace: one cycle an instruction, the least that most of them take."""
    return len(instruction_offsets(code))


def line_shares(timing: FlashTiming, address: int, code: bytes, pace: BlockPace) -> LineShares:
    """Flash lines that one execution of a block fetches, with the cycles spent on each."""
    cycles = pace(address, code)
    start = address - timing.origin
    if not 0 <= start < timing.size_bytes:
        return ((NO_LINE, cycles),)
    offsets = instruction_offsets(code)
    first = start // timing.line_bytes
    last = (start + len(code) - 1) // timing.line_bytes
    shares = []
    done = spent = 0
    for line in range(first, last + 1):
        end = (line + 1) * timing.line_bytes - start
        while done < len(offsets) and offsets[done] < end:
            done += 1
        total = cycles * done // len(offsets)
        shares.append((line, total - spent))
        spent = total
    return tuple(shares)


class Cache:
    """Contents of a cache.

    Args:
        shape: its size and organisation.
    """

    def __init__(self, shape: CacheShape) -> None:
        self._shape = shape
        # A set maps line numbers to masks of valid parts, the least recently used line first.
        self._sets: list[dict[int, int]] = [{} for _ in range(shape.sets)]

    def _find(self, offset: int) -> tuple[dict[int, int], int, int]:
        line, rest = divmod(offset, self._shape.line_bytes)
        return self._sets[line % self._shape.sets], line, 1 << rest // self._shape.fill_bytes

    def holds(self, offset: int) -> bool:
        """Whether a read at this offset in flash would hit."""
        lines, line, part = self._find(offset)
        return bool(lines.get(line, 0) & part)

    def access(self, offset: int) -> bool:
        """Read at this offset in flash, filling on a miss; whether it hit."""
        lines, line, part = self._find(offset)
        valid = lines.pop(line, 0)
        if not valid and len(lines) == self._shape.ways:
            del lines[next(iter(lines))]
        lines[line] = valid | part
        return bool(valid & part)


class MemorySimulator:
    """Replays fetches and reads of one run; empty caches and time 0 at first.

    firmware/host/trace_hook.c does the same in C.

    Args:
        timing: the flash; with wait states.
    """

    def __init__(self, timing: FlashTiming) -> None:
        self._timing = timing
        shape = timing.instruction_cache
        self._instructions = Cache(shape) if shape else None
        shape = timing.data_cache
        own = None if shape is None or timing.unified else Cache(shape)
        self._data = self._instructions if timing.unified else own
        self._ram_base = ram_base(timing)
        self._now = 0
        self._current = NO_LINE
        self._prefetched = NO_LINE
        self._ready = 0
        self._busy = 0

    def fetch(self, shares: LineShares) -> int:
        """Run a block; the cycles that its fetches waited."""
        waited = 0
        for line, cycles in shares:
            if line not in (NO_LINE, self._current):
                stall = self._take_up(line)
                self._now += stall
                waited += stall
                self._prefetch(line + 1)
            self._now += cycles
        return waited

    def _take_up(self, line: int) -> int:
        """Make a line the current one; the cycles waited for it."""
        self._current = line
        cache, offset = self._instructions, line * self._timing.line_bytes
        if cache is not None and cache.holds(offset):
            cache.access(offset)
            return 0
        if line == self._prefetched:
            waited = max(0, self._ready - self._now)
        else:
            waited = self._read_flash(self._timing.instruction_cache)
        if cache is not None and (waited or self._timing.unified):
            cache.access(offset)
        return waited

    def _read_flash(self, cache: CacheShape | None) -> int:
        """The cycles waited for a read that begins when the flash has nothing else to do."""
        waited = max(0, self._busy - self._now) + miss_cycles(self._timing, cache)
        self._busy = self._now + waited
        return waited

    def _prefetch(self, line: int) -> None:
        timing = self._timing
        if not timing.prefetch or line == self._prefetched:
            return
        cache = self._instructions
        if cache is None or not cache.holds(line * timing.line_bytes):
            self._prefetched = line
            self._ready = max(self._now, self._busy) + timing.wait_states + 1
            self._busy = self._ready

    def read(self, offset: int, size_bytes: int) -> int:
        """Read data at this offset in flash; the cycles waited."""
        width = self._timing.line_bytes
        total = 0
        for line in range(offset // width, (offset + size_bytes - 1) // width + 1):
            if self._data is None or not self._data.access(line * width):
                waited = self._read_flash(self._timing.data_cache)
                self._now += waited
                total += waited
        return total

    def touch(self, offset: int, size_bytes: int) -> None:
        """Read or write at this offset in cached RAM: nothing waits, but lines are replaced."""
        width = self._timing.line_bytes
        start = self._ram_base + offset
        if self._data is not None:
            for line in range(start // width, (start + size_bytes - 1) // width + 1):
                self._data.access(line * width)


def ram_base(timing: FlashTiming) -> int:
    """Offset at which cached RAM follows the flash in the numbering of cache lines."""
    cache = timing.data_cache
    return -(-timing.size_bytes // cache.size_bytes) * cache.size_bytes if cache else 0


def miss_cycles(timing: FlashTiming, cache: CacheShape | None) -> int:
    """Cycles that a read waits which no cache or buffer serves."""
    reads = cache.fill_bytes // timing.line_bytes if cache else 1
    return reads * (timing.wait_states + 1) - 1
