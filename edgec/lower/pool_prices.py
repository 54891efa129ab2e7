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
        Unit.PLANES: 40.0,
        Unit.BITSERIAL_WORD: 7.0,
        Unit.NIBBLE_WORD: 18.0,
        Unit.LUT_WORD: 25.0,
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
        Unit.PIXEL: 74.63,
        Unit.MULTIPLY: 55.25,
        Unit.PLANES: 35.76,
        Unit.BITSERIAL_WORD: 6.61,
        Unit.NIBBLE_WORD: 24.46,
        Unit.LUT_WORD: 32.53,
        Unit.ENTRY: 17.36,
        Unit.GATHER_8: 22.51,
        Unit.GATHER_4: 9.88,
        Unit.RUN_8: 41.18,
        Unit.RUN_4: 24.25,
        Unit.SUM: 4.61,
        Unit.LANE: 11.49,
        Unit.WORD: 20.52,
        Unit.EXPAND: 9.69,
        Unit.PATCH: 2.6,
        Unit.MAC: 6.01,
        Unit.DSP_MAC: 3.5,
        Unit.WIDEN: 5.0,
        Unit.OUTPUT: 9.05,
        Unit.DIRECT_PLANES: 0.55,
        Unit.DIRECT_VECTOR: 11.91,
        Unit.DIRECT: 2.02,
        Unit.DIRECT_PART: 5.45,
    }
)
_M4: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 103.37,
        Unit.MULTIPLY: 21.34,
        Unit.PLANES: 14.4,
        Unit.BITSERIAL_WORD: 6.5,
        Unit.NIBBLE_WORD: 23.36,
        Unit.LUT_WORD: 27.61,
        Unit.ENTRY: 18.69,
        Unit.GATHER_8: 22.98,
        Unit.GATHER_4: 12.05,
        Unit.RUN_8: 26.99,
        Unit.RUN_4: 24.69,
        Unit.SUM: 1.99,
        Unit.LANE: 14.34,
        Unit.WORD: 24.0,
        Unit.EXPAND: 0.45,
        Unit.PATCH: 4.58,
        Unit.MAC: 4.11,
        Unit.DSP_MAC: 1.27,
        Unit.WIDEN: 5.15,
        Unit.OUTPUT: 22.44,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 10.24,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 5.34,
    }
)
_M7: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 47.2,
        Unit.MULTIPLY: 15.72,
        Unit.PLANES: 22.59,
        Unit.BITSERIAL_WORD: 4.95,
        Unit.NIBBLE_WORD: 15.64,
        Unit.LUT_WORD: 12.57,
        Unit.ENTRY: 13.19,
        Unit.GATHER_8: 12.29,
        Unit.GATHER_4: 7.22,
        Unit.RUN_8: 18.32,
        Unit.RUN_4: 13.88,
        Unit.SUM: 2.92,
        Unit.LANE: 12.07,
        Unit.WORD: 2.6,
        Unit.EXPAND: 0.44,
        Unit.PATCH: 1.71,
        Unit.MAC: 2.53,
        Unit.DSP_MAC: 0.87,
        Unit.WIDEN: 1.96,
        Unit.OUTPUT: 17.48,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 7.45,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 3.49,
    }
)
_M33: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 98.8,
        Unit.MULTIPLY: 17.76,
        Unit.PLANES: 40.0,
        Unit.BITSERIAL_WORD: 7.0,
        Unit.NIBBLE_WORD: 18.0,
        Unit.LUT_WORD: 25.0,
        Unit.ENTRY: 21.32,
        Unit.GATHER_8: 21.81,
        Unit.GATHER_4: 9.87,
        Unit.RUN_8: 23.67,
        Unit.RUN_4: 24.27,
        Unit.SUM: 2.1,
        Unit.LANE: 19.66,
        Unit.WORD: 13.45,
        Unit.EXPAND: 0.0,
        Unit.PATCH: 3.72,
        Unit.MAC: 3.72,
        Unit.DSP_MAC: 1.28,
        Unit.WIDEN: 3.52,
        Unit.OUTPUT: 22.11,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 7.97,
        Unit.DIRECT: 1.19,
        Unit.DIRECT_PART: 3.88,
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
