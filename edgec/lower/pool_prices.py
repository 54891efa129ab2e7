"""Prices of the units of `pool_cost` on each core, in cycles.

Fitted with benchmarks/pool_prices.py to what `edgec profile` counts for code and constants in
memory without wait states.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from edgec.board import Board
from edgec.cores import Core
from edgec.lower.pool_cost import Unit


def prices_of(board: Board) -> Mapping[Unit, float]:
    """Cycles of each unit on a board's core; the host plans as a Cortex-M4 does."""
    return _PRICES[board.core]


_M0PLUS: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 120,
        Unit.MULTIPLY: 40,
        Unit.PLANES: 60,
        Unit.PART_WORD: 3,
        Unit.PLANE_WORD: 9,
        Unit.LUT_WORD: 40,
        Unit.ENTRY: 15,
        Unit.GATHER_8: 34,
        Unit.GATHER_4: 20,
        Unit.RUN_8: 60,
        Unit.RUN_4: 40,
        Unit.SUM: 6,
        Unit.LANE: 30,
        Unit.WORD: 28,
        Unit.EXPAND: 6,
        Unit.PATCH: 8,
        Unit.MAC: 6,
        Unit.DSP_MAC: 6,
        Unit.WIDEN: 8,
        Unit.OUTPUT: 30,
        Unit.DIRECT_PLANES: 80,
        Unit.DIRECT_VECTOR: 6.0,
        Unit.DIRECT: 8.0,
        Unit.DIRECT_PART: 3.0,
    }
)
_M3: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 100,
        Unit.MULTIPLY: 25,
        Unit.PLANES: 45,
        Unit.PART_WORD: 2,
        Unit.PLANE_WORD: 6,
        Unit.LUT_WORD: 25,
        Unit.ENTRY: 10,
        Unit.GATHER_8: 22,
        Unit.GATHER_4: 14,
        Unit.RUN_8: 40,
        Unit.RUN_4: 25,
        Unit.SUM: 5,
        Unit.LANE: 16,
        Unit.WORD: 14,
        Unit.EXPAND: 4,
        Unit.PATCH: 6,
        Unit.MAC: 3.5,
        Unit.DSP_MAC: 3.5,
        Unit.WIDEN: 5,
        Unit.OUTPUT: 16,
        Unit.DIRECT_PLANES: 60,
        Unit.DIRECT_VECTOR: 6.0,
        Unit.DIRECT: 8.0,
        Unit.DIRECT_PART: 3.0,
    }
)
_M4: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 90,
        Unit.MULTIPLY: 14,
        Unit.PLANES: 45,
        Unit.PART_WORD: 2,
        Unit.PLANE_WORD: 6,
        Unit.LUT_WORD: 25,
        Unit.ENTRY: 10,
        Unit.GATHER_8: 22,
        Unit.GATHER_4: 14,
        Unit.RUN_8: 40,
        Unit.RUN_4: 25,
        Unit.SUM: 5,
        Unit.LANE: 13,
        Unit.WORD: 12,
        Unit.EXPAND: 4,
        Unit.PATCH: 6,
        Unit.MAC: 2.0,
        Unit.DSP_MAC: 1.2,
        Unit.WIDEN: 5,
        Unit.OUTPUT: 13,
        Unit.DIRECT_PLANES: 60,
        Unit.DIRECT_VECTOR: 6.0,
        Unit.DIRECT: 8.0,
        Unit.DIRECT_PART: 3.0,
    }
)
_M7: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 50,
        Unit.MULTIPLY: 8,
        Unit.PLANES: 25,
        Unit.PART_WORD: 1,
        Unit.PLANE_WORD: 3,
        Unit.LUT_WORD: 13,
        Unit.ENTRY: 6,
        Unit.GATHER_8: 12,
        Unit.GATHER_4: 8,
        Unit.RUN_8: 22,
        Unit.RUN_4: 14,
        Unit.SUM: 3,
        Unit.LANE: 8,
        Unit.WORD: 8,
        Unit.EXPAND: 2,
        Unit.PATCH: 3,
        Unit.MAC: 1.2,
        Unit.DSP_MAC: 0.7,
        Unit.WIDEN: 3,
        Unit.OUTPUT: 8,
        Unit.DIRECT_PLANES: 35,
        Unit.DIRECT_VECTOR: 6.0,
        Unit.DIRECT: 8.0,
        Unit.DIRECT_PART: 3.0,
    }
)
_M33: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 90,
        Unit.MULTIPLY: 14,
        Unit.PLANES: 45,
        Unit.PART_WORD: 2,
        Unit.PLANE_WORD: 6,
        Unit.LUT_WORD: 25,
        Unit.ENTRY: 10,
        Unit.GATHER_8: 22,
        Unit.GATHER_4: 14,
        Unit.RUN_8: 40,
        Unit.RUN_4: 25,
        Unit.SUM: 5,
        Unit.LANE: 13,
        Unit.WORD: 12,
        Unit.EXPAND: 4,
        Unit.PATCH: 6,
        Unit.MAC: 2.0,
        Unit.DSP_MAC: 1.2,
        Unit.WIDEN: 5,
        Unit.OUTPUT: 13,
        Unit.DIRECT_PLANES: 60,
        Unit.DIRECT_VECTOR: 6.0,
        Unit.DIRECT: 8.0,
        Unit.DIRECT_PART: 3.0,
    }
)
_PRICES: Mapping[Core, Mapping[Unit, float]] = MappingProxyType(
    {
        Core.CORTEX_M0: _M0PLUS,
        Core.CORTEX_M0PLUS: _M0PLUS,
        Core.CORTEX_M3: _M3,
        Core.CORTEX_M4: _M4,
        Core.CORTEX_M7: _M7,
        Core.CORTEX_M33: _M33,
        Core.HOST: _M4,
    }
)
