"""Memories of a microcontroller board: flash, RAM regions and their use ([memory] of its file).

Sizes are bytes, addresses are absolute.
"""

from __future__ import annotations

import itertools
from typing import Annotated

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

STRICT = ConfigDict(extra="forbid", str_max_length=400)
"""Pydantic configuration of every table of a board file: unknown keys are errors."""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Text = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f*\\]+$")]
"""Texts of a board file end up in comments of generated files: one line, no end of a comment."""
ByteCount = Annotated[int, Field(gt=0, le=1 << 30)]
_RegionBytes = Annotated[int, Field(gt=0, le=1 << 30, multiple_of=8)]
_RegionAddress = Annotated[int, Field(ge=0, lt=1 << 32, multiple_of=8)]
"""Stack, arena and vector table are aligned to 8 bytes, so are the memories that they are in."""
_OptionalBytes = Annotated[int, Field(ge=0, le=1 << 20)]


@dataclass(frozen=True, slots=True, config=STRICT)
class Region:
    """A block of RAM.

    Attributes:
        name: its name in the reference manual, in lower case.
        origin: first address.
        size_bytes: size.
    """

    name: Name
    origin: _RegionAddress
    size_bytes: _RegionBytes

    @property
    def end(self) -> int:
        """First address after the region."""
        return self.origin + self.size_bytes

    @property
    def is_tightly_coupled(self) -> bool:
        """The core reaches it without a cache and without waiting, as its name says ("dtcm")."""
        return "tcm" in self.name


@dataclass(frozen=True, slots=True, config=STRICT)
class Flash:
    """Flash, which holds code and weights, with the cost of reads.

    Attributes:
        origin: first address.
        size_bytes: size.
        boot_bytes: bytes at the start that are not ours (a second-stage boot loader).
        wait_states: extra cycles of a read at the nominal clock, before any cache.
        line_bytes: width of one read; 0 where the document does not tell.
        prefetch: the port enables a prefetch buffer.
        instruction_cache_bytes: size of the cache in front of the flash or core; 0: none.
        data_cache_bytes: the same for data (weights); 0: none.
        cache_is_unified: the two caches are one, whose size both keys state.
        cache_line_bytes: bytes of a cache line; 0: `line_bytes`.
        cache_fill_bytes: bytes that a miss reads; 0: a whole cache line.
        instruction_cache_ways: lines of a set; 0: fully associative.
        data_cache_ways: the same for the data cache.
    """

    origin: _RegionAddress
    size_bytes: _RegionBytes
    boot_bytes: _OptionalBytes = 0
    wait_states: Annotated[int, Field(ge=0, le=1024)] = 0
    line_bytes: Annotated[int, Field(ge=0, le=128)] = 0
    prefetch: bool = False
    instruction_cache_bytes: _OptionalBytes = 0
    data_cache_bytes: _OptionalBytes = 0
    cache_is_unified: bool = False
    cache_line_bytes: Annotated[int, Field(ge=0, le=256)] = 0
    cache_fill_bytes: Annotated[int, Field(ge=0, le=256)] = 0
    instruction_cache_ways: Annotated[int, Field(ge=0, le=64)] = 0
    data_cache_ways: Annotated[int, Field(ge=0, le=64)] = 0

    @model_validator(mode="after")
    def _check(self) -> Flash:
        read = self.line_bytes
        line = self.cache_line
        fill = self.cache_fill_bytes or line
        if any(size & (size - 1) for size in (read, line, fill)):
            raise ValueError("line_bytes, cache_line_bytes, cache_fill_bytes are powers of two")
        for key, size, ways in (
            ("instruction_cache_bytes", self.instruction_cache_bytes, self.instruction_cache_ways),
            ("data_cache_bytes", self.data_cache_bytes, self.data_cache_ways),
        ):
            if size == 0:
                continue
            if not 0 < read <= fill <= line:
                raise ValueError("a cache needs line_bytes <= cache_fill_bytes <= cache_line_bytes")
            if size % (line * max(ways, 1)):
                raise ValueError(f"{key} is not a whole number of sets")
        return self

    @property
    def cache_line(self) -> int:
        """Bytes of a line of the caches; 0 where the document does not tell."""
        return self.cache_line_bytes or self.line_bytes

    @property
    def end(self) -> int:
        """First address after the flash."""
        return self.origin + self.size_bytes


@dataclass(frozen=True, slots=True, config=STRICT)
class MemoryMap:
    """Flash and RAM regions, and their use.

    Attributes:
        flash: code and weights.
        ram: RAM regions in address order, not overlapping.
        data_in: name of the region of .data, .bss and the stack.
        arena_in: name of the region of the models' arena.
        stack_bytes: reserved at the top of `data_in`.
    """

    flash: Flash
    ram: Annotated[tuple[Region, ...], Field(min_length=1, max_length=8)]
    data_in: Name
    arena_in: Name
    stack_bytes: Annotated[int, Field(ge=512, le=1 << 20, multiple_of=8)] = 4096

    @model_validator(mode="after")
    def _check(self) -> MemoryMap:
        names = [region.name for region in self.ram]
        if len(set(names)) != len(names):
            raise ValueError("two RAM regions have one name")
        for key, name in (("data_in", self.data_in), ("arena_in", self.arena_in)):
            if name not in names:
                raise ValueError(f"{key} = {name!r} is none of the RAM regions {names}")
        _check_disjoint([("flash", self.flash.origin, self.flash.end), *_spans(self.ram)])
        if self.stack_bytes >= self.region(self.data_in).size_bytes:
            raise ValueError("stack_bytes does not fit into the region data_in")
        if self.flash.boot_bytes >= self.flash.size_bytes:
            raise ValueError("flash.boot_bytes does not fit into the flash")
        return self

    @property
    def used(self) -> tuple[Region, ...]:
        """The regions that firmware uses, tightly coupled ones first, then that of variables."""
        names = dict.fromkeys((self.data_in, self.arena_in))
        found = (self.region(name) for name in names)
        return tuple(sorted(found, key=lambda region: not region.is_tightly_coupled))

    def region(self, name: str) -> Region:
        """The RAM region called `name`.

        Raises:
            KeyError: there is none.
        """
        for region in self.ram:
            if region.name == name:
                return region
        raise KeyError(name)


def _spans(regions: tuple[Region, ...]) -> list[tuple[str, int, int]]:
    return [(region.name, region.origin, region.end) for region in regions]


def _check_disjoint(spans: list[tuple[str, int, int]]) -> None:
    ordered = sorted(spans, key=lambda span: span[1])
    for (name, _, end), (next_name, origin, _) in itertools.pairwise(ordered):
        if origin < end:
            raise ValueError(f"memories {name!r} and {next_name!r} overlap")
    if ordered[-1][2] > 1 << 32:
        raise ValueError(f"memory {ordered[-1][0]!r} ends after the 32-bit address space")
