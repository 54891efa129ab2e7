"""What an event of a kernel with a weight pool takes: how many of the operations that have a price.

Assembly (`edgec/pool_gather.h`, `pool_products.h`, `pool_rows.h`, `tile_4x2.h`) is counted
instruction by instruction.  Of C, the instructions are counted that GCC makes of it, rounded: those
of Armv7-M where nothing else is said.  An instruction that loads counts for about two there, so
that the price of a compiled instruction is near one cycle on a core that does one thing at a time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.kernels.common.events import Event
from edgec.kernels.common.form import KernelForm


@dataclass(frozen=True, slots=True)
class Operations:
    """Numbers of operations, or a price for each of them.

    Attributes:
        load: a word or an entry of a list loaded by assembly.
        step: another instruction of assembly.
        product: a multiply-accumulate instruction.
        turn: a branch of assembly that is taken.
        compiled: an instruction of compiled C.
        mac: a multiply-accumulate of the layer, in a loop in C for one pixel at a time.
        tile_mac: the same in the loops of the dense kernels for several rows and filters.
        output: a sum requantized and stored.
    """

    load: float = 0
    step: float = 0
    product: float = 0
    turn: float = 0
    compiled: float = 0
    mac: float = 0
    tile_mac: float = 0
    output: float = 0

    def priced(self, prices: Operations) -> float:
        """What these cost."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(prices), strict=True)
        return float(sum(number * price for number, price in pairs))


_O = Operations
_COMPILED: Mapping[Event, Operations] = MappingProxyType(
    {
        Event.PACK: _O(compiled=6),
        Event.PLAIN_WEIGHT: _O(compiled=3.7, product=1),
        Event.PLAIN_VECTOR: _O(compiled=6),
        Event.PLAIN_SHIFT: _O(compiled=10),
        Event.PLANES: _O(compiled=20),
        Event.ROW: _O(compiled=3),
        Event.PLANE_WORD: _O(compiled=6.5),
        Event.PART_WORD: _O(compiled=3.5),
        Event.RELOAD: _O(compiled=3.2),
        Event.LANE_WORD: _O(compiled=6.5),
        Event.TABLE_WORD: _O(compiled=1.7),
        Event.FREE_WORD: _O(compiled=8),
        Event.ZERO_WORD: _O(compiled=6, product=2),
        Event.CODES: _O(compiled=9),
        Event.PIXEL: _O(compiled=16),
        Event.ENTRY: _O(compiled=6),
        Event.PLACE: _O(compiled=7.5),
        Event.START: _O(compiled=6),
        Event.OUTPUT_ROW: _O(compiled=12),
        Event.OUTPUT_TURN: _O(compiled=6),
        Event.OUTPUT: _O(output=1),
        Event.RESIDUAL: _O(compiled=13),
        Event.LANE_RESIDUAL: _O(compiled=8),
        Event.EXPAND: _O(compiled=17),
        Event.COPY: _O(compiled=50),
        Event.COPY_BYTE: _O(compiled=1.1),
        Event.ROUND_WORD: _O(compiled=8),
        Event.MAC: _O(mac=1),
        Event.FILTERS_4: _O(compiled=11),
        Event.TILE_MAC: _O(tile_mac=1),
        Event.TILE: _O(load=36, compiled=29),
        Event.WIDEN: _O(compiled=8),
        Event.WIDEN_ROUND: _O(compiled=9.5),
        Event.NEON_MAC: _O(tile_mac=1),
        Event.NEON_TILE: _O(compiled=40),
        Event.NEON_PACK: _O(compiled=8),
        Event.DIRECT_VECTOR: _O(compiled=25),
        Event.DIRECT_FILTER: _O(compiled=10),
        Event.DIRECT_PART: _O(compiled=3.5),
        Event.DIRECT_RELOAD: _O(compiled=2.5),
        Event.DIRECT_LOOP: _O(compiled=1),
    }
)
_THUMB2: Mapping[Event, Operations] = MappingProxyType(
    {
        Event.BUILD: _O(load=25, compiled=22),
        Event.PRODUCT_TURN: _O(load=1, step=1, turn=1),
        Event.BLOCK: _O(load=6, step=17),
        Event.PAIR_BLOCK: _O(load=24, step=50, turn=1),
        Event.LONE_BLOCK: _O(load=8, step=41, turn=1),
        Event.SUM_BLOCK: _O(load=14, step=3, turn=1),
        Event.SHIFT: _O(step=1),
        Event.FAR_STORE: _O(step=1),
        Event.TILE_4X2_MAC: _O(load=10 / 32, step=2 / 32, product=16 / 32),
        Event.TILE_4X2_MAC_DUAL: _O(load=4 / 32, step=2 / 32, product=16 / 32),
        Event.TILE_4X2_TURN: _O(load=1, step=1, turn=1),
        Event.TILE_4X2: _O(load=18, step=18, turn=1),
        Event.TILE_4X2_OUTPUTS: _O(load=11, step=34),
        Event.TILE_4X2_WIDEN: _O(compiled=11),
    }
)
_GATHER: Mapping[Event, Operations] = MappingProxyType(
    {
        Event.LOOK_UP_8: _O(load=9, step=9),
        Event.LOOK_UP_4: _O(load=5, step=5),
        Event.ROUND: _O(step=2, turn=1),
        Event.BASE: _O(load=3, step=3, turn=1),
        Event.FILTER_8: _O(load=21, step=5, turn=1),
        Event.FILTER_4: _O(load=13, step=5, turn=1),
        Event.GATHER: _O(load=24, step=4, turn=2, compiled=30),
    }
)
_ARMV7M: Mapping[Event, Operations] = MappingProxyType(
    {
        Event.PAIR_VECTOR: _O(load=8, product=7.5, step=3),
        Event.LONE_VECTOR: _O(load=10, product=7.5, step=11),
    }
)
_DSP: Mapping[Event, Operations] = MappingProxyType(
    {
        Event.PAIR_VECTOR: _O(load=4.5, product=8, step=3),
        Event.LONE_VECTOR: _O(load=6.5, product=8, step=7),
        Event.PACKED_VECTOR: _O(load=5.5, product=8, step=6),
    }
)
# Bytes are loaded one by one, few registers hold values, and a product of 64 bits and a copy of a
# vector are calls.
_ARMV6M: Mapping[Event, Operations] = MappingProxyType(
    {
        Event.LOOK_UP_8: _O(load=9, step=9),
        Event.LOOK_UP_4: _O(load=5, step=5),
        Event.ROUND: _O(step=3, turn=1),
        Event.BASE: _O(load=4, step=2, turn=1),
        Event.FILTER_8: _O(load=16, step=26, turn=1),
        Event.FILTER_4: _O(load=8, step=22, turn=1),
        Event.GATHER: _O(load=24, step=14, turn=2, compiled=30),
        Event.BUILD: _O(compiled=60),
        Event.PIXEL: _O(compiled=60),
        Event.CODES: _O(compiled=40),
        Event.ROW: _O(compiled=4.3),
        Event.PLAIN_WEIGHT: _O(compiled=5.3, product=1),
        Event.PLAIN_VECTOR: _O(),
        Event.PLAIN_SHIFT: _O(compiled=8.3),
        Event.PLANE_WORD: _O(compiled=11),
        Event.PART_WORD: _O(compiled=2.5),
        Event.RELOAD: _O(compiled=2.4),
        Event.TABLE_WORD: _O(compiled=3.7),
        Event.FREE_WORD: _O(compiled=40),
        Event.PLACE: _O(compiled=10),
        Event.OUTPUT_TURN: _O(compiled=10),
        Event.RESIDUAL: _O(compiled=14),
        Event.LANE_RESIDUAL: _O(compiled=14),
        Event.EXPAND: _O(compiled=95),
        Event.ROUND_WORD: _O(compiled=17),
        Event.WIDEN: _O(compiled=20),
        Event.DIRECT_VECTOR: _O(compiled=60),
        Event.DIRECT_FILTER: _O(compiled=8),
        Event.DIRECT_PART: _O(compiled=4),
        Event.DIRECT_RELOAD: _O(compiled=1.5),
        Event.DIRECT_LOOP: _O(compiled=3.5),
    }
)
# Sums of rows are C; instructions are counted, so that one that loads counts for one.
_ARMV7A: Mapping[Event, Operations] = MappingProxyType(
    {
        Event.LOOK_UP_8: _O(compiled=9),
        Event.LOOK_UP_4: _O(compiled=7),
        Event.ROUND: _O(),
        Event.BASE: _O(),
        Event.FILTER_8: _O(compiled=22),
        Event.FILTER_4: _O(compiled=12),
        Event.GATHER: _O(compiled=40),
        Event.PAIR_VECTOR: _O(load=2, product=8, step=3),
        Event.LONE_VECTOR: _O(load=3, product=8, step=7),
        Event.PACKED_VECTOR: _O(load=2, product=8, step=6),
        Event.BLOCK: _O(load=2, step=17),
        Event.PAIR_BLOCK: _O(load=7, step=50, turn=1),
        Event.BUILD: _O(compiled=20),
        Event.PLAIN_WEIGHT: _O(compiled=0.7, product=1),
        Event.PLAIN_SHIFT: _O(compiled=2),
        Event.LANE_WORD: _O(compiled=5),
        Event.PART_WORD: _O(compiled=2.2),
        Event.RELOAD: _O(compiled=1.5),
        Event.ENTRY: _O(compiled=4),
        Event.TILE_MAC: _O(step=0.9),
        Event.TILE: _O(compiled=40),
        Event.WIDEN: _O(compiled=6),
        Event.WIDEN_ROUND: _O(compiled=7),
        Event.NEON_TILE: _O(compiled=60),
        Event.FILTERS_4: _O(compiled=40),
        Event.COPY_BYTE: _O(compiled=0.3),
        Event.DIRECT_VECTOR: _O(compiled=30),
        Event.DIRECT_FILTER: _O(compiled=4.7),
        Event.DIRECT_PART: _O(compiled=3),
        Event.DIRECT_RELOAD: _O(compiled=1.1),
        Event.DIRECT_LOOP: _O(compiled=3),
    }
)
# All is C, of which GCC turns some loops into vector instructions and others not.
_A64: Mapping[Event, Operations] = MappingProxyType(
    {
        Event.LOOK_UP_8: _O(compiled=8),
        Event.LOOK_UP_4: _O(compiled=5),
        Event.ROUND: _O(),
        Event.BASE: _O(),
        Event.FILTER_8: _O(compiled=6),
        Event.FILTER_4: _O(compiled=5),
        Event.GATHER: _O(compiled=40),
        Event.BUILD: _O(compiled=60),
        Event.PIXEL: _O(compiled=40),
        Event.PLAIN_WEIGHT: _O(compiled=1),
        Event.PLAIN_VECTOR: _O(),
        Event.PLAIN_SHIFT: _O(compiled=6),
        Event.PLANE_WORD: _O(compiled=2.5),
        Event.PART_WORD: _O(compiled=1),
        Event.RELOAD: _O(),
        Event.LANE_WORD: _O(compiled=4.5),
        Event.TABLE_WORD: _O(compiled=0.5),
        Event.FREE_WORD: _O(compiled=40),
        Event.FILTERS_4: _O(compiled=50),
        Event.COPY_BYTE: _O(compiled=0.1),
        Event.NEON_TILE: _O(compiled=35),
        Event.NEON_PACK: _O(compiled=7),
        Event.ROUND_WORD: _O(compiled=4),
        Event.DIRECT_VECTOR: _O(compiled=60),
        Event.DIRECT_FILTER: _O(compiled=4.3),
        Event.DIRECT_PART: _O(compiled=2.5),
        Event.DIRECT_RELOAD: _O(compiled=0.6),
        Event.DIRECT_LOOP: _O(compiled=1),
    }
)
_TABLES: Mapping[KernelForm, tuple[Mapping[Event, Operations], ...]] = MappingProxyType(
    {
        KernelForm.ARMV6M: (_COMPILED, _ARMV6M),
        KernelForm.ARMV7M: (_COMPILED, _THUMB2, _GATHER, _ARMV7M),
        KernelForm.ARMV7EM: (_COMPILED, _THUMB2, _GATHER, _DSP),
        KernelForm.ARMV7A: (_COMPILED, _THUMB2, _ARMV7A),
        KernelForm.A64: (_COMPILED, _A64),
    }
)


def operations_of(form: KernelForm) -> dict[Event, Operations]:
    """What each event takes in a form of the kernels; events that it does not have are missing."""
    found: dict[Event, Operations] = {}
    for table in _TABLES[form]:
        found.update(table)
    return found
