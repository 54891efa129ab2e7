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
        Unit.PIXEL: 84.43,
        Unit.MULTIPLY: 52.29,
        Unit.PLANES: 40.0,
        Unit.BITSERIAL_WORD: 7.0,
        Unit.NIBBLE_WORD: 18.0,
        Unit.LUT_WORD: 25.0,
        Unit.ENTRY: 21.68,
        Unit.GATHER_8: 26.16,
        Unit.GATHER_4: 10.08,
        Unit.RUN_8: 38.81,
        Unit.RUN_4: 24.31,
        Unit.SUM: 4.58,
        Unit.LANE: 13.05,
        Unit.WORD: 16.42,
        Unit.EXPAND: 6.08,
        Unit.PATCH: 2.91,
        Unit.MAC: 5.99,
        Unit.DSP_MAC: 3.5,
        Unit.WIDEN: 5.0,
        Unit.OUTPUT: 10.84,
        Unit.DIRECT_PLANES: 0.56,
        Unit.DIRECT_VECTOR: 11.81,
        Unit.DIRECT: 2.07,
        Unit.DIRECT_PART: 5.42,
    }
)
_M4: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 104.22,
        Unit.MULTIPLY: 19.54,
        Unit.PLANES: 40.0,
        Unit.BITSERIAL_WORD: 7.0,
        Unit.NIBBLE_WORD: 18.0,
        Unit.LUT_WORD: 25.0,
        Unit.ENTRY: 22.48,
        Unit.GATHER_8: 25.03,
        Unit.GATHER_4: 11.66,
        Unit.RUN_8: 28.64,
        Unit.RUN_4: 24.59,
        Unit.SUM: 2.11,
        Unit.LANE: 15.09,
        Unit.WORD: 19.2,
        Unit.EXPAND: 0.51,
        Unit.PATCH: 4.58,
        Unit.MAC: 4.11,
        Unit.DSP_MAC: 1.27,
        Unit.WIDEN: 5.14,
        Unit.OUTPUT: 22.35,
        Unit.DIRECT_PLANES: 0.0,
        Unit.DIRECT_VECTOR: 10.24,
        Unit.DIRECT: 0.0,
        Unit.DIRECT_PART: 5.34,
    }
)
_M7: Mapping[Unit, float] = MappingProxyType(
    {
        Unit.PIXEL: 47.3,
        Unit.MULTIPLY: 14.63,
        Unit.PLANES: 40.0,
        Unit.BITSERIAL_WORD: 7.0,
        Unit.NIBBLE_WORD: 18.0,
        Unit.LUT_WORD: 25.0,
        Unit.ENTRY: 15.4,
        Unit.GATHER_8: 13.65,
        Unit.GATHER_4: 7.03,
        Unit.RUN_8: 17.48,
        Unit.RUN_4: 13.84,
        Unit.SUM: 2.72,
        Unit.LANE: 12.81,
        Unit.WORD: 2.62,
        Unit.EXPAND: 0.55,
        Unit.PATCH: 1.71,
        Unit.MAC: 2.53,
        Unit.DSP_MAC: 0.87,
        Unit.WIDEN: 1.99,
        Unit.OUTPUT: 17.36,
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
