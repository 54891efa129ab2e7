"""Parts of a kernel that a call runs: the count of each, and the bytes of code.

A family counts the parts from a specification alone (`KernelFamily.parts`).  What a run of a part
takes on a core is measured (`edgec.kernels.choice.prices`): nobody counts its instructions, and a
kernel that changes is measured again.

Number of times that a kernel reads its weights, and the cycles that a copy in RAM saves.

Cycles that kernels wait for constants in flash, estimated.

A table that fits the data cache is taken to be there; from one that does not, each place that
nothing foretells costs a read of a line of flash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from edgec.kernels.common.form_ends import Rescale16, TypedEnd
from edgec.kernels.common.layer_end import KernelForm
from edgec.target.memory_map import Flash

WORD_BYTES = 4
UNCACHED_BYTES = 1 << 30
"""The size of a table that is in no cache."""


def per_word(flash: Flash, table_bytes: int) -> float:
    """Cycles waited for a word of a table that is read from its start to its end."""
    if table_bytes <= flash.data_cache_bytes or not flash.line_bytes:
        return 0.0
    return flash.wait_states * min(1.0, WORD_BYTES / flash.line_bytes)


def per_row(flash: Flash, words: int, table_bytes: int) -> float:
    """Cycles waited for `words` words at a place of a table that nothing foretells."""
    if table_bytes <= flash.data_cache_bytes:
        return 0.0
    lines = max(1.0, words * WORD_BYTES / flash.line_bytes) if flash.line_bytes else 1.0
    return flash.wait_states * lines


def for_weights(weights: float, flash: Flash) -> float:
    """Cycles waited for int8 weights that are read in order and are in no cache.

    Args:
        weights: weights read in a call; one that is read again for other pixels counts again.
        flash: the flash of the board.
    """
    return weights * per_word(flash, UNCACHED_BYTES) / WORD_BYTES


COPY_CYCLES = 3
"""Cycles to copy a word, besides the wait for it: a load of two cycles and a store of one
(Cortex-M4 technical reference manual, table 3-1)."""

_CORE_CACHE_BYTES = 16 * 1024
"""A data cache from this size on is the core's, which holds RAM as well as flash: a copy in RAM is
no nearer to it (Cortex-M7; the smaller ones stand before the flash alone)."""


class WeightReads(NamedTuple):
    """The weights of a call.

    Attributes:
        size_bytes: size of the constant that the first argument struct names as `weights`.
        times: how often a call reads all of it.
        beside: sizes of the constants that are read with it, filter by filter, and stay in flash.
    """

    size_bytes: int
    times: int
    beside: tuple[int, ...] = ()

    def saved_cycles(self, flash: Flash) -> float:
        """Cycles saved by copying the weights to RAM first, by the waits for words in order."""
        if flash.data_cache_bytes >= _CORE_CACHE_BYTES:
            return 0.0
        line = flash.cache_line
        # Each constant may begin in the middle of a line of the cache.
        read = sum(size + line for size in (self.size_bytes, *self.beside))
        wait = per_word(flash, read)
        return self.size_bytes / WORD_BYTES * ((self.times - 1) * wait - COPY_CYCLES)


FULL_WIDTH = 8
_COPY_CYCLES = 4
"""Cycles of a word of a table that is copied from flash to scratch memory, without waiting."""


class Run(NamedTuple):
    """The conditions under which a kernel runs, beside its specification.

    Attributes:
        form: the instructions that it is made of.
        bits: width of activations, 1 to 8.
    """

    form: KernelForm
    bits: int = FULL_WIDTH


class TableReads(NamedTuple):
    """Reads of a table in flash.

    Attributes:
        places: how often a call reads from a place of the table.
        words: words that it reads there, one after the other.
        size_bytes: the table, which a cache may hold.
        foretold: the places follow each other, so nothing but the next word is waited for.
        copied: the words are stored in scratch memory.
    """

    places: float
    words: float
    size_bytes: int = UNCACHED_BYTES
    foretold: bool = False
    copied: bool = False

    def waits(self, flash: Flash) -> float:
        """Cycles waited for them, and taken by the copy."""
        if self.foretold:
            each = self.words * per_word(flash, self.size_bytes)
        else:
            each = per_row(flash, int(self.words), self.size_bytes)
        return self.places * (each + (_COPY_CYCLES * self.words if self.copied else 0.0))


NOTHING_READ = WeightReads(0, 0)


@dataclass(frozen=True, slots=True)
class Parts:
    """Counts of the parts that a call of a kernel runs.

    Attributes:
        counts: how often each part runs, by its name among the parts of the family.
        code_bytes: bytes of the code that runs, however often; 0: it is not waited for.
        weights: how often the call reads its weights.
        copies: the weights may be copied to RAM first (`KernelFamily.weight_reads`).
        load_bytes: bytes of weights that an instruction loads.
        table: reads of a table beside the weights.
        called: what runs in another family's functions, by the name of its table of prices.
    """

    counts: Mapping[str, float]
    code_bytes: int = 0
    weights: WeightReads = NOTHING_READ
    copies: bool = False
    load_bytes: int = 4
    table: TableReads | None = None
    called: tuple[str, Mapping[str, float]] | None = None


UNMEASURED = "an end, or a length, that nobody has measured"
"""A part without a price: a call with it is counted for what it reads alone."""


class Ended(Protocol):
    """A specification with an end."""

    @property
    def typed(self) -> TypedEnd | None:
        """Element types and end where some are int16; None: all are int8."""

    @property
    def rescale16(self) -> Rescale16 | None:
        """The end of a transformer's arithmetic; None: another one."""


def unmeasured(spec: Ended) -> dict[str, float]:
    """The part without a price, of a call with an end that nobody has measured."""
    known = spec.rescale16 is None and (spec.typed is None or spec.typed.is_measured)
    return {} if known else {UNMEASURED: 1}


def numbers_of(filters: int) -> tuple[int, int]:
    """Bytes of the biases and of the multipliers of 31 bits of a layer (`WeightReads.beside`)."""
    return 4 * filters, 4 * filters
