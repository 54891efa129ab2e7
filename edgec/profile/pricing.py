"""Prices of a trace: every distinct block decoded and priced once, then multiplied.

Beside it stands the least that a core's own instructions allow for a multiply-accumulate.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass, field

from edgec.profile.types import Counts, Floor
from edgec.sim.emulator_image import FirmwareImage
from edgec.target.board import Board
from edgec.timing.core_model import CoreModel
from edgec.timing.decode import Branch, Instruction, decode_block
from edgec.timing.decode_kinds import LOADS, STORES
from edgec.timing.types import NO_BLOCK, Edge, Segment

_WIDE_PREFIXES = (0b11101, 0b11110, 0b11111)
"""Top five bits of a 32-bit Thumb instruction.  Source: Arm DDI 0403E, A5.1."""


@dataclass(frozen=True, slots=True)
class PricedSegment:
    """Cost of a part of a run.

    Attributes:
        total: everything in it.
        functions: the cost of each C function by its name, in order of address.
    """

    total: Counts
    functions: Mapping[str, Counts]


@dataclass(frozen=True, slots=True)
class _Block:
    """A block's instructions and what one execution counts."""

    instructions: tuple[Instruction, ...]
    loads: int
    stores: int
    branches: int


@dataclass(slots=True)
class _Sums:
    """Counts of one function while they are added up."""

    instructions: int = 0
    loads: int = 0
    stores: int = 0
    branches: int = 0
    ideal_cycles: int = 0
    fetch_stalls: int = 0
    data_stalls: int = 0

    def counts(self) -> Counts:
        return Counts(
            cycles=self.ideal_cycles + self.fetch_stalls + self.data_stalls,
            ideal_cycles=self.ideal_cycles,
            instructions=self.instructions,
            loads=self.loads,
            stores=self.stores,
            branches=self.branches,
            fetch_stalls=self.fetch_stalls,
            data_stalls=self.data_stalls,
        )


@dataclass(slots=True)
class Pricer:
    """Prices blocks of one firmware by one core model; remembers what it decoded.

    Attributes:
        image: the firmware.
        model: cycle model of the core.
    """

    image: FirmwareImage
    model: CoreModel
    _blocks: dict[tuple[int, int], _Block] = field(default_factory=dict)
    _costs: dict[Edge, int] = field(default_factory=dict)
    _firsts: dict[int, Instruction] = field(default_factory=dict)

    def pace(self, address: int, code: bytes) -> int:
        """Cycles of a block that is not left by a branch; see `edgec.timing.memory.BlockPace`."""
        return self.model.cost(self._block(address, len(code)).instructions, False)

    def price(self, segment: Segment) -> PricedSegment:
        """Cost of a segment's executions, by function.

        Raises:
            SimulationError: code that is not in the firmware's file, or not decodable.
        """
        sums: dict[str, _Sums] = {}
        # In order of address, so that sums and their order never depend on the trace's.
        for edge in sorted(segment.edges, key=lambda e: (e.start, e.size_bytes, e.next_start)):
            self._add_edge(sums, edge, segment.edges[edge])
        for address, stalls in sorted(segment.fetch_stalls.items()):
            self._sums(sums, address).fetch_stalls += stalls
        for address, stalls in sorted(segment.data_stalls.items()):
            self._sums(sums, address).data_stalls += stalls
        for address, histogram in sorted(segment.divides.items()):
            cycles = sum(n * self.model.divide_cycles(bits) for bits, n in histogram.items())
            self._sums(sums, address).ideal_cycles += cycles
        functions = {name: found.counts() for name, found in sums.items()}
        return PricedSegment(sum(functions.values(), Counts()), functions)

    def _add_edge(self, sums: dict[str, _Sums], edge: Edge, executions: int) -> None:
        block = self._block(edge.start, edge.size_bytes)
        found = self._sums(sums, edge.start)
        found.instructions += executions * len(block.instructions)
        found.loads += executions * block.loads
        found.stores += executions * block.stores
        found.branches += executions * block.branches
        found.ideal_cycles += executions * self._cost(edge, block)

    def _cost(self, edge: Edge, block: _Block) -> int:
        if edge not in self._costs:
            known = not edge.falls_through and edge.next_start != NO_BLOCK
            target = self._first(edge.next_start) if known else None
            taken = not edge.falls_through
            self._costs[edge] = self.model.cost(block.instructions, taken, target)
        return self._costs[edge]

    def _first(self, address: int) -> Instruction:
        """The first instruction of a block whose size need not be known."""
        if address not in self._firsts:
            half = self.image.read(address, 2)
            size_bytes = 4 if half[1] >> 3 in _WIDE_PREFIXES else 2
            code = self.image.read(address, size_bytes)
            (self._firsts[address],) = decode_block(code, address)
        return self._firsts[address]

    def _block(self, address: int, size_bytes: int) -> _Block:
        key = (address, size_bytes)
        if key not in self._blocks:
            instructions = decode_block(self.image.read(address, size_bytes), address)
            self._blocks[key] = _Block(
                instructions,
                loads=sum(each.kind in LOADS for each in instructions),
                stores=sum(each.kind in STORES for each in instructions),
                branches=sum(each.branch is not Branch.NONE for each in instructions),
            )
        return self._blocks[key]

    def _sums(self, sums: dict[str, _Sums], address: int) -> _Sums:
        return sums.setdefault(self._function(address), _Sums())

    def _function(self, address: int) -> str:
        index = bisect.bisect_right(self.image.function_starts, address) - 1
        return self.image.function_names[index] if index >= 0 else f"{address:#010x}"


_TWO_A_CYCLE = "one SMLAD a cycle does two multiply-accumulates"
_MUL_AND_ADD = "MULS and ADDS, one cycle each (single-cycle multiplier)"


def floor_of(board: Board) -> Floor:
    """The floor of int8 kernels that multiply: arithmetic alone, and loads alone.

    A layer cannot be faster than either; widening bytes, addresses and loops come on top.  Kernels
    that replace multiplications (weight pools) can be faster than the arithmetic floor.

    Source: `edgec.target.cores`, which names the Technical Reference Manual of each core.
    """
    core = board.core.facts
    wide, cycles = core.bus_bytes, float(core.multiply_add_cycles)
    if board.dsp:
        cycles, reason = 0.5, _TWO_A_CYCLE
    elif not core.instruction_set.has_wide_thumb:
        reason = _MUL_AND_ADD
    else:
        reason = "one MLA a cycle" if cycles == 1 else f"MLA takes {cycles:g} cycles"
    return Floor(cycles, wide, f"{reason}; loads bring at most {wide} bytes a cycle")
